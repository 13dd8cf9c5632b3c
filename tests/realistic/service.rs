//! A gRPC service as tonic's generated traits ask for it: `#[async_trait]`, `Request<T>` in, `Result<Response<T>, Status>`
//! out. The types are stand-ins with the same shape, since tonic's own bring a code generator along.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{Stream, StreamExt, stream};
use watertight::{ErrorKind, resilient};

use crate::error::AppError;
use crate::repository::{NewUser, Repository};

pub(crate) struct Request<T>(T);

pub(crate) struct Response<T>(T);

impl<T> Request<T> {
    fn into_inner(self) -> T {
        self.0
    }

    fn get_ref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> Clone for Request<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[derive(Debug, PartialEq)]
pub(crate) enum Status {
    NotFound,
    Unavailable,
    DeadlineExceeded,
    Internal,
}

impl From<watertight::Error> for Status {
    fn from(error: watertight::Error) -> Self {
        if error.kind() == ErrorKind::TimedOut { Self::DeadlineExceeded } else { Self::Unavailable }
    }
}

impl From<AppError> for Status {
    fn from(error: AppError) -> Self {
        match error {
            AppError::NotFound => Self::NotFound,
            AppError::Refused(error) => error.into(),
            _ => Self::Internal,
        }
    }
}

type ResponseStream = Pin<Box<dyn Stream<Item = Result<String, Status>> + Send>>;

#[async_trait]
pub(crate) trait Greet: Send + Sync + 'static {
    type ManyStream: Stream<Item = Result<String, Status>> + Send + 'static;

    async fn greet(&self, request: Request<i64>) -> Result<Response<String>, Status>;
    async fn greet_many(&self, request: Request<Vec<i64>>) -> Result<Response<Self::ManyStream>, Status>;
    async fn welcome(&self, request: Request<(String, Option<String>)>) -> Result<Response<i64>, Status>;
    async fn collect(&self, request: Request<ResponseStream>) -> Result<Response<usize>, Status>;
}

pub(crate) struct Greeter<R> {
    users: Arc<R>,
}

impl<R> Greeter<R> {
    pub(crate) fn new(users: Arc<R>) -> Self {
        Self { users }
    }
}

#[async_trait]
impl<R> Greet for Greeter<R>
where
    R: Repository<Key = i64> + Send + Sync + 'static,
{
    type ManyStream = ResponseStream;

    #[resilient(timeout = "1s", retry = 1, bulkhead = "greet:8/queue:8")]
    async fn greet(&self, request: Request<i64>) -> Result<Response<String>, Status> {
        let user = self.users.find(*request.get_ref()).await?;
        Ok(Response(format!("hello {}", user.name)))
    }

    #[resilient(timeout = "1s", bulkhead = "greet")]
    async fn greet_many(&self, request: Request<Vec<i64>>) -> Result<Response<Self::ManyStream>, Status> {
        let users = Arc::clone(&self.users);
        let each = move |id| {
            let users = Arc::clone(&users);
            async move { Ok(users.find(id).await?.name) }
        };
        Ok(Response(stream::iter(request.into_inner()).then(each).boxed()))
    }

    #[resilient(timeout = "1s", fallback = Response(-1))]
    async fn welcome(&self, request: Request<(String, Option<String>)>) -> Result<Response<i64>, Status> {
        let (name, email) = request.into_inner();
        let user = self.users.create(NewUser { name, email }).await?;
        Ok(Response(user.id))
    }

    #[resilient(deadline = "1s")]
    async fn collect(&self, mut request: Request<ResponseStream>) -> Result<Response<usize>, Status> {
        let mut count = 0;
        while let Some(item) = request.0.next().await {
            count += item?.len();
        }
        Ok(Response(count))
    }
}

pub(crate) async fn check(service: &impl Greet) {
    assert_eq!(service.greet(Request(1)).await.map(|response| response.0), Err(Status::NotFound));
    let made = service.welcome(Request(("ann".into(), None))).await;
    assert_eq!(made.map(|response| response.0), Ok(1));
    let refused = service.welcome(Request((String::new(), None))).await;
    assert_eq!(refused.map(|response| response.0), Ok(-1));
    let greeting = service.greet(Request(1)).await;
    assert_eq!(greeting.map(|response| response.0), Ok("hello ann".into()));
    let many = service.greet_many(Request(vec![1, 2])).await.map(|response| response.0);
    let Ok(many) = many else { panic!("a stream") };
    let names: Vec<_> = many.collect().await;
    assert_eq!(names, [Ok("ann".into()), Err(Status::NotFound)]);
    let sum = service.collect(Request(stream::iter([Ok("four".into())]).boxed())).await;
    assert_eq!(sum.map(|response| response.0), Ok(4));
}
