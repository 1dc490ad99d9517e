//! Deciding and doing: runs, frames, replay, purse, strategies.
