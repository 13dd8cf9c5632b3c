//! Errors as statuses, and back.

use std::sync::Arc;
use std::time::Duration;

use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use super::super::hop::is_over;
use crate::call::{Detail, Error, ErrorKind, Failure};

/// The code by its kind, a constant message, and when to come back; the error is the source, which is not sent.
impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let (code, message) = words(error.kind());
        let mut metadata = MetadataMap::new();
        if !matches!(code, Code::DeadlineExceeded | Code::Cancelled) {
            // Never at once: it was refused because there was too much already.
            let after = error.retry_after().unwrap_or(Duration::from_secs(1)).max(Duration::from_millis(1));
            let millis = u64::try_from(after.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
            metadata.insert("grpc-retry-pushback-ms", MetadataValue::from(millis));
            metadata.insert("retry-after", MetadataValue::from(millis.div_ceil(1_000)));
        }
        let mut status = Self::with_metadata(code, message, metadata);
        status.set_source(Arc::new(error));
        status
    }
}

fn words(kind: ErrorKind) -> (Code, &'static str) {
    match kind {
        ErrorKind::TimedOut | ErrorKind::Deadline | ErrorKind::Doomed => {
            (Code::DeadlineExceeded, "the time for this call was over before there was an answer")
        }
        ErrorKind::ShuttingDown => (Code::Unavailable, "this server is about to stop"),
        ErrorKind::Cancelled => (Code::Cancelled, "this call was cancelled"),
        ErrorKind::BreakerOpen => (Code::Unavailable, "this cannot be answered at the moment"),
        ErrorKind::BulkheadFull
        | ErrorKind::BulkheadWait
        | ErrorKind::IsolateFull
        | ErrorKind::IsolateWait
        | ErrorKind::RateLimited => (Code::ResourceExhausted, "there are too many calls at the moment"),
    }
}

/// Tells the statuses that say the time was up from all others, which it leaves as they are: those made from an [`Error`] in
/// this process, those of [`ClientLayer`](super::ClientLayer) among them, and a `DEADLINE_EXCEEDED` or `CANCELLED` from the other
/// side with nothing left, which becomes an [`Error`] of kind [`Deadline`](ErrorKind::Deadline) with the status as its source.
///
/// To be asked where it is awaited, since what is left is what is left there.
///
/// ```
/// use tonic::Status;
/// use watertight::Failure;
/// use watertight::integrations::tonic::failure;
///
/// enum AppError { Refused(watertight::Error), Vendor(Status) }
///
/// impl From<Status> for AppError {
///     fn from(status: Status) -> Self {
///         match failure(status) {
///             Failure::Refused(error) => Self::Refused(error),
///             Failure::Failed(status) => Self::Vendor(status),
///         }
///     }
/// }
/// # assert!(matches!(AppError::from(Status::not_found("no such order")), AppError::Vendor(_)));
/// ```
pub fn failure(status: Status) -> Failure<Status> {
    let source = std::error::Error::source(&status).and_then(|source| source.downcast_ref::<Error>());
    if let Some(ours) = source.map(Error::without_source) {
        return Failure::Refused(ours);
    }
    let says_so = matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled);
    if says_so && is_over() {
        return Failure::Refused(Error::new(None, Detail::Stopped).with_source(Some(Box::new(status))));
    }
    Failure::Failed(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(detail: Detail) -> (Code, Option<String>, Option<String>, String) {
        let status = Status::from(Error::new(None, detail));
        let text = |key: &str| status.metadata().get(key).and_then(|it| it.to_str().ok()).map(str::to_owned);
        (status.code(), text("grpc-retry-pushback-ms"), text("retry-after"), status.message().to_owned())
    }

    #[test]
    fn each_kind_has_its_code_and_refusals_say_when_to_come_back() {
        let (code, pushback, after, _) = told(Detail::Spent { in_queue: false });
        assert_eq!((code, pushback, after), (Code::DeadlineExceeded, None, None));
        let open = Detail::Open { name: "secret-vendor", retry_after: 2_500_000_000, isolated: false };
        let (code, pushback, after, message) = told(open);
        assert_eq!((code, pushback.as_deref(), after.as_deref()), (Code::Unavailable, Some("2500"), Some("3")));
        assert!(!message.contains("secret-vendor"), "{message}");
        let full = Detail::Full { name: "secret-vendor", slots: 8, running: 8, queue: 16, queued: 16 };
        let (code, pushback, after, message) = told(full);
        assert_eq!((code, pushback.as_deref(), after.as_deref()), (Code::ResourceExhausted, Some("1000"), Some("1")));
        assert!(!message.contains(|c: char| c.is_ascii_digit()), "{message}");
    }

    #[test]
    fn a_status_of_ours_is_found_again() {
        let status = Status::from(Error::new(None, Detail::TimedOut { limit: 7 }));
        let Failure::Refused(found) = failure(status) else { unreachable!("ours") };
        assert_eq!(found.kind(), ErrorKind::TimedOut);
        assert!(matches!(failure(Status::cancelled("a person")), Failure::Failed(_)), "time is left");
    }
}
