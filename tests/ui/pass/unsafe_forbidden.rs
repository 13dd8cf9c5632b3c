#![forbid(unsafe_code, warnings)]

use watertight::resilient;

#[resilient(timeout = "1s", deadline = "2s", bulkhead = "forbid:2/queue:2", breaker, retry = 1, fallback = spare(&text))]
pub async fn shape(text: String, mut list: Vec<u8>) -> Result<usize, watertight::Error> {
    list.push(1);
    Ok(list.len() + text.len())
}

fn spare(text: &str) -> usize {
    text.len()
}

fn main() {
    drop(shape(String::new(), Vec::new()));
}
