//! The pauses, the decision, and the budget; the budget against a model that keeps plain lists.

use std::time::Duration;

use proptest::prelude::*;

use super::backoff::pause;
use super::budget::{Budget, Ticket};
use super::config::{Allowance, Backoff};
use super::{Config, Next, Seen, Trouble, decide};
use crate::base::clock::Moment;
use crate::base::lane::Lane;
use crate::call::Verdict;
use crate::call::tally::StopReason;

const SECOND: i64 = 1_000_000_000;

mod pauses;

mod decisions;

mod budget;
