//! The store that a fleet has in common, in a Redis.
//!
//! A question is one `EVALSHA`: one round trip, one step of the server, whatever else it does. The script is `sync.lua`, which
//! is loaded when the server does not know it. It reads the server's clock (`TIME`) and no other. Three keys hold everything
//! there is, and are gone by themselves some time after the last process: `{NAME}:members`, `{NAME}:leases`, `{NAME}:sums`,
//! in one slot of a cluster.
//!
//! The connection is that of the library: it is made when it is first needed, shared, and made anew when it was lost. A
//! question that is answered by nothing but a broken connection is a failure like any other; the next one, a fifth of a lease
//! later, goes over the new one.
//!
//! Invariant: a question is never asked twice by itself.

use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, RedisError, Script};

use super::store::{Answer, Ask, Failure, Store};

/// A connection, and the script.
pub(super) struct Redis {
    connection: Connection,
    script: Script,
    keys: [String; 3],
}

/// Made with the first question, inside the runtime that will drive it.
enum Connection {
    Planned(Client, Duration),
    Made(ConnectionManager),
}

impl Redis {
    /// `patience` is how long an answer may take.
    pub(super) fn new(client: Client, fleet: &str, patience: Duration) -> Self {
        let key = |what: &str| format!("watertight:{{{fleet}}}:{what}");
        Self {
            connection: Connection::Planned(client, patience),
            script: Script::new(include_str!("sync.lua")),
            keys: ["members", "leases", "sums"].map(key),
        }
    }

    fn connection(&mut self) -> Result<ConnectionManager, RedisError> {
        match &self.connection {
            Connection::Made(manager) => Ok(manager.clone()),
            Connection::Planned(client, patience) => {
                let config = ConnectionManagerConfig::new()
                    .set_response_timeout(Some(*patience))
                    .set_connection_timeout(Some(*patience))
                    .set_min_delay(Duration::from_millis(20))
                    .set_max_delay(*patience)
                    .set_number_of_retries(3);
                let manager = ConnectionManager::new_lazy_with_config(client.clone(), config)?;
                self.connection = Connection::Made(manager.clone());
                Ok(manager)
            }
        }
    }
}

fn failure(error: &RedisError) -> Failure {
    Failure(error.to_string())
}

impl Store for Redis {
    async fn sync(&mut self, ask: &Ask) -> Result<Answer, Failure> {
        let mut connection = self.connection().map_err(|error| failure(&error))?;
        let mut question = self.script.prepare_invoke();
        for key in &self.keys {
            question.key(key);
        }
        question.arg(&*ask.process).arg(ask.number).arg(ask.lease).arg(ask.dice).arg(u8::from(ask.leaves));
        for claim in &ask.claims {
            question.arg(&*claim.limit).arg(claim.whole).arg(claim.held).arg(claim.want);
        }
        let told: Vec<u32> = question.invoke_async(&mut connection).await.map_err(|error| failure(&error))?;
        let [replicas, settled, hurry, shares @ ..] = &told[..] else {
            return Err(Failure(format!("an answer of {} numbers", told.len())));
        };
        Ok(Answer { replicas: *replicas, settled: *settled == 1, hurry: *hurry == 1, shares: shares.to_vec() })
    }
}
