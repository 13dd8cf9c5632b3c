//! Clients over HTTP.

use std::fmt::Display;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use watertight::resilient;

use crate::error::AppError;
use crate::repository::{NewUser, User};

pub(crate) struct Shop {
    http: Client,
    base: String,
}

#[resilient(name = "shop", timeout = "2s", breaker(name = "shop", on = AppError::is_outage))]
impl Shop {
    pub(crate) fn new(base: &str) -> Self {
        Self { http: Client::new(), base: base.into() }
    }

    fn request(&self, method: Method, path: impl Display) -> RequestBuilder {
        self.http.request(method, format!("{}/{path}", self.base))
    }

    #[resilient(retry = 2)]
    async fn get<T: DeserializeOwned>(&self, path: impl Display + Send + Clone) -> Result<T, AppError> {
        accepted(self.request(Method::GET, path).send().await?)?.json().await.map_err(AppError::from)
    }

    pub(crate) async fn health(&self) -> Result<String, AppError> {
        Ok(self.request(Method::GET, "health").send().await?.text().await?)
    }

    pub(crate) async fn user(&self, id: i64) -> Result<User, AppError> {
        self.get(format_args!("users/{id}").to_string()).await
    }

    pub(crate) async fn create(&self, user: &NewUser) -> Result<User, AppError> {
        self.send(Method::POST, "users", user).await?.json().await.map_err(Into::into)
    }

    async fn send<B>(&self, method: Method, path: &str, body: &B) -> Result<Response, AppError>
    where
        B: Serialize + ?Sized + Sync,
    {
        let response = self.request(method, path).json(body).send().await?;
        accepted(response)
    }

    #[resilient(retry = 1, idempotent, fallback = Vec::new)]
    pub(crate) async fn list(&self, start: Option<&str>) -> Result<Vec<User>, AppError> {
        let start = start.map_or_else(String::new, |start| format!("&start={start}"));
        let request = self.request(Method::GET, format_args!("users?limit=10{start}"));
        Ok(accepted(request.send().await?)?.json().await?)
    }

    pub(crate) async fn forget(&self, id: i64) -> Result<(), AppError> {
        accepted(self.request(Method::DELETE, format!("users/{id}")).send().await?).map(drop)
    }

    pub(crate) async fn price(&self, id: u64) -> Result<u64, AppError> {
        self.get(format!("prices/{id}")).await
    }

    #[resilient(breaker = off, fallback = |failure| format!("no page {name}: {}", failure.error().is_some()))]
    pub(crate) async fn page(&self, name: &str) -> String {
        let Ok(response) = self.request(Method::GET, format!("pages/{name}")).send().await else {
            return String::new();
        };
        response.text().await.unwrap_or_default()
    }
}

fn accepted(response: Response) -> Result<Response, AppError> {
    if response.status().is_success() { Ok(response) } else { Err(AppError::Status(response.status().as_u16())) }
}

#[derive(Clone)]
pub(crate) struct Prices {
    http: Client,
    base: &'static str,
}

impl Prices {
    pub(crate) fn new(base: &'static str) -> Self {
        let http = Client::builder().connect_timeout(Duration::from_millis(300)).build();
        Self { http: http.unwrap_or_default(), base }
    }

    #[resilient(
        timeout = "200ms",
        deadline = "400ms",
        bulkhead = "prices:2/queue:2/wait:50ms",
        breaker(window = 20, failures = "50%", cooldown = "1s"),
        retry(1, backoff = "1ms..10ms", on = [AppError::is_outage, timeout]),
        idempotent
    )]
    pub(crate) async fn price(self, id: u64) -> Result<u64, AppError> {
        let text = self.http.get(format!("{}/{id}", self.base)).send().await?.text().await?;
        text.trim().parse().map_err(|_| AppError::Invalid("no number"))
    }
}
