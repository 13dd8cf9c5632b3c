//! The script in a real Redis and its twin in Rust, asked the same.

use redis::{Client, Connection, Script};

use super::super::grant::Grants;
use super::super::store::Answer;
use super::*;

const ADDRESS: &str = "127.0.0.1:6379";

/// A Redis, if there is one.
fn find() -> Option<Connection> {
    match Client::open(format!("redis://{ADDRESS}/")).and_then(|client| client.get_connection()) {
        Ok(connection) => Some(connection),
        Err(error) => {
            let required = std::env::var("WATERTIGHT_REQUIRE_SERVICES").is_ok_and(|it| it == "1");
            assert!(!required, "no Redis at {ADDRESS}: {error}");
            println!("skipped, no Redis at {ADDRESS}");
            None
        }
    }
}

/// The script with a clock that says what it is told, since the server's own cannot be.
fn told_the_time() -> Script {
    let script = include_str!("../sync.lua");
    let clock = "tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)";
    assert!(script.contains(clock), "the line that reads the clock");
    Script::new(&script.replace(clock, "tonumber(redis.call('GET', KEYS[1] .. ':now'))"))
}

struct Server {
    connection: Connection,
    script: Script,
    prefix: String,
}

impl Server {
    fn sync(&mut self, now: u64, ask: &Ask) -> Result<Answer, String> {
        let key = |what: &str| format!("{}:{what}", self.prefix);
        let mut clock = redis::cmd("SET");
        clock.arg(key("members:now")).arg(now).exec(&mut self.connection).expect("a clock");
        let mut question = self.script.prepare_invoke();
        for what in ["members", "leases", "sums"] {
            question.key(key(what));
        }
        question.arg(&*ask.process).arg(ask.number).arg(ask.lease).arg(ask.dice).arg(u8::from(ask.leaves));
        for claim in &ask.claims {
            question.arg(&*claim.limit).arg(claim.whole).arg(claim.held).arg(claim.want);
        }
        let told: Vec<u32> = question.invoke(&mut self.connection).map_err(|error| error.to_string())?;
        Ok(Answer { replicas: told[0], settled: told[1] == 1, hurry: told[2] == 1, shares: told[3..].to_vec() })
    }

    fn forget(&mut self) {
        for what in ["members", "leases", "sums", "members:now"] {
            let mut gone = redis::cmd("DEL");
            gone.arg(format!("{}:{what}", self.prefix)).exec(&mut self.connection).expect("forgets");
        }
    }
}

/// What a process does next, drawn from a seed.
fn draw(random: &mut fastrand::Rng, held: &mut [[u32; 3]; 7], number: u64) -> (usize, Ask) {
    let at = random.usize(..held.len());
    let limits = [("recs", 64), ("api", 1_000_000), ("few", 3)];
    let mut claims = Vec::new();
    for (limit, whole) in limits.iter().enumerate() {
        if random.u8(..10) > 0 {
            let want = if random.bool() { random.u32(..=whole.1) } else { random.u32(..=3) };
            let whole_said = if random.u8(..20) == 0 { whole.1 / 2 } else { whole.1 };
            claims.push(claim(whole.0, whole_said, held[at][limit], want));
        }
    }
    let mut asked = ask(&format!("p{at}"), number, claims);
    asked.dice = at as u32 * 142_857;
    asked.leaves = random.u8(..40) == 0;
    (at, asked)
}

#[test]
fn a_question_about_as_many_keys_as_take_part_is_answered_in_milliseconds() {
    let Some(connection) = find() else { return };
    let prefix = format!("watertight-test:{{{:x}}}", fastrand::u64(..));
    let mut server = Server { connection, script: told_the_time(), prefix };
    for keys in [1_u32, 16, 256] {
        let claims = (0..keys).map(|key| claim(&format!("k:tenants:{key:016x}"), 100, 1, 2)).collect::<Vec<_>>();
        let mut lengths = Vec::new();
        for number in 1..60_u64 {
            let asked = ask(&format!("p{}", number % 8), number, claims.clone());
            let started = tokio::time::Instant::now();
            server.sync(1_000_000 + number, &asked).expect("in order");
            lengths.push(started.elapsed());
        }
        server.forget();
        lengths.sort_unstable();
        let median = lengths[lengths.len() / 2];
        println!("{keys} limits in a question: {median:.1?}, a round trip for the clock included");
        assert!(median < std::time::Duration::from_millis(100), "{median:?}");
    }
}

#[test]
fn the_script_and_its_twin_give_the_same_answers() {
    let Some(connection) = find() else { return };
    let prefix = format!("watertight-test:{{{:x}}}", fastrand::u64(..));
    let mut server = Server { connection, script: told_the_time(), prefix };
    for seed in 0..12 {
        let (mut random, mut grants, mut held) = (fastrand::Rng::with_seed(seed), Grants::default(), [[0; 3]; 7]);
        let mut now = 1_000_000;
        server.forget();
        for number in 1..300 {
            now += match random.u8(..60) {
                0 => 1_500,
                1 => 700,
                _ => random.u64(1..60),
            };
            let late = random.u8(..30) == 0;
            let (at, asked) = draw(&mut random, &mut held, if late { 1 } else { number });
            let (ours, theirs) = (grants.sync(now, &asked), server.sync(now, &asked));
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => {
                    assert_eq!(ours, theirs, "seed {seed}, question {number}: {asked:?}");
                    for (claim, share) in asked.claims.iter().zip(ours.shares) {
                        let limit =
                            ["recs", "api", "few"].iter().position(|it| **it == *claim.limit).expect("one of three");
                        held[at][limit] = share;
                    }
                }
                (Err(_), Err(why)) => assert!(why.contains("LATE"), "{why}"),
                (ours, theirs) => panic!("seed {seed}, question {number}: {ours:?} and {theirs:?}"),
            }
        }
    }
    server.forget();
}
