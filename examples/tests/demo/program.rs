use std::process::{Command, Output};

use serde_json::Value;

fn demo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_demo")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn results_on_stdout_progress_on_stderr_and_the_same_as_json() {
    let file = std::env::temp_dir().join(format!("watertight-demo-{}.json", std::process::id()));
    let seen = demo(&["--seconds", "1", "--clients", "20", "--json", file.to_str().unwrap()]);
    let written = std::fs::read_to_string(&file);
    let _ = std::fs::remove_file(&file);

    assert_eq!(seen.status.code(), Some(0), "{}", text(&seen.stderr));
    let (shown, progress) = (text(&seen.stdout), text(&seen.stderr));
    for part in ["bare", "annotated", "/cart", "vendor: calls it saw", "recs.rs:", "#[resilient("] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(!shown.contains("cascade"), "the lab's functions are no part of this:\n{shown}");
    assert!(!shown.contains("PARTIAL") && !shown.contains('\u{1b}'), "{shown}");
    assert!(progress.contains("bare  product") && !progress.contains('\u{1b}'), "{progress}");

    let document: Value = serde_json::from_str(&written.unwrap()).unwrap();
    assert_eq!(keys(&document), ["experiment", "partial", "runs", "settings"]);
    assert_eq!(document["experiment"], "outage");
    assert_eq!(document["settings"]["clients"], 20);
    assert_eq!(document["settings"]["seconds"], 1.0);
    assert_eq!(document["settings"]["vendor_answers_after_ms"], Value::Null);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["variant"].as_str().unwrap()).collect::<Vec<_>>(), ["bare", "annotated"]);
    for run in runs {
        let routes = run["routes"].as_array().unwrap();
        assert_eq!(keys(&routes[0]), ["ok", "p50_ms", "p99_ms", "requests", "route", "success_percent"]);
        assert_eq!(routes[2]["route"], "/health");
        assert_eq!(routes[2]["success_percent"], 100.0, "{run}");
        assert!(run["vendor"]["requests"].as_u64().unwrap() > 0, "{run}");
    }
}

#[test]
fn the_check_lists_every_function_and_finds_nothing() {
    let seen = demo(&["check"]);
    let shown = text(&seen.stdout);
    assert_eq!(seen.status.code(), Some(0), "{shown}");
    let row = shown.lines().find(|line| line.starts_with("recommendations")).expect("a row");
    // Three times 300 ms in the queue and 300 ms at work, and 150 ms of pauses.
    assert!(
        row.contains("1950ms") && row.contains("bulkhead = \"recs:8/queue:16\"") && row.contains("recs.rs:"),
        "{row}"
    );

    let seen = demo(&["check", "--json"]);
    let document: Value = serde_json::from_str(&text(&seen.stdout)).unwrap();
    let listed = document["catalogue"].as_array().unwrap();
    let recs = listed.iter().find(|it| it["function"] == "recommendations").unwrap();
    assert_eq!(recs["worst_case"]["longest_ms"], 1950.0);
    assert_eq!(document["check"]["findings"], Value::Array(Vec::new()));
}

#[test]
fn a_file_that_cannot_be_written_is_known_before_the_wait() {
    let seen = demo(&["--json", "/nowhere/at/all.json"]);
    assert_eq!(seen.status.code(), Some(1));
    assert!(text(&seen.stderr).contains("cannot write /nowhere/at/all.json"), "{}", text(&seen.stderr));
}

#[test]
fn the_lab_lists_what_it_can_do_and_refuses_what_it_cannot() {
    let seen = demo(&["lab", "list"]);
    let shown = text(&seen.stdout);
    assert_eq!(seen.status.code(), Some(0), "{shown}");
    assert!(shown.contains("cascade  How slow may a vendor get"), "{shown}");

    let seen = demo(&["lab", "cascades"]);
    assert_eq!(seen.status.code(), Some(2));
    assert!(text(&seen.stderr).contains("there are defaults, cascade, "), "{}", text(&seen.stderr));
}

#[cfg(unix)]
#[test]
fn an_interrupted_experiment_says_so_and_decides_nothing() {
    use std::io::Read;
    use std::process::Stdio;

    let mut child = Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(["lab", "drain"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The experiment's name: it is about to begin, and the signal has been claimed.
    child.stderr.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let seen = child.wait_with_output().unwrap();
    assert_eq!(seen.status.code(), Some(130), "{}", text(&seen.stderr));
    let shown = text(&seen.stdout);
    assert!(shown.contains("Interrupted") && shown.contains("0 of 0 claims held"), "{shown}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_at_once_with_partial_results() {
    use std::io::Read;
    use std::process::Stdio;

    let mut child = Command::new(env!("CARGO_BIN_EXE_demo"))
        .args(["--seconds", "600"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first line of progress: it is under way.
    child.stderr.as_mut().unwrap().read_exact(&mut [0; 20]).unwrap();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let seen = child.wait_with_output().unwrap();
    assert_eq!(seen.status.code(), Some(130), "{}", text(&seen.stderr));
    let shown = text(&seen.stdout);
    assert!(shown.contains("PARTIAL") && shown.contains("bare (partial)"), "{shown}");
    assert!(!shown.contains("Annotated:"), "{shown}");
}

#[test]
fn the_flood_says_where_it_is_and_what_was_counted() {
    let seen = demo(&["flood", "--seconds", "2"]);
    let shown = text(&seen.stdout);
    assert_eq!(seen.status.code(), Some(0), "{}", text(&seen.stderr));
    assert!(shown.starts_with("the flood is at http://127.0.0.1:"), "{shown}");
    let row = shown.lines().find(|line| line.contains("search") && line.contains("common")).expect("a row");
    let served = row.split('┆').nth(3).and_then(|cell| cell.trim().parse::<u64>().ok());
    assert!(served > Some(3), "{row}");
}
