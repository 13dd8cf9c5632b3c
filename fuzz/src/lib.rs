//! The parsers, built from their own source files, and what must hold of each whatever comes in.
//!
//! A procedural macro can be linked by the compiler alone, and the header readers are private, so both are taken in as files.
//! The checks are tests of their crates too, which run the corpus under plain `cargo test`.
#![allow(dead_code, unused_imports)]

#[path = "../../macros/src"]
mod macros {
    pub(crate) mod attribute;
    pub(crate) mod block;
    pub(crate) mod diag;
    pub(crate) mod expand;
    pub(crate) mod limits;
    pub(crate) mod parse;
    pub(crate) mod plan;
    pub(crate) mod recover;
    pub(crate) mod units;
    pub(crate) mod validate;
}
// The macro's files name one another from their crate's root.
pub(crate) use macros::{attribute, block, diag, expand, limits, parse, plan, recover, units, validate};

#[path = "../../runtime/src/integrations"]
mod integrations {
    pub(crate) mod hop {
        pub(crate) mod wire;
    }
    use hop::wire::{read_grpc, read_millis, write_grpc, write_millis};

    #[path = "../../../fuzz/src/headers.rs"]
    pub(crate) mod headers;
}

#[path = "attribute.rs"]
mod attributes;

/// One input of the target `attribute`.
pub fn attribute_text(text: &str) {
    attributes::check(text);
}

/// One input of the target `headers`.
pub fn header(value: &[u8]) {
    integrations::headers::check(value);
}
