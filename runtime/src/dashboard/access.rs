//! Who may ask, and who may change.
//!
//! Loopback alone is no wall against a browser: any page that the user of this machine visits may send requests to
//! 127.0.0.1, and a name of its own that resolves to it makes the answers readable to it (DNS rebinding). So a dashboard on
//! loopback answers only to loopback names. What changes state takes a token in a header that no form and no link can set.
//!
//! Invariants: a comparison of tokens takes as long whichever byte differs; every answer carries the policy under which the
//! page runs no script, style, image or connection but its own.

use std::fmt;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue};
use axum::http::{HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What lets somebody change things.
#[derive(Clone)]
pub(super) struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    pub(super) fn new(token: String) -> Option<Self> {
        (!token.is_empty()).then_some(Self(token))
    }

    /// Whether a request carries it.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default().as_bytes();
        let own = self.0.as_bytes();
        let differing = own.iter().zip(given.iter().chain(std::iter::repeat(&0))).fold(0, |sum, (a, b)| sum | (a ^ b));
        differing == 0 && given.len() == own.len()
    }
}

/// Refuses a request that was sent to a name other than this machine's own.
pub(super) async fn only_local_names(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|value| value.to_str().ok());
    if host.is_none_or(is_local) {
        return next.run(request).await;
    }
    let what = "this dashboard answers to localhost and 127.0.0.1 alone; mount its router in your own server to give it a name";
    (StatusCode::MISDIRECTED_REQUEST, what).into_response()
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// What the browser is told to refuse.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Puts the policy on every answer.
pub(super) async fn with_policy(mut answer: Response) -> Response {
    let headers = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in headers {
        answer.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_local() {
        for name in ["localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:7878", "127.1.2.3:1", "[::1]:7878", "[::1]"] {
            assert!(is_local(name), "{name}");
        }
        for name in ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil", "10.0.0.1:80", "", "localhost:x"] {
            assert!(!is_local(name), "{name}");
        }
    }

    #[test]
    fn a_token_must_be_there_whole() {
        let token = Token::new("secret".to_owned()).expect("not empty");
        let carries = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(value).expect("a header"));
            token.is_in(&headers)
        };
        assert!(carries("Bearer secret"));
        for wrong in ["Bearer secre", "Bearer secrets", "Bearer ", "secret", "Basic secret", "Bearer Secret"] {
            assert!(!carries(wrong), "{wrong}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
        assert!(Token::new(String::new()).is_none());
        assert_eq!(format!("{token:?}"), "Token(..)");
    }
}
