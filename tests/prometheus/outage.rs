//! A real Prometheus watches a service whose dependency hangs for a while.
//!
//! Scraped and judged once a second, over windows of four, so that an outage of some seconds is one. What is asserted is order
//! and names, never a time: no alert before the dependency hangs, then those of the functions that suffer and of no other,
//! then none.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use watertight::dashboard::Dashboard;
use watertight::export::Monitoring;
use watertight::resilient;
use watertight_tests::AppError;

use crate::{folder, there_is};

static HANGS: AtomicBool = AtomicBool::new(false);

/// The dependency.
async fn asked() {
    if HANGS.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(Duration::from_millis(2)).await;
}

#[resilient(timeout = "400ms", bulkhead = "prom-strip:4/queue:4", fallback = || Ok(0))]
async fn prom_strip() -> Result<u32, AppError> {
    asked().await;
    Ok(1)
}

#[resilient(timeout = "400ms")]
async fn prom_price() -> Result<u32, AppError> {
    asked().await;
    Ok(1)
}

/// Asks somebody else.
#[resilient(timeout = "5s")]
async fn prom_cart() -> Result<u32, AppError> {
    tokio::time::sleep(Duration::from_millis(2)).await;
    Ok(1)
}

/// Callers of all three. As many as there are slots never find them taken; more of them do, once a dependency hangs.
fn load(callers: usize) -> JoinSet<()> {
    let mut all = JoinSet::new();
    for _ in 0..callers {
        all.spawn(async {
            loop {
                let _ = tokio::join!(prom_strip(), prom_price(), prom_cart());
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
    }
    all
}

/// A Prometheus of this test, gone with it.
struct Prometheus {
    url: String,
    folder: PathBuf,
    child: Child,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.start_kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn configuration(target: &str, rules: &Path) -> String {
    format!(
        "global: {{ scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }}\n\
         rule_files: [\"{}\"]\n\
         scrape_configs:\n- job_name: shop\n  static_configs: [{{ targets: [\"{target}\"] }}]\n",
        rules.display()
    )
}

fn started(target: &str, rules: &str) -> Prometheus {
    let folder = folder("outage");
    let file = folder.join("rules.yml");
    std::fs::write(&file, rules).expect("written");
    std::fs::write(folder.join("prometheus.yml"), configuration(target, &file)).expect("written");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
    let child = Command::new("prometheus")
        .arg(format!("--config.file={}", folder.join("prometheus.yml").display()))
        .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .arg("--log.level=warn")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(folder.join("log")).expect("a log"))
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    Prometheus { url: format!("http://127.0.0.1:{port}"), folder, child }
}

/// An alert as Prometheus has it: its name, its function, its state.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alert {
    name: String,
    function: String,
    firing: bool,
    summary: String,
}

impl Prometheus {
    async fn ask(&self, path: &str) -> Option<Value> {
        let answer = reqwest::get(format!("{}{path}", self.url)).await.ok()?;
        serde_json::from_str(&answer.text().await.ok()?).ok()
    }

    async fn alerts(&self) -> Vec<Alert> {
        let all = self.ask("/api/v1/alerts").await.expect("it answers");
        let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let alert = |it: &Value| Alert {
            name: word(&it["labels"]["alertname"]),
            function: word(&it["labels"]["function"]),
            firing: it["state"] == "firing",
            summary: word(&it["annotations"]["summary"]),
        };
        let mut all: Vec<_> = all["data"]["alerts"].as_array().expect("alerts").iter().map(alert).collect();
        all.sort();
        all
    }

    /// Whether a recorded figure of a function has a value, and which.
    async fn figure(&self, name: &str, function: &str) -> Option<f64> {
        let answer = self.ask(&format!("/api/v1/query?query={name}%7Bfunction=%22{function}%22%7D")).await?;
        answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }

    async fn until(&self, what: &str, is_so: impl Fn(&[Alert]) -> bool) -> Vec<Alert> {
        let mut last = Vec::new();
        for _ in 0..150 {
            last = self.alerts().await;
            if is_so(&last) {
                return last;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        panic!("never: {what}; {last:?}\n{}", self.log())
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    async fn has_figures(&self) {
        for _ in 0..150 {
            if self.figure("function:watertight_calls:rate4s", "prom_cart").await.is_some_and(|rate| rate > 1.0)
                && self.figure("function:watertight_attempt_seconds:p99_rate4s", "prom_strip").await.is_some()
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        panic!("it recorded nothing: {}", self.log());
    }
}

fn fires(alerts: &[Alert], name: &str, function: &str) -> bool {
    alerts.iter().any(|it| it.name == name && it.function == function && it.firing)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alert_fires_in_the_outage_names_who_suffers_and_is_gone_after() {
    if !there_is("prometheus") {
        return;
    }
    let serving = Dashboard::new().serve("127.0.0.1:0").await.expect("loopback has a port");
    let watch = Monitoring::new().window(Duration::from_secs(4)).hold(Duration::from_secs(1));
    let rules = watch.only(|it| it.file.ends_with("outage.rs")).rules();
    let prometheus = started(&serving.address().to_string(), &rules);
    let callers = load(4);

    prometheus.has_figures().await;
    for _ in 0..25 {
        let alerts = prometheus.alerts().await;
        assert_eq!(alerts, [], "nobody is harmed, and longer than the window and the hold together");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }

    HANGS.store(true, Ordering::Relaxed);
    let crowd = load(28);
    let alerts = prometheus.until("those that suffer are named", |alerts| {
        fires(alerts, "WatertightCallsFallBack", "prom_strip")
            && fires(alerts, "WatertightTimeoutCuts", "prom_strip")
            && fires(alerts, "WatertightNoSlot", "prom_strip")
            && fires(alerts, "WatertightCallsFail", "prom_price")
    });
    let alerts = alerts.await;
    assert!(alerts.iter().all(|it| it.function != "prom_cart"), "who asks somebody else is well: {alerts:?}");
    assert!(!fires(&alerts, "WatertightCallsFail", "prom_strip"), "its fallback answers: {alerts:?}");
    let price = alerts.iter().find(|it| it.name == "WatertightCallsFail").expect("it fires");
    assert!(price.summary.starts_with("prom_price (") && price.summary.contains("outage.rs:"), "{price:?}");
    assert!(price.summary.ends_with("% of its calls fail"), "{price:?}");

    HANGS.store(false, Ordering::Relaxed);
    drop(crowd);
    prometheus.until("all is well again", <[Alert]>::is_empty).await;
    drop(callers);
    serving.stop().await;
}
