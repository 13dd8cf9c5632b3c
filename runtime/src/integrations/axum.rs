//! An [`Error`] is a response: 503 or 504, when to come back, and nothing of what is inside.
//!
//! So a handler may return `Result<_, watertight::Error>` as it is. What is said is [`http::response`](super::http::response);
//! the deadline of a request comes in by [`http::ServerLayer`](super::http::ServerLayer).

use axum_core::response::{IntoResponse, Response};

use super::http::response;
use crate::call::Error;

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        response(&self)
    }
}
