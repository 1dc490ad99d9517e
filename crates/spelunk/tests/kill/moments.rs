//! Moments to kill at: pseudo-random, from a fixed seed, spread over the duration of an undisturbed run; and a helper
//! that kills at each of them, a few in parallel.

use std::process::Child;
use std::time::{Duration, Instant};

/// Parallel processes: they mostly wait, and two cores must suffice.
const PARALLEL: usize = 4;

/// One moment in each of `n` equal parts of `whole`.
pub(super) fn moments(seed: u64, n: u32, whole: Duration) -> Vec<Duration> {
    let mut state = seed;
    let mut moment = |idx: u32| {
        // Knuth's linear congruential generator; its high bits are the good ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fraction = f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX);
        whole.mul_f64((f64::from(idx) + fraction) / f64::from(n))
    };
    (0..n).map(&mut moment).collect()
}

/// Does the work for each moment, a few in parallel. A panic is reported with its moment.
pub(super) fn at_each(moments: &[Duration], work: impl Fn(Duration) + Sync) {
    std::thread::scope(|scope| {
        for lane in 0..PARALLEL {
            let (work, mine) = (&work, moments.iter().skip(lane).step_by(PARALLEL));
            scope.spawn(move || mine.for_each(|moment| work(*moment)));
        }
    });
}

/// Kills the process at this moment, if it is still running.
pub(super) fn kill_at(mut child: Child, moment: Duration) {
    let began = Instant::now();
    while began.elapsed() < moment && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1).min(moment.saturating_sub(began.elapsed())));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
