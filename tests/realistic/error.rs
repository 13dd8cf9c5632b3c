//! One error type for the whole service, in the way of the axum examples.

use std::fmt;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use watertight::{Class, Classify};

#[derive(Debug)]
pub(crate) enum AppError {
    NotFound,
    Invalid(&'static str),
    Database(sqlx::Error),
    Upstream(reqwest::Error),
    Status(u16),
    Refused(watertight::Error),
}

impl AppError {
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(*status),
            _ => None,
        }
    }

    pub(crate) fn is_outage(&self) -> bool {
        matches!(self, Self::Database(_) | Self::Upstream(_) | Self::Status(500..))
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("not found"),
            Self::Invalid(why) => f.write_str(why),
            Self::Database(error) => error.fmt(f),
            Self::Upstream(error) => error.fmt(f),
            Self::Status(status) => write!(f, "answered with {status}"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl From<watertight::Error> for AppError {
    fn from(error: watertight::Error) -> Self {
        Self::Refused(error)
    }
}

impl From<sqlx::Error> for AppError {
    fn from(error: sqlx::Error) -> Self {
        if matches!(error, sqlx::Error::RowNotFound) { Self::NotFound } else { Self::Database(error) }
    }
}

impl From<reqwest::Error> for AppError {
    fn from(error: reqwest::Error) -> Self {
        Self::Upstream(error)
    }
}

impl Classify for AppError {
    fn class(&self) -> Class {
        match self {
            Self::NotFound | Self::Invalid(_) | Self::Status(..500) => Class::Success,
            Self::Database(_) | Self::Upstream(_) | Self::Status(_) => Class::Retryable,
            Self::Refused(error) => error.class(),
        }
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Refused(_) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, self.to_string()).into_response()
    }
}
