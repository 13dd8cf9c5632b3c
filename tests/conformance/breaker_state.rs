//! Whose state a breaker is.
//!
//! One without a name belongs to the function, whatever instance or monomorphisation it is called on; one with a name to
//! everybody who names it. There is no inheritance, so what a derived type makes of a declaration has no counterpart.
//!
//! Invariants: every instance is asked before it is said to be refused.

use std::marker::PhantomData;

use watertight::resilient;
use watertight_tests::AppError;

use crate::harness::{Entry, left_out, row};
use crate::letters::{Service, letters};

const NO_INHERITANCE: &str = "types do not inherit declarations";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!(
            "CL-01",
            "a breaker without a name; the other half shares one by name",
            a_breaker_is_the_methods_for_all_its_instances
        ),
        row!("CL-02", "an `impl` block for the type", every_method_of_a_block_has_its_own),
        row!("CL-03", "a generic type for base and derived", all_monomorphisations_share_it),
        left_out("CL-04", NO_INHERITANCE),
        left_out("CL-05", NO_INHERITANCE),
        left_out("CL-06", NO_INHERITANCE),
        left_out("CL-07", NO_INHERITANCE),
        left_out("CL-08", NO_INHERITANCE),
        left_out("CL-09", NO_INHERITANCE),
        left_out("CL-10", NO_INHERITANCE),
        left_out("CL-11", NO_INHERITANCE),
        left_out("CL-12", NO_INHERITANCE),
        left_out("CL-13", NO_INHERITANCE),
    ]
}

struct Orders(Service);
struct Invoices(Service);

impl Orders {
    #[resilient(breaker(window = 8), name = "cl-01-orders")]
    async fn send(&self) -> Result<(), AppError> {
        self.0.serve()
    }

    #[resilient(breaker(name = "cl-01", window = 8), name = "cl-01-orders-shared")]
    async fn send_shared(&self) -> Result<(), AppError> {
        self.0.serve()
    }
}

impl Invoices {
    #[resilient(breaker(window = 8), name = "cl-01-invoices")]
    async fn send(&self) -> Result<(), AppError> {
        self.0.serve()
    }

    #[resilient(breaker = "cl-01", name = "cl-01-invoices-shared")]
    async fn send_shared(&self) -> Result<(), AppError> {
        self.0.serve()
    }
}

async fn a_breaker_is_the_methods_for_all_its_instances() {
    let orders = [Service::down(), Service::down()].map(Orders);
    let invoices = [Service::down(), Service::down()].map(Invoices);
    for it in &orders {
        assert_eq!(letters(4, async || it.send().await).await, "TTTT");
    }
    for it in &invoices {
        assert_eq!(letters(4, async || it.send().await).await, "TTTT", "not opened by the other type's");
    }
    for it in &orders {
        assert_eq!((letters(1, async || it.send().await).await.as_str(), it.0.count()), ("O", 4));
    }
    for it in &invoices {
        assert_eq!((letters(1, async || it.send().await).await.as_str(), it.0.count()), ("O", 4));
    }
    assert_eq!(letters(8, async || orders[0].send_shared().await).await, "TTTTTTTT");
    assert_eq!(letters(1, async || invoices[0].send_shared().await).await, "O", "one name, one state");
}

struct Pair(Service, Service);

#[resilient(breaker(window = 8), name = "cl-02")]
impl Pair {
    async fn one(&self) -> Result<(), AppError> {
        self.0.serve()
    }

    async fn other(&self) -> Result<(), AppError> {
        self.1.serve()
    }
}

async fn every_method_of_a_block_has_its_own() {
    let instances = [(); 2].map(|()| Pair(Service::down(), Service::down()));
    for it in &instances {
        assert_eq!(letters(4, async || it.one().await).await, "TTTT");
        assert_eq!(letters(4, async || it.other().await).await, "TTTT");
    }
    for it in &instances {
        assert_eq!(letters(1, async || it.one().await).await, "O");
        assert_eq!(letters(1, async || it.other().await).await, "O");
        assert_eq!((it.0.count(), it.1.count()), (4, 4));
    }
}

struct Base<T>(Service, PhantomData<T>);

#[resilient(breaker(window = 8), name = "cl-03")]
impl<T> Base<T> {
    async fn send(&self) -> Result<(), AppError> {
        self.0.serve()
    }
}

async fn all_monomorphisations_share_it() {
    let bytes = [(); 2].map(|()| Base(Service::down(), PhantomData::<u8>));
    let words = [(); 2].map(|()| Base(Service::down(), PhantomData::<String>));
    for _ in 0..2 {
        for it in &bytes {
            assert_eq!(letters(1, async || it.send().await).await, "T");
        }
        for it in &words {
            assert_eq!(letters(1, async || it.send().await).await, "T");
        }
    }
    for it in &bytes {
        assert_eq!((letters(1, async || it.send().await).await.as_str(), it.0.count()), ("O", 2));
    }
    for it in &words {
        assert_eq!((letters(1, async || it.send().await).await.as_str(), it.0.count()), ("O", 2));
    }
}
