use std::collections::HashMap;

use watertight::Error;

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn wrong_type(id: u64) -> Result<u64, Error> {
    let text: String = id;
    Ok(text.len() as u64)
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn missing_semicolon(id: u64) -> Result<u64, Error> {
    if id > 5 {
        id
    }
    Ok(id)
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn unknown_method(id: u64) -> Result<u64, Error> {
    Ok(id.lenght())
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn wrong_tail(id: u64) -> Result<u64, Error> {
    Ok("text")
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn wrong_return(id: u64) -> Result<u64, Error> {
    if id > 5 {
        return Ok("text");
    }
    Ok(id)
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn no_answer(id: u64) -> Result<u64, Error> {
    let _ = id;
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn not_a_result(id: u64) -> Result<u64, Error> {
    id
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn wrong_question_mark(id: u64) -> Result<u64, Error> {
    let parsed: u64 = "5".parse()?;
    Ok(parsed + id)
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn borrowed_twice(mut map: HashMap<u64, String>) -> Result<u64, Error> {
    let first = map.get(&1);
    map.clear();
    Ok(first.map_or(0, |text| text.len() as u64))
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn used_after_move(text: String) -> Result<u64, Error> {
    drop(text);
    Ok(text.len() as u64)
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn not_mutable(list: Vec<u64>) -> Result<u64, Error> {
    list.push(5);
    Ok(5)
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn awaits_nothing(id: u64) -> Result<u64, Error> {
    Ok(id.await)
}

#[watertight::resilient(timeout = "300ms", hedge = "50ms", idempotent)]
async fn wrong_argument(id: u64) -> Result<u64, Error> {
    takes_text(id);
    Ok(id)
}

fn takes_text(text: &str) {
    drop(text);
}

fn main() {}
