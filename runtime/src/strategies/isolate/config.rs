//! What a site declares about its threads.

/// A declaration: `"NAME:THREADS/queue:N/wait:DUR"`, or a name declared elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub(crate) name: &'static str,
    pub(crate) limits: Option<Limits>,
    pub(crate) wait: Option<u64>,
}

/// How many threads there may be and how many callers may wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) threads: u32,
    pub(crate) queue: u32,
}

impl Limits {
    /// What a name gets that nobody declared: enough to work, and reported by the check.
    pub(crate) const UNDECLARED: Self = Self { threads: 4, queue: 0 };

    /// The stricter of two declarations, figure by figure, so that the outcome does not depend on who came first.
    pub(crate) fn stricter(self, other: Self) -> Self {
        Self { threads: self.threads.min(other.threads), queue: self.queue.min(other.queue) }
    }
}

impl Config {
    /// Declares up to `threads` threads and no queue under a name.
    pub const fn new(name: &'static str, threads: u32) -> Self {
        Self { name, limits: Some(Limits { threads, queue: 0 }), wait: None }
    }

    /// Joins threads that another site declares.
    pub const fn join(name: &'static str) -> Self {
        Self { name, limits: None, wait: None }
    }

    /// Lets up to `queue` callers wait.
    #[must_use]
    pub const fn queue(mut self, queue: u32) -> Self {
        if let Some(limits) = self.limits {
            self.limits = Some(Limits { queue, ..limits });
        }
        self
    }

    /// Bounds a wait, in nanoseconds. Without it a caller waits at most the site's timeout, else a second.
    #[must_use]
    pub const fn wait(mut self, nanos: u64) -> Self {
        self.wait = Some(nanos);
        self
    }
}
