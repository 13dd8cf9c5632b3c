//! Background work: channels, tasks, files, caches, closures, and the error types that take anything.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use anyhow::{Context, bail};
use futures::future::{BoxFuture, join_all};
use futures::{FutureExt, Stream, StreamExt, stream};
use tokio::sync::{mpsc, oneshot};
use watertight::resilient;

type Cache = Arc<Mutex<BTreeMap<String, u64>>>;

#[resilient(timeout = "1s", retry = 1)]
async fn send_all(
    sender: mpsc::Sender<u64>,
    values: impl IntoIterator<Item = u64> + Send + Clone,
) -> anyhow::Result<usize>
where
    <Vec<u64> as IntoIterator>::IntoIter: Send,
{
    let values: Vec<u64> = values.into_iter().collect();
    for value in &values {
        sender.send(*value).await.with_context(|| format!("sending {value}"))?;
    }
    Ok(values.len())
}

#[resilient(timeout = "1s")]
async fn sum(mut receiver: mpsc::Receiver<u64>) -> anyhow::Result<u64> {
    let mut total = 0;
    while let Some(value) = receiver.recv().await {
        if value > 1_000 {
            bail!("{value} is too large");
        }
        total += value;
    }
    Ok(total)
}

#[resilient(timeout = "1s", bulkhead = "jobs:2/queue:8", fallback = Cow::Borrowed("nobody"))]
async fn answer<'a>(
    asked: oneshot::Receiver<Cow<'a, str>>,
) -> Result<Cow<'a, str>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(asked.await?)
}

#[resilient(timeout = "1s", fallback = cached(&cache, &key))]
async fn refresh(cache: Cache, key: String, value: Result<u64, &'static str>) -> io::Result<u64> {
    tokio::task::yield_now().await;
    let value = value.map_err(io::Error::other)?;
    cache.lock().map_err(|_| io::Error::other("poisoned"))?.insert(key.clone(), value);
    Ok(value)
}

fn cached(cache: &Mutex<BTreeMap<String, u64>>, key: &str) -> io::Result<u64> {
    let found = cache.lock().ok().and_then(|cache| cache.get(key).copied());
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[resilient(deadline = "1s")]
async fn in_parallel<T, F>(work: Vec<F>) -> Result<Vec<T>, watertight::Error>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let tasks = work.into_iter().map(|work| watertight::spawn(work));
    Ok(join_all(tasks).await.into_iter().filter_map(Result::ok).collect())
}

#[resilient(timeout = "1s")]
fn depth(levels: u32) -> BoxFuture<'static, io::Result<u32>> {
    async move { if levels == 0 { Ok(0) } else { Ok(1 + depth(levels - 1).await?) } }.boxed()
}

#[resilient(timeout = "1s")]
async fn counted(up_to: u8) -> Result<impl Stream<Item = u8> + Unpin, watertight::Error> {
    Ok(stream::iter(0..up_to))
}

#[resilient(retry(2, on = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted, budget = off))]
async fn read(mut from: &[u8], into: &mut [u8; 2]) -> io::Result<()> {
    use tokio::io::AsyncReadExt;
    from.read_exact(into).await?;
    if watertight::attempt() == 0 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

#[resilient(timeout = "1s", fallback = || ())]
async fn tick(state: &Mutex<u8>) {
    if let Ok(mut state) = state.lock() {
        *state += 1;
    }
    tokio::task::yield_now().await;
}

pub(crate) async fn check() {
    let (sender, receiver) = mpsc::channel(4);
    let (sent, total) = tokio::join!(send_all(sender, [1, 2, 3]), sum(receiver));
    assert_eq!((sent.ok(), total.ok()), (Some(3), Some(6)));
    let (reply, asked) = oneshot::channel();
    assert!(reply.send("somebody".into()).is_ok());
    assert_eq!(answer(asked).await.ok().as_deref(), Some("somebody"));
    let (silent, asked) = oneshot::channel();
    drop(silent);
    assert_eq!(answer(asked).await.ok().as_deref(), Some("nobody"));
    let cache = Cache::default();
    assert!(refresh(Arc::clone(&cache), "a".into(), Err("down")).await.is_err());
    assert_eq!(refresh(Arc::clone(&cache), "a".into(), Ok(5)).await.ok(), Some(5));
    assert_eq!(refresh(cache, "a".into(), Err("down")).await.ok(), Some(5));
    assert_eq!(in_parallel(vec![async { 1 }.boxed(), async { 2 }.boxed()]).await.ok(), Some(vec![1, 2]));
    assert_eq!(depth(5).await.ok(), Some(5));
    let Ok(counted) = counted(3).await else { panic!("a stream") };
    assert_eq!(counted.collect::<Vec<_>>().await, [0, 1, 2]);
    let mut into = [0; 2];
    assert!(read(&[1, 2, 3], &mut into).await.is_ok());
    assert_eq!(into, [1, 2]);
    let state = Mutex::new(0);
    tick(&state).await;
    assert_eq!(state.into_inner().ok(), Some(1));
}
