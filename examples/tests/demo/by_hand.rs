//! The four pieces as four programs, as they stand in four terminals: the outage, and its cure.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A program that goes on until it is told to stop.
struct Piece {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Drop for Piece {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demo"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Piece {
    /// Started; with the address in its first line.
    fn start(arguments: &[&str]) -> (Self, String) {
        let mut child = demo(arguments).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.split_whitespace().find(|word| word.starts_with("http://"));
        let address = address.unwrap_or_else(|| panic!("no address in {line}")).to_owned();
        (Self { child, out }, address)
    }

    /// Ended by Ctrl-C; what it said until then.
    #[cfg(unix)]
    fn interrupt(mut self) -> String {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.out, &mut said).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{said}");
        said
    }
}

/// Load and probes at the same time, each a program: shares of good answers of `/db` and `/healthy`, and requests of `/work`.
fn load_and_probe(service: &str, seconds: &str) -> (f64, f64, u64) {
    let file =
        |name: &str| std::env::temp_dir().join(format!("watertight-{}-{name}-{seconds}.json", std::process::id()));
    let (loaded, probed) = (file("load"), file("probe"));
    let [work, db, healthy] = ["work", "db", "healthy"].map(|path| format!("{service}/{path}"));
    let load = ["load", &work, "--clients", "30", "--seconds", seconds, "--json", loaded.to_str().unwrap()];
    let probe = ["probe", &db, &healthy, "--every", "100ms", "--seconds", seconds, "--json", probed.to_str().unwrap()];
    let both = [demo(&load).spawn().unwrap(), demo(&probe).spawn().unwrap()];
    for child in both {
        let seen = child.wait_with_output().unwrap();
        assert_eq!(seen.status.code(), Some(0), "{}", String::from_utf8_lossy(&seen.stderr));
        assert!(String::from_utf8_lossy(&seen.stdout).contains(": good "), "a line of figures");
    }
    let read = |path: &std::path::Path| -> Value {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::remove_file(path).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let (loaded, probed) = (read(&loaded), read(&probed));
    let share = |at: usize| probed[at]["success_percent"].as_f64().unwrap();
    (share(0), share(1), loaded[0]["requests"].as_u64().unwrap())
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_programs_make_the_outage_and_one_line_cures_it() {
    let (vendor, asked) = Piece::start(&["vendor", "--answers", "20ms"]);
    let at = asked.trim_end_matches("/recommendations").to_owned();
    let books = async || -> Value { reqwest::get(format!("{at}/books")).await.unwrap().json().await.unwrap() };
    let (bare, url) = Piece::start(&["service", "--vendor", &asked]);

    let (db, healthy, requests) = load_and_probe(&url, "2");
    assert!(db >= 100.0 && healthy >= 100.0, "all is well: /db {db}, /healthy {healthy}");
    let calm = books().await;
    assert!(requests > 100 && calm["attempts"].as_u64() >= Some(100), "{requests}: {calm}");
    assert_eq!((&calm["connections"]["aborted"], &calm["unanswered"]), (&0.into(), &0.into()), "{calm}");

    let behave = |content: &'static str, how: &'static str| {
        reqwest::Client::new().post(format!("{at}/behave")).header("content-type", content).body(how).send()
    };
    assert_eq!(
        behave("text/plain", "\"hang\"").await.unwrap().status(),
        415,
        "as a page of another site could send it"
    );
    assert!(behave("application/json", "\"slow\"").await.unwrap().text().await.unwrap().contains("`mixed` or `fail`"));
    assert_eq!(behave("application/json", "\"hang\"").await.unwrap().status(), 200);

    let (db, healthy, _) = load_and_probe(&url, "4");
    assert!(db < 50.0 && healthy >= 100.0, "the outage: /db {db}, /healthy {healthy}");
    let hung = books().await;
    assert!(hung["connections"]["aborted"].as_u64() >= Some(10), "its callers left: {hung}");
    assert!(bare.interrupt().contains("nothing above the work"));

    let (guarded, url) = Piece::start(&["service", "--guarded", "--vendor", &asked]);
    let (db, healthy, _) = load_and_probe(&url, "3");
    assert!(db >= 100.0 && healthy >= 100.0, "the cure: /db {db}, /healthy {healthy}");
    let said = guarded.interrupt();
    assert!(said.contains("#[resilient(timeout = \"300ms\"") && said.contains("by_hand"), "{said}");

    let last = books().await;
    let count = |of: &Value| of.as_u64().unwrap();
    let connections = &last["connections"];
    assert!(count(&last["peak"]) >= 10 && count(&connections["opened"]) >= count(&connections["closed"]), "{last}");
    assert!(count(&connections["closed"]) >= count(&connections["aborted"]), "{last}");
    assert!(count(&connections["aborted"]) > count(&hung["connections"]["aborted"]), "cut off at 300 ms: {last}");
    let said = vendor.interrupt();
    assert!(said.contains(&format!("aborted {}", connections["aborted"])), "its last line is its books: {said}");
}

#[test]
fn each_piece_explains_itself_and_says_what_to_write_instead() {
    for (piece, part) in
        [("vendor", "--answers"), ("service", "--guarded"), ("load", "--clients"), ("probe", "--every")]
    {
        let seen = demo(&[piece, "--help"]).output().unwrap();
        let shown = String::from_utf8_lossy(&seen.stdout).into_owned();
        assert!(seen.status.success() && shown.contains(part) && shown.contains("Usage: demo"), "{shown}");
        assert!(shown.contains("over four terminals") && shown.contains("/behave"), "the recipe: {shown}");
    }
    for (wrong, instead) in [
        (&["vendor", "--answers", "soon"][..], "write a length such as `50ms` or `5s`"),
        (&["service", "--vendor", "127.0.0.1:1"], "write it whole"),
        (&["load", "http://127.0.0.1:1/", "--clients", "0"], "1..=400"),
        (&["probe"], "<URL>"),
    ] {
        let seen = demo(wrong).output().unwrap();
        let said = String::from_utf8_lossy(&seen.stderr).into_owned();
        assert!(seen.status.code() == Some(2) && said.contains(instead), "{wrong:?}: {said}");
    }
}
