use futures_util::future::join_all;
use spelunk_types::ModelRef;

use super::*;
use crate::testing::Named;

const SECOND: Duration = Duration::from_secs(1);

fn rate(requests: Option<u64>, tokens: Option<u64>) -> Rate {
    Rate { requests_per_minute: requests, tokens_per_minute: tokens }
}

/// Sends calls without duration, all at once, and returns when the last of them was sent.
async fn all_sent(rate_limit: &RateLimit, n_calls: usize, tokens: u64) -> Duration {
    let began = Instant::now();
    join_all((0..n_calls).map(async |_| drop(rate_limit.enter(tokens).await))).await;
    began.elapsed()
}

#[tokio::test(start_paused = true)]
async fn without_a_rate_nobody_waits() {
    assert_eq!(all_sent(&RateLimit::new(Rate::default()), 1000, 1_000_000).await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn requests_of_a_minute_are_spread() {
    let rate_limit = RateLimit::new(rate(Some(60), None));
    // Six at once, then 54 in a minute.
    assert_eq!(all_sent(&rate_limit, 6, 0).await, Duration::ZERO);
    let waited = all_sent(&rate_limit, 54, 0).await;
    assert!(waited >= 59 * SECOND && waited <= 61 * SECOND, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn tokens_that_were_not_used_are_given_back() {
    let rate_limit = RateLimit::new(rate(None, Some(60_000)));
    let turn = rate_limit.enter(6000).await;
    turn.settle(100);
    drop(turn);
    assert_eq!(all_sent(&rate_limit, 1, 5900).await, Duration::ZERO);
    assert!(all_sent(&rate_limit, 1, 5900).await >= 6 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_large_call_is_not_overtaken_by_small_ones_for_ever() {
    let rate_limit = RateLimit::new(rate(None, Some(200_000)));
    // Small ones use up the tokens as they arrive, and keep coming.
    drop(rate_limit.enter(20_000).await);
    let small = async {
        for _ in 0..100 {
            join_all((0..10).map(async |_| drop(rate_limit.enter(2_000).await))).await;
        }
    };
    let large = async {
        sleep(SECOND).await;
        let began = Instant::now();
        drop(rate_limit.enter(60_000).await);
        began.elapsed()
    };
    let (small, large) = (std::pin::pin!(small), std::pin::pin!(large));
    match futures_util::future::select(large, small).await {
        futures_util::future::Either::Left((waited, _)) => assert!(waited <= 60 * SECOND, "{waited:?}"),
        futures_util::future::Either::Right(_) => panic!("it was overtaken a thousand times"),
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_gives_up_its_place_lets_the_next_through() {
    let rate_limit = RateLimit::new(rate(None, Some(60_000)));
    drop(rate_limit.enter(6_000).await);
    assert!(tokio::time::timeout(SECOND, rate_limit.enter(6_000)).await.is_err());
    assert!(all_sent(&rate_limit, 1, 900).await <= SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_share_is_asked_for_during_the_whole_of_a_long_wait() {
    let rate_limit = RateLimit::new(rate(Some(60), None));
    let asked = Mutex::new(Vec::new());
    let began = Instant::now();
    // A sixtieth of the rate: one call a minute.
    let share = || {
        lock(&asked).push(Instant::now());
        Some(rate(Some(1), None))
    };
    for _ in 0..2 {
        drop(rate_limit.enter_within(0, Some(&share)).await);
    }
    let asked = lock(&asked);
    assert!(began.elapsed() >= 50 * SECOND, "{:?}", began.elapsed());
    let longest = asked.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(longest <= SECOND + Duration::from_millis(2), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_leaves_half_of_those_in_flight() {
    let rate_limit = RateLimit::new(Rate::default());
    let turns = join_all((0..8).map(async |_| rate_limit.enter(0).await)).await;
    rate_limit.refused(SECOND);
    drop(turns);
    sleep(SECOND).await;
    let held = join_all((0..4).map(async |_| rate_limit.enter(0).await)).await;
    assert!(tokio::time::timeout(SECOND, rate_limit.enter(0)).await.is_err());
    drop(held);
    assert_eq!(all_sent(&rate_limit, 100, 0).await, Duration::ZERO);
}

/// How many can be in flight now.
async fn width(rate_limit: &RateLimit) -> usize {
    let mut turns = Vec::new();
    while let Ok(turn) = tokio::time::timeout(Duration::from_millis(1), rate_limit.enter(0)).await {
        turns.push(turn);
        assert!(turns.len() < 10_000);
    }
    turns.len()
}

#[tokio::test(start_paused = true)]
async fn first_words_that_come_late_narrow_it_and_not_below_a_few() {
    let rate_limit = RateLimit::new(Rate::default());
    let turns = join_all((0..64).map(async |_| rate_limit.enter(0).await)).await;
    for _ in 0..20 {
        rate_limit.succeeded(SECOND / 2);
    }
    for _ in 0..200 {
        rate_limit.succeeded(20 * SECOND);
    }
    drop(turns);
    let narrowed = width(&rate_limit).await;
    assert!((CROWDED_WIDTH_MIN..40).contains(&narrowed), "{narrowed}");
}

#[tokio::test(start_paused = true)]
async fn words_that_are_always_slow_or_always_quick_are_no_crowd() {
    for first_word in [SECOND / 100, 30 * SECOND] {
        let rate_limit = RateLimit::new(Rate::default());
        for _ in 0..500 {
            rate_limit.succeeded(first_word);
        }
        assert_eq!(width(&rate_limit).await as u64, WIDTH_MAX);
    }
}

#[test]
fn a_model_has_one_pace_for_all_and_another_model_has_its_own() {
    let named = |name: &str, requests| {
        let reference = ModelRef { provider: "p".into(), name: name.into(), base_url: "u".into() };
        Named(reference, rate(requests, None))
    };
    let rate_limits = RateLimits::default();
    let other_handle = rate_limits.clone();
    assert!(Arc::ptr_eq(&rate_limits.of(&named("a", None)), &other_handle.of(&named("a", None))));
    assert!(!Arc::ptr_eq(&rate_limits.of(&named("a", None)), &rate_limits.of(&named("b", None))));
    assert!(!Arc::ptr_eq(&rate_limits.of(&named("a", None)), &rate_limits.of(&named("a", Some(5)))));
    for idx in 0..2 * MODELS_MAX {
        rate_limits.of(&named(&idx.to_string(), None));
    }
    assert!(rate_limits.by_model.lock().unwrap().len() <= MODELS_MAX);
}
