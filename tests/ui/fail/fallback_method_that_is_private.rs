use watertight::resilient;

#[resilient(timeout = "300ms", fallback = cache.stale(id))]
async fn get(cache: &store::Cache, id: u64) -> Result<u64, watertight::Error> {
    cache.get(id)
}

mod store {
    pub struct Cache;

    impl Cache {
        pub fn get(&self, id: u64) -> Result<u64, watertight::Error> {
            Ok(id)
        }

        fn stale(&self, id: u64) -> u64 {
            id
        }
    }
}

fn main() {}
