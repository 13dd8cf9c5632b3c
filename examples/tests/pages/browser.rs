//! Headless Chromium, driven over its debugging protocol: keys are pressed as a person would.
//!
//! Where there is none it says so and the test passes; with `WATERTIGHT_REQUIRE_SERVICES=1` it fails.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// How long the browser may take for anything.
const PATIENCE: Duration = Duration::from_mins(1);

/// A page in a browser.
pub(crate) struct Browser {
    child: Child,
    profile: PathBuf,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    session: Option<String>,
    sent: u64,
    /// What scripts complained about, and what the policy refused.
    pub(crate) console: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// The browser's name, if there is one.
fn installed() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).exists())
    });
    if found.is_none() {
        let required = std::env::var_os("WATERTIGHT_REQUIRE_SERVICES").is_some_and(|it| it == "1");
        assert!(!required, "WATERTIGHT_REQUIRE_SERVICES=1, and there is no Chromium");
        eprintln!("skipped: there is no Chromium here");
    }
    found
}

/// Where pictures go: beside what was built.
fn pictures() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    folder
}

impl Browser {
    /// A page at an address; none where there is no browser.
    pub(crate) async fn open(url: &str) -> Option<Self> {
        let profile = pictures().join(format!("profile-{}-{}", std::process::id(), fastrand::u64(..)));
        let mut child = Command::new(installed()?)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let listening = async {
            while let Some(line) = lines.next_line().await.expect("text") {
                if let Some(at) = line.strip_prefix("DevTools listening on ") {
                    return at.to_owned();
                }
            }
            panic!("the browser ended");
        };
        let at = timeout(PATIENCE, listening).await.expect("in time");
        // Somebody has to go on reading, or the browser stops at a full pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let (socket, _) = connect_async(at).await.expect("the browser takes commands");
        let mut browser = Self { child, profile, socket, session: None, sent: 0, console: Vec::new() };
        let target = browser.command("Target.createTarget", json!({ "url": "about:blank" })).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.command("Target.attachToTarget", attach).await;
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            browser.command(domain, json!({})).await;
        }
        browser.look(1200, false).await;
        browser.command("Page.navigate", json!({ "url": url })).await;
        Some(browser)
    }

    /// Ends it; what it wrote goes when this is dropped.
    pub(crate) async fn close(mut self) {
        self.command("Browser.close", json!({})).await;
        let _ = timeout(PATIENCE, self.child.wait()).await;
    }

    async fn command(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.socket.send(Message::text(message.to_string())).await.expect("sent");
        loop {
            let message = timeout(PATIENCE, self.socket.next()).await.expect("in time").expect("open").expect("read");
            let Ok(text) = message.to_text() else { continue };
            let told: Value = serde_json::from_str(text).unwrap_or_default();
            if told["id"] == self.sent {
                assert!(told["error"].is_null(), "{method}: {}", told["error"]);
                return told["result"].clone();
            }
            match told["method"].as_str() {
                Some("Log.entryAdded") => self.console.push(told["params"]["entry"]["text"].to_string()),
                Some("Runtime.exceptionThrown") => self.console.push(told["params"]["exceptionDetails"].to_string()),
                _ => {}
            }
        }
    }

    /// What an expression comes to, on the page.
    pub(crate) async fn ask(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        self.command("Runtime.evaluate", asked).await["result"]["value"].clone()
    }

    /// The text of the first element that is meant, as a person would read it.
    pub(crate) async fn text(&mut self, selector: &str) -> String {
        let text = self.ask(&format!("document.querySelector({})?.innerText ?? ''", json!(selector))).await;
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Presses a key and lets it go.
    pub(crate) async fn press(&mut self, key: &str, code: u32) {
        let text = if key == " " { " " } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let pressed = json!({ "type": kind, "key": key, "code": if key == " " { "Space" } else { key },
                "windowsVirtualKeyCode": code, "text": if kind == "keyDown" { text } else { "" } });
            self.command("Input.dispatchKeyEvent", pressed).await;
        }
    }

    /// Goes on by the tabulator until an element has the focus.
    pub(crate) async fn tab_to(&mut self, id: &str) {
        for _ in 0..12 {
            if self.ask("document.activeElement.id").await == id {
                return;
            }
            self.press("Tab", 9).await;
        }
        panic!("{id} cannot be reached by keyboard");
    }

    /// So wide, light or dark.
    pub(crate) async fn look(&mut self, width: u32, dark: bool) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", size).await;
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.command("Emulation.setEmulatedMedia", media).await;
    }

    /// A picture of the whole page in three ways: wide, narrow, dark. Nothing may stick out of the narrow one.
    pub(crate) async fn pictures(&mut self, name: &str) {
        use std::io::Write;
        for (how, width, dark) in [("wide", 1200, false), ("narrow", 360, false), ("dark", 1200, true)] {
            self.look(width, dark).await;
            let across = self.ask("document.documentElement.scrollWidth").await;
            assert!(across.as_u64().is_some_and(|across| across <= u64::from(width)), "{name} {how}: {across} wide");
            let shot = self.command("Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await;
            let bytes = decode(shot["data"].as_str().expect("a picture"));
            let file = pictures().join(format!("{name}-{how}.png"));
            std::fs::File::create(&file).and_then(|mut file| file.write_all(&bytes)).expect("written");
            assert!(bytes.len() > 10_000, "{} was drawn", file.display());
        }
        self.look(1200, false).await;
    }
}

/// Base 64, as the protocol has it: standard alphabet, padded.
fn decode(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut out, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        (bits, held) = (bits << 6 | u32::from(value(byte)), held + 6);
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from(bits >> held & 0xff).expect("a byte"));
        }
    }
    out
}
