//! One module per fixed fault, named after it: what went wrong, the smallest program that showed it, and what holds now.

mod panic_keeps_a_lent_slot;
