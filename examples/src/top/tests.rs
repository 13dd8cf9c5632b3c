//! The view in a terminal that is none: of figures by hand, of a live dashboard, and of one that goes away.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use watertight::resilient;

use super::draw;
use super::feed::{Events, Heard, base, follow};
use super::view::{Act, View};

fn drawn(view: &View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a buffer");
    terminal.draw(|frame| draw(frame, view)).expect("drawn");
    let buffer = terminal.backend().buffer().clone();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

fn site(name: &str, harmed: f64) -> serde_json::Value {
    let mut minute = vec![0; 19];
    (minute[0], minute[4]) = (600, if harmed > 0.0 { 300 } else { 0 });
    json!({
        "id": format!("shop::{name}@12"), "name": name, "source": "src/shop.rs:12",
        "calls_per_second": 15.0, "harmed_per_second": harmed, "reason": (harmed > 0.0).then_some("no slot"),
        "minute": minute, "total": 900, "rate": vec![10; 60], "harm": vec![u64::from(harmed > 0.0); 60],
        "latency": { "quantiles": [3.0, 9.0, 48.0, null], "timeout": 50.0 },
        "saturation": { "name": "recs", "peak": 8, "slots": 8, "queued": 16, "keyed": false },
        "factor": 1.25, "breaker": { "name": name, "state": if harmed > 0.0 { "open" } else { "closed" } }, "observing": false,
        "something_new": [1, 2, 3],
    })
}

fn wall() -> Heard {
    let wall = json!({
        "headline": "recommendations hurts most: 50 of its 150 calls in the last 10 s (33 %) were answered by the fallback, most of \
                     them by: no slot (`recs` had 8 of 8 slots taken and 16 waiting).",
        "harmed": true, "calls_per_second": 30.0, "harmed_per_second": 5.0,
        "sites": [site("recommendations", 5.0), site("cart", 0.0), { "id": "shop::idle@9", "name": "idle" }],
        "bulkheads": [{ "name": "recs", "slots": 8, "running": 8, "queued": 16, "peak": 8 }],
        "breakers": [{ "name": "recommendations", "state": "open" }, { "name": "cart", "state": "closed" }],
    });
    Heard::Wall(Box::new(serde_json::from_value(wall).expect("a wall")))
}

fn function() -> Heard {
    let mut classes = vec!["ok".to_owned()];
    classes.extend((1..19).map(|at| format!("class {at}")));
    let mut frame = vec![0; 19];
    (frame[0], frame[4]) = (5, 5);
    let function = json!({
        "id": "shop::recommendations@12", "name": "recommendations", "module": "shop", "source": "src/shop.rs:12",
        "attribute": "#[resilient(timeout = \"50ms\", bulkhead = \"recs:8/queue:16\")]",
        "fates": { "classes": classes, "frames": vec![frame.clone(); 120], "total": frame },
        "latency": { "quantiles": [[3.0, 9.0, 48.0, null], [null, null, null, null]], "timeout": 50.0 },
        "picker": { "advice": { "timeout_ms": 50.0, "cut_by_timeout": { "share": 0.125 }, "advised_timeout": { "ms": 130.0 } } },
        "retry": { "calls": 100, "attempts": 125, "ladder": [{ "attempt": "1", "begun": 100, "answered": 75 },
            { "attempt": "2", "begun": 25, "answered": 20 }], "stops": [{ "reason": "budget", "count": 5 }] },
        "compartment": { "name": "recs", "now": { "running": 8, "queued": 16, "slots": 8 }, "queue": 16, "full_share": 0.5,
            "shared_by": ["recommendations", "cart"] },
        "breaker": { "name": "recommendations", "state": "open", "failures": 57, "results": 100, "opened": 1,
            "changes": [{ "ago": 4.0, "text": "from closed to open: 57 of 100 failed" }] },
        "deadline": { "deadline": 2000.0, "waiting": 12.0, "answered": 9.0, "cut_off": 6.0, "too_late_share": 0.01 },
        "keys": { "busiest": [{ "key": "loud", "count": 15 }] },
    });
    Heard::Function(Box::new(serde_json::from_value(function).expect("a function")))
}

fn view() -> View {
    let mut view = View::new("http://127.0.0.1:7878/".to_owned());
    view.hear(wall());
    view
}

#[test]
#[allow(clippy::needless_raw_string_hashes)] // as `UPDATE_EXPECT` writes them
fn the_first_screen_fits_80_by_24() {
    expect_test::expect![[r#"
        watertight http://127.0.0.1:7878/  live, 30 calls/s, 5 harmed/s
        recommendations hurts most: 50 of its 150 calls in the last 10 s (33 %) were
        answered by the fallback, most of them by: no slot (`recs` had 8 of 8 slots
        taken and 16 waiting).
          function            harm/s minute   calls    p99    limit  slots    att.  brk.
        > recommendations     5      █████▒▒▒ ████████ 48ms   50ms   8/8+16   1.25  OPEN
          cart                0      ████████ ████████ 48ms   50ms   8/8+16   1.25  shut
          idle                never                    -      -













        █ ok  ▓ ok after a retry  ▒ fallback  × failed  · dropped
        recs full: 8 of 8 run, 16 wait   breaker recommendations open
        ↑↓ choose   Enter panels   / find   q quit"#]]
    .assert_eq(&drawn(&view(), 80, 24));
}

#[test]
fn a_wide_terminal_has_the_median_too_and_a_tiny_one_breaks_nothing() {
    let wide = drawn(&view(), 120, 30);
    assert!(wide.contains("p50") && wide.contains("3.0ms"), "{wide}");
    for (width, height) in [(1, 1), (10, 3), (40, 8), (300, 100)] {
        drawn(&view(), width, height);
        let mut opened = view();
        opened.key(key(KeyCode::Enter));
        opened.hear(function());
        drawn(&opened, width, height);
    }
}

#[test]
fn enter_shows_the_panels_of_the_row_that_is_stood_on_and_escape_leads_back() {
    let mut view = view();
    assert_eq!(view.key(key(KeyCode::Down)), Act::Nothing);
    assert_eq!(view.key(key(KeyCode::Up)), Act::Nothing);
    assert_eq!(view.key(key(KeyCode::Enter)), Act::Show(Some("shop::recommendations@12".to_owned())));
    assert!(drawn(&view, 80, 24).contains("Reading its figures."));
    view.hear(function());
    expect_test::expect![[r#"
        watertight http://127.0.0.1:7878/  live, 30 calls/s, 5 harmed/s
        recommendations  shop, src/shop.rs:12
        #[resilient(timeout = "50ms", bulkhead = "recs:8/queue:16")]

        calls a second, 10 at most; below, in red, those that failed or fell back
        ████████████████████████████████████████████████████████████████████████████████
        ████████████████████████████████████████████████████████████████████████████████
        ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
        Ends, 1200 calls in two minutes       Attempts
        █    50 %    600  ok                  p50 3.0ms  p90 9.0ms  p99 48ms  p99.9 -
        ▒    50 %    600  class 4             timeout 50ms cuts off 12 %
        10 since the process started          130ms would cut off one in a thousand
                                              Retries
                                              1.25 attempts a call
                                              answered at attempt 1: 75 of 100, 2: 20 of
                                              25
                                              not tried again: budget 5
                                              Slots of recs
                                              8 of 8 run, 16 of 16 wait
                                              full in 50 % of the seconds shown
                                              shared by recommendations, cart
                                              Breaker recommendations
                                              OPEN  57 of 100 failed, opened 1 times
        Esc all functions   ↑↓ scroll   q quit"#]]
    .assert_eq(&drawn(&view, 80, 24));
    assert_eq!(view.key(key(KeyCode::Esc)), Act::Show(None));
    assert!(drawn(&view, 80, 24).contains("hurts most"));
    assert_eq!(view.key(key(KeyCode::Char('q'))), Act::Quit);
    assert_eq!(view.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Act::Quit);
}

#[test]
fn what_is_stood_on_is_a_function_and_not_a_place() {
    let mut view = view();
    view.key(key(KeyCode::Down));
    assert_eq!(view.place(), Some(1));
    view.wall.sites.swap(0, 1);
    assert_eq!(view.place(), Some(0), "it moved up, and what is stood on with it");
    view.key(key(KeyCode::End));
    assert_eq!(view.place(), Some(2));
    view.key(key(KeyCode::Char('/')));
    for c in "CART".chars() {
        view.key(key(KeyCode::Char(c)));
    }
    assert!(view.typing && view.rows().len() == 1, "found whatever the case is");
    view.key(key(KeyCode::Enter));
    assert_eq!(view.key(key(KeyCode::Enter)), Act::Show(Some("shop::cart@12".to_owned())));
}

#[test]
fn a_name_cannot_command_the_terminal() {
    let mut view = view();
    view.wall.sites[0].name = "a\u{1b}[2Jb".to_owned();
    view.wall.headline = "x\u{1b}]0;owned\u{7}".to_owned();
    let screen = drawn(&view, 80, 24);
    assert!(!screen.chars().any(|c| c.is_control() && c != '\n'), "{screen:?}");
}

#[test]
fn events_are_whole_wherever_chunks_end() {
    let whole = b"event: wall\ndata: {\"a\":1}\n\n: quiet\n\nevent: wall\ndata: {\"a\":2}\n\ndata: {";
    for cut in 0..whole.len() {
        let mut events = Events::default();
        let mut all = events.take(&whole[..cut]);
        all.extend(events.take(&whole[cut..]));
        assert_eq!(all, ["{\"a\":1}", "{\"a\":2}"], "cut at {cut}");
    }
}

#[test]
fn an_address_is_what_somebody_types() {
    for typed in ["127.0.0.1:7878", "http://127.0.0.1:7878", "http://127.0.0.1:7878/?id=x"] {
        assert_eq!(base(typed).expect("an address"), "http://127.0.0.1:7878/");
    }
    assert_eq!(base("host/internal/watertight/").expect("an address"), "http://host/internal/watertight/");
    assert!(base("https://host/").unwrap_err().to_string().contains("served over http"));
    assert!(base("http://").is_err());
}

#[resilient(timeout = "20ms", bulkhead = "top-live:2", fallback = || Ok(0))]
async fn top_live(hangs: bool) -> Result<u32, watertight::Error> {
    if hangs {
        std::future::pending::<()>().await;
    }
    Ok(1)
}

/// Takes in what comes until the screen shows what it should.
async fn until(view: &mut View, heard: &mut mpsc::Receiver<Heard>, is_so: impl Fn(&str) -> bool) -> String {
    let mut screen = String::new();
    for _ in 0..60 {
        screen = drawn(view, 120, 40);
        if is_so(&screen) {
            return screen;
        }
        if let Ok(Some(it)) = tokio::time::timeout(Duration::from_millis(500), heard.recv()).await {
            view.hear(it);
        }
    }
    panic!("it never came:\n{screen}")
}

#[tokio::test]
async fn a_live_dashboard_is_shown_its_end_is_said_and_its_return_is_found() {
    let serving = watertight::dashboard::serve("127.0.0.1:0").await.expect("loopback has a port");
    let address = serving.address();
    let (wants, wanted) = watch::channel(None);
    let (say, mut heard) = mpsc::channel(16);
    let mut view = View::new(base(&address.to_string()).expect("an address"));
    let feeding = tokio::spawn(follow(view.base.clone(), wanted, say));

    futures::future::join_all((0..10).map(|_| top_live(true))).await;
    let screen = until(&mut view, &mut heard, |screen| screen.contains("top_live hurts most")).await;
    assert!(screen.contains("live, ") && screen.contains("q quit"), "{screen}");

    for c in "/top_live".chars() {
        view.key(key(KeyCode::Char(c)));
    }
    view.key(key(KeyCode::Enter));
    let Act::Show(Some(id)) = view.key(key(KeyCode::Enter)) else { panic!("it is one of the rows") };
    wants.send_replace(Some(id));
    let shown = ["bulkhead = \"top-live:2\"", "fallback: no slot", "fallback: timed out", "Slots of top-live"];
    until(&mut view, &mut heard, |screen| shown.iter().all(|text| screen.contains(text))).await;

    serving.stop().await;
    until(&mut view, &mut heard, |screen| screen.contains("asking again")).await;
    let again = watertight::dashboard::serve(address).await.expect("the port is free again");
    until(&mut view, &mut heard, |screen| screen.contains("live, ")).await;
    drop(heard);
    tokio::time::timeout(Duration::from_secs(10), feeding)
        .await
        .expect("it ends when nobody listens")
        .expect("it ends well");
    again.stop().await;
}
