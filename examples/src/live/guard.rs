//! # Who may ask, and who may turn a switch
//!
//! Loopback alone is no wall against a browser. Any page that is open on this machine may send requests to 127.0.0.1, and a name
//! of its own that resolves to it would make the answers readable to it. So only loopback names are answered. What changes
//! something has to say that it is JSON, which no form can and no foreign script may without asking first, and nobody here
//! answers when it asks; and where a browser says which site a request comes from, it has to be this one.
//!
//! Invariants:
//! * every answer carries the policy under which a page runs no script, style or connection but its own.

use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Refuses what was sent to another name, and what would change something and may come from another site.
pub async fn own_site_only(request: Request, next: Next) -> Response {
    match refused(request.method(), request.headers()) {
        None => next.run(request).await,
        Some(refusal) => refusal.into_response(),
    }
}

fn refused(method: &Method, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(&HOST).unwrap_or_default();
    if !is_local(host) {
        return Some((StatusCode::MISDIRECTED_REQUEST, "this answers to localhost and 127.0.0.1 alone"));
    }
    if method.is_safe() {
        return None;
    }
    if text(&CONTENT_TYPE).is_none_or(|kind| !kind.starts_with("application/json")) {
        return Some((StatusCode::UNSUPPORTED_MEDIA_TYPE, "send it as `content-type: application/json`"));
    }
    let foreign_origin = headers.contains_key(ORIGIN) && text(&ORIGIN) != Some(&format!("http://{host}"));
    let site = text(&HeaderName::from_static("sec-fetch-site"));
    if foreign_origin || site.is_some_and(|site| site != "same-origin") {
        return Some((StatusCode::FORBIDDEN, "another site may not turn a switch here"));
    }
    None
}

fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

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

    fn asked(method: &Method, headers: &[(&'static str, &'static str)]) -> Option<u16> {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        refused(method, &headers.collect()).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn reading_takes_a_local_name_and_changing_takes_this_very_site() {
        let json = ("content-type", "application/json");
        for host in ["localhost:1", "127.0.0.1:80", "127.1.2.3", "[::1]:7", "LocalHost"] {
            assert_eq!(asked(&Method::GET, &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil", "10.0.0.1:80", "", "localhost:x"] {
            assert_eq!(asked(&Method::GET, &[("host", host)]), Some(421), "{host}");
        }
        let here = ("host", "localhost:1");
        assert_eq!(asked(&Method::POST, &[here, json]), None, "not a browser");
        assert_eq!(asked(&Method::POST, &[here, json, ("origin", "http://localhost:1")]), None);
        assert_eq!(asked(&Method::POST, &[here, json, ("sec-fetch-site", "same-origin")]), None);
        assert_eq!(asked(&Method::POST, &[here, json, ("origin", "http://localhost:2")]), Some(403));
        assert_eq!(asked(&Method::POST, &[here, json, ("origin", "null")]), Some(403));
        assert_eq!(asked(&Method::POST, &[here, json, ("sec-fetch-site", "cross-site")]), Some(403));
        assert_eq!(asked(&Method::POST, &[here]), Some(415));
        assert_eq!(asked(&Method::POST, &[here, ("content-type", "text/plain")]), Some(415), "as a form could");
    }
}
