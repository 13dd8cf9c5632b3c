//! A Redis, a vendor, and processes, all of the test's own.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::sleep;
use watertight_tests::{Stopwatch, ms};

use crate::worker::PLAN;

/// How long the vendor takes.
pub(crate) const TAKES: Duration = ms(200);

/// A Redis on a port of its own, so that stopping and emptying it is nobody else's business.
pub(crate) struct Redis {
    server: Child,
    pub(crate) port: u16,
    _folder: Folder,
    _alone: MutexGuard<'static, ()>,
}

struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Redis {
    /// One, if there is the program. One test at a time has one.
    pub(crate) async fn start() -> Option<Self> {
        static ALONE: Mutex<()> = Mutex::const_new(());
        let alone = ALONE.lock().await;
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
        let folder = std::env::temp_dir().join(format!("watertight-fleet-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let started = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir"])
            .arg(&folder)
            .stdout(Stdio::null())
            .spawn();
        match started {
            Ok(server) => {
                let clock = Stopwatch::start();
                while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                    assert!(clock.read() < ms(10_000), "the Redis does not come up");
                    sleep(ms(20)).await;
                }
                Some(Self { server, port, _folder: Folder(folder), _alone: alone })
            }
            Err(error) => {
                let required = std::env::var("WATERTIGHT_REQUIRE_SERVICES").is_ok_and(|it| it == "1");
                assert!(!required, "no redis-server: {error}");
                println!("skipped, no redis-server to start at 127.0.0.1");
                let _ = std::fs::remove_dir_all(folder);
                None
            }
        }
    }

    pub(crate) fn client(&self) -> redis::Client {
        redis::Client::open(format!("redis://127.0.0.1:{}/", self.port)).expect("an address")
    }

    pub(crate) async fn flush(&self) {
        let mut connection = self.client().get_multiplexed_async_connection().await.expect("a connection");
        redis::cmd("FLUSHALL").exec_async(&mut connection).await.expect("empties");
    }

    pub(crate) fn signal(&self, signal: &str) {
        send(signal, self.server.id());
    }
}

fn send(signal: &str, process: u32) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {process}")]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -{signal} {process}");
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Who is called, and counts.
pub(crate) struct Vendor {
    pub(crate) port: u16,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    running: AtomicI64,
    most: AtomicI64,
    begun: AtomicI64,
    each: [AtomicI64; 16],
}

impl Vendor {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (port, counts) = (listener.local_addr().expect("bound").port(), Arc::new(Counts::default()));
        let of_all = counts.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, of_all.clone()));
            }
        });
        Self { port, counts }
    }

    pub(crate) fn running(&self) -> i64 {
        self.counts.running.load(SeqCst)
    }

    pub(crate) fn of(&self, process: usize) -> i64 {
        self.counts.each[process].load(SeqCst)
    }

    /// How many calls have come.
    pub(crate) fn begun(&self) -> i64 {
        self.counts.begun.load(SeqCst)
    }

    /// The most that ran at once, from now on for a while.
    pub(crate) async fn most_in(&self, length: Duration) -> i64 {
        self.counts.most.store(0, SeqCst);
        sleep(length).await;
        self.counts.most.load(SeqCst)
    }

    /// How many run on average, for a while.
    pub(crate) async fn mean_in(&self, length: Duration) -> f64 {
        let (clock, mut sum, mut looks) = (Stopwatch::start(), 0, 0_u32);
        while clock.read() < length {
            sleep(ms(5)).await;
            sum += self.running();
            looks += 1;
        }
        sum as f64 / f64::from(looks)
    }

    /// Until so many run; how long that took.
    pub(crate) async fn until(&self, limit: Duration, is_so: impl Fn(&Self) -> bool) -> Duration {
        let clock = Stopwatch::start();
        while !is_so(self) {
            assert!(clock.read() < limit, "{} run after {:?}", self.running(), clock.read());
            sleep(ms(2)).await;
        }
        clock.read()
    }
}

/// One call: counted until its answer is sent, or its caller has gone.
async fn serve(mut stream: TcpStream, counts: Arc<Counts>) {
    let mut process = [0];
    if stream.read_exact(&mut process).await.is_err() {
        return;
    }
    let each = &counts.each[usize::from(process[0]) % 16];
    each.fetch_add(1, SeqCst);
    let running = counts.running.fetch_add(1, SeqCst) + 1;
    counts.begun.fetch_add(1, SeqCst);
    counts.most.fetch_max(running, SeqCst);
    let gone = tokio::time::timeout(TAKES, stream.read_exact(&mut [0])).await.is_ok();
    counts.running.fetch_sub(1, SeqCst);
    each.fetch_sub(1, SeqCst);
    if !gone {
        let _ = stream.write_all(&[1]).await;
    }
}

/// How a worker says it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stands {
    pub(crate) source: String,
    pub(crate) replicas: u32,
    pub(crate) share: f64,
    pub(crate) lapses: u64,
    pub(crate) failures: u64,
    /// The longest a call took since this was asked before, in milliseconds.
    pub(crate) longest: u64,
}

/// A process.
pub(crate) struct Worker {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    fn start(redis: &Redis, limit: &str, vendor: &Vendor, process: usize, callers: usize) -> Self {
        let plan = format!("{} {limit} {} {process} {callers}", redis.port, vendor.port);
        let mut child = Command::new(std::env::current_exe().expect("this"))
            .args(["worker::worker", "--exact", "--nocapture", "--test-threads=1"])
            .env(PLAN, plan)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let output = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, output }
    }

    pub(crate) fn stands(&mut self) -> Stands {
        self.child.stdin.as_mut().expect("piped").write_all(b".").expect("asked");
        let line = self.output.by_ref().map_while(Result::ok).find(|line| line.contains("stands "));
        let line = line.expect("an answer");
        let words: Vec<_> = line.split("stands ").nth(1).expect("found").split(' ').collect();
        let [source, replicas, share, lapses, failures, longest] = words[..] else { panic!("{line}") };
        Stands {
            source: source.to_owned(),
            replicas: replicas.parse().expect("a number"),
            share: share.parse().expect("a number"),
            lapses: lapses.parse().expect("a number"),
            failures: failures.parse().expect("a number"),
            longest: longest.parse().expect("a number"),
        }
    }

    pub(crate) fn kill(&mut self) {
        send("KILL", self.child.id());
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Eight of them, each with so many callers who call under one limit.
pub(crate) fn eight(redis: &Redis, limit: &str, vendor: &Vendor, callers: impl Fn(usize) -> usize) -> Vec<Worker> {
    (0..8).map(|process| Worker::start(redis, limit, vendor, process, callers(process))).collect()
}
