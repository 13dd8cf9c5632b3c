//! The crate that is compiled: functions as a service has them, each a few lines that await something, and a `main` that
//! needs all of them, since the compiler makes no code for a future that nobody polls.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::measure::cargo;

/// One way to annotate a function.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) attribute: &'static str,
}

const MANIFEST: &str = r#"[package]
name = "cost"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
tokio = { version = "1", features = ["rt", "time"] }
tracing = { version = "0.1", default-features = false, features = ["attributes", "std"] }
watertight = { path = "@" }

[profile.release]
strip = true
codegen-units = 1
"#;

const HEAD: &str = "#![allow(unused_imports, dead_code)]
use std::future::Future;
use std::pin::Pin;
use watertight::resilient;

#[derive(Debug)]
pub enum AppError { Refused(watertight::Error), NotFound, Parse(std::num::ParseIntError) }
impl From<watertight::Error> for AppError { fn from(error: watertight::Error) -> Self { Self::Refused(error) } }
impl From<std::num::ParseIntError> for AppError { fn from(error: std::num::ParseIntError) -> Self { Self::Parse(error) } }

#[derive(Debug)]
pub struct Row { id: u64, name: String }

pub async fn load(id: u64) -> Result<String, AppError> {
    tokio::task::yield_now().await;
    if id == 0 { Err(AppError::NotFound) } else { Ok(id.to_string()) }
}

fn nothing() -> Vec<Row> { Vec::new() }
";

/// Makes the crate and builds what it depends on.
pub(crate) fn set_up(folder: &Path) -> Result<(), String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = tests.join("../runtime").canonicalize().map_err(|error| error.to_string())?;
    save(&folder.join("Cargo.toml"), &MANIFEST.replace('@', &runtime.to_string_lossy()))?;
    // The workspace's own versions, which are the ones at hand without a network.
    let lock = fs::read_to_string(tests.join("../Cargo.lock")).map_err(|error| error.to_string())?;
    save(&folder.join("Cargo.lock"), &lock)?;
    write(folder, &Variant { name: "", attribute: "" }, 1)?;
    for arguments in [&["check"][..], &["build"], &["build", "--release"]] {
        cargo(folder, arguments)?;
    }
    Ok(())
}

/// Writes the functions under one attribute.
pub(crate) fn write(folder: &Path, variant: &Variant, functions: usize) -> Result<(), String> {
    let (mut text, attribute) = (HEAD.to_owned(), variant.attribute);
    let mut calls = String::new();
    for n in 0..functions {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "
{attribute}
pub async fn find{n}(id: u64, name: String) -> Result<Vec<Row>, AppError> {{
    let text = load(id + {n}).await?;
    let parsed: u64 = text.parse()?;
    if parsed == id {{
        return Err(AppError::NotFound);
    }}
    let other = load(parsed).await?;
    Ok(vec![Row {{ id: parsed, name }}, Row {{ id, name: other }}])
}}
"
        );
        let _ = writeln!(calls, "    all.push(Box::pin(find{n}({n}, String::new())));");
    }
    let _ = write!(
        text,
        "
type All = Vec<Pin<Box<dyn Future<Output = Result<Vec<Row>, AppError>>>>>;
fn main() {{
    let mut all: All = Vec::new();
{calls}
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    if let Ok(runtime) = runtime {{
        runtime.block_on(async {{
            for call in all {{
                let _ = call.await;
            }}
        }});
    }}
}}
"
    );
    save(&folder.join("src/main.rs"), &text)
}

fn save(path: &Path, text: &str) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(told)?;
    }
    fs::write(path, text).map_err(told)
}
