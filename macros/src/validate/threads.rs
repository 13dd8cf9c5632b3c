//! What can leave its call.
//!
//! Under `isolate` the body goes to a thread that nobody can stop, and may be there long after its call has ended; under
//! `observe` it may go to a task of its own. So it owns what it works with. The compiler would say so too, of a lifetime that nobody has written and at a place in the
//! expansion; what the eye can see of it is said here, at the argument, with what to write instead.
//!
//! Invariant: what is refused here would not have compiled.

use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, Lifetime, ParenthesizedGenericArguments, PatType, ReceiverKind, Type, TypeFnPtr, TypeReference};

use crate::diag::Errors;
use crate::parse::args::Args;
use crate::parse::item::Item;

/// What is said of a body that leaves.
pub(super) struct Leaving {
    /// Why it cannot borrow, up to what.
    pub(super) why: &'static str,
    /// Why a further attempt would have no receiver.
    pub(super) alone: &'static str,
}

/// For a thread.
pub(super) const ISOLATED: Leaving = Leaving {
    why: "the body runs on a thread of its own and may be there when this call is long over, so it cannot borrow",
    alone: "the first attempt takes `self` along to its thread, and the next one would have none",
};

/// Says what cannot.
pub(super) fn can_leave(args: &Args, item: &Item, leaving: &Leaving, errors: &mut Errors) {
    let why = leaving.why;
    for arg in &item.sig.inputs {
        match arg {
            FnArg::Receiver(receiver) => {
                let borrows = match &receiver.kind {
                    ReceiverKind::Reference(..) => true,
                    ReceiverKind::Typed(_, ty) => borrowed(ty).is_some(),
                    _ => false,
                };
                if borrows {
                    errors.over(
                        receiver,
                        format!("{why} `self`"),
                        "write `self: Arc<Self>`, or put the attribute on a function that takes what it needs by value",
                    );
                } else if let Some(retry) = args.retry.blame(item.sig.ident.span()) {
                    errors.at(
                        retry,
                        leaving.alone,
                        "leave `retry` out, or put the attribute on a function that takes `this: Arc<Self>`",
                    );
                }
            }
            FnArg::Typed(PatType { ty, .. }) => {
                if let Some(found) = borrowed(ty) {
                    let instead = match found {
                        Borrow::Text => "take a `String` or an `Arc<str>`",
                        Borrow::Slice => "take a `Vec<_>` or an `Arc<[_]>`",
                        Borrow::Other => "take it by value, or behind an `Arc`",
                    };
                    errors.over(ty, format!("{why} its arguments"), instead);
                }
            }
        }
    }
}

/// What a type borrows, as far as it says so.
#[derive(Clone, Copy)]
enum Borrow {
    Text,
    Slice,
    Other,
}

fn borrowed(ty: &Type) -> Option<Borrow> {
    let mut finder = Finder(None);
    finder.visit_type_mut(&mut ty.clone());
    finder.0
}

struct Finder(Option<Borrow>);

impl VisitMut for Finder {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static") {
            self.0.get_or_insert(match &*reference.elem {
                Type::Path(path) if path.path.is_ident("str") => Borrow::Text,
                Type::Slice(_) => Borrow::Slice,
                _ => Borrow::Other,
            });
        }
        visit_mut::visit_type_mut(self, &mut reference.elem);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            self.0.get_or_insert(Borrow::Other);
        }
    }

    // What a function is given is no part of it.
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}

    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}

    fn visit_bound_lifetimes_mut(&mut self, _: &mut syn::BoundLifetimes) {}
}
