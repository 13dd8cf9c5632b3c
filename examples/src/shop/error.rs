//! # What a handler can fail with
//!
//! One enum, one `From` per source, so that `?` is all a handler needs. The guard's refusals arrive by the same road as
//! a database error; a service that adopts the annotation adds the last of these `From`s and nothing else.
//!
//! Invariants:
//! * no error becomes a 2xx.

use std::fmt;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// A failed request.
#[derive(Debug)]
pub enum AppError {
    /// The database, or no connection to it in time.
    Database(sqlx::Error),
    /// The vendor, when it at least said something.
    Vendor(reqwest::Error),
    /// The guard, where no fallback answered.
    Guard(watertight::Error),
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => write!(f, "database: {error}"),
            Self::Vendor(error) => write!(f, "vendor: {error}"),
            Self::Guard(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for AppError {}

impl From<sqlx::Error> for AppError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<reqwest::Error> for AppError {
    fn from(error: reqwest::Error) -> Self {
        Self::Vendor(error)
    }
}

impl From<watertight::Error> for AppError {
    fn from(error: watertight::Error) -> Self {
        Self::Guard(error)
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Database(_) | Self::Guard(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Vendor(_) => StatusCode::BAD_GATEWAY,
        };
        (status, self.to_string()).into_response()
    }
}
