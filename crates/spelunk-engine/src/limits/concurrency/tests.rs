use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;

use super::*;

/// Sends `n_calls` calls of one second through the limit and returns the maximum in flight.
async fn peak(concurrency: &Arc<ConcurrencyLimit>, n_calls: usize) -> usize {
    let (now, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
    join_all((0..n_calls).map(async |_| {
        let _pass = concurrency.enter().await;
        peak.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(1)).await;
        now.fetch_sub(1, Ordering::Relaxed);
    }))
    .await;
    peak.into_inner()
}

#[tokio::test(start_paused = true)]
async fn it_opens_to_the_limit() {
    let concurrency = Arc::new(ConcurrencyLimit::new(8));
    assert_eq!(peak(&concurrency, 100).await, 8);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_halves_it_and_a_wave_of_refusals_halves_it_once() {
    let concurrency = Arc::new(ConcurrencyLimit::new(8));
    for _ in 0..8 {
        concurrency.narrow(Duration::from_millis(500));
    }
    assert_eq!(concurrency.width(), 4);
    // Free permits are withdrawn at once.
    assert_eq!(peak(&concurrency, 100).await, 4);
}

#[tokio::test(start_paused = true)]
async fn nobody_goes_through_before_the_pause_is_over() {
    let concurrency = ConcurrencyLimit::new(8);
    let before = Instant::now();
    concurrency.narrow(Duration::from_millis(700));
    concurrency.narrow(Duration::from_millis(900));
    drop(concurrency.enter().await);
    assert_eq!(before.elapsed(), Duration::from_millis(900));
}

#[tokio::test(start_paused = true)]
async fn it_widens_by_one_after_a_round_of_successes_up_to_the_limit() {
    let concurrency = ConcurrencyLimit::new(4);
    concurrency.narrow(Duration::ZERO);
    let mut widths = Vec::new();
    for _ in 0..8 {
        concurrency.widen();
        widths.push(concurrency.width());
    }
    assert_eq!(widths, [2, 3, 3, 3, 4, 4, 4, 4]);
}

#[tokio::test(start_paused = true)]
async fn it_never_closes_for_good() {
    let concurrency = Arc::new(ConcurrencyLimit::new(2));
    for _ in 0..5 {
        concurrency.narrow(Duration::from_millis(1));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(concurrency.width(), 1);
    assert_eq!(peak(&concurrency, 3).await, 1);
}

#[tokio::test(start_paused = true)]
async fn half_is_half_of_what_was_in_flight_and_places_in_use_are_withdrawn_when_they_come_back() {
    let concurrency = Arc::new(ConcurrencyLimit::new(100));
    let passes = join_all((0..6).map(async |_| concurrency.enter().await)).await;
    concurrency.narrow(Duration::ZERO);
    assert_eq!(concurrency.width(), 3);
    drop(passes);
    assert_eq!(peak(&concurrency, 100).await, 3);
    concurrency.narrow_above(Duration::ZERO, 8);
    assert_eq!(concurrency.width(), 3);
}
