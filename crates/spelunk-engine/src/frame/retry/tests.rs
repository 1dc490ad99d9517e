//! The order in which the models of a chain are called, and their rate limits.

use spelunk_model::{FallbackModel, Rate};
use spelunk_types::ModelRef;

use super::*;
use crate::testing::Named;

fn named(name: &str, requests_per_minute: u64) -> Arc<dyn Model> {
    let reference = ModelRef { provider: "p".into(), name: name.into(), base_url: "u".into() };
    let requests_per_minute = Some(requests_per_minute);
    Arc::new(Named(reference, Rate { requests_per_minute, ..Rate::default() }))
}

#[tokio::test(start_paused = true)]
async fn each_model_of_a_chain_has_its_own_pace_and_shares_it_with_those_who_ask_it_alone() {
    let rate_limits = RateLimits::default();
    let (one, other) = (named("one", 60), named("other", 600));
    let chain: Arc<dyn Model> =
        Arc::new(FallbackModel::new(Arc::clone(&one), vec![Arc::clone(&other), named("third", 1)]));
    let of_chain = links(&chain, &rate_limits);
    for (link, alone) in of_chain.iter().zip([&one, &other]) {
        let alone = links(alone, &rate_limits);
        assert_eq!(alone.len(), 1);
        assert!(Arc::ptr_eq(&link.rate_limit, &alone[0].rate_limit));
    }
    // A refusal by one model narrows only its own limit.
    of_chain[1].rate_limit.refused(Duration::from_secs(9));
    drop(of_chain[0].rate_limit.enter(1).await);
    let began = Instant::now();
    drop(of_chain[1].rate_limit.enter(1).await);
    assert_eq!(began.elapsed(), Duration::from_secs(9));
}

#[tokio::test(start_paused = true)]
async fn one_that_was_out_is_asked_last_until_it_has_rested_or_answered() {
    let rate_limits = RateLimits::default();
    let chain: Arc<dyn Model> =
        Arc::new(FallbackModel::new(named("a", 1), vec![named("b", 1), named("c", 1)]));
    let links = links(&chain, &rate_limits);
    let broken = ModelError::ServerError { status: 500, detail: String::new() };
    for expected in [[0, 1, 2], [0, 1, 2], [1, 2, 0]] {
        links[0].rate_limit.failed(&broken);
        assert_eq!(order(&links), expected);
    }
    links[1].rate_limit.failed(&ModelError::TimedOut { after_ms: 1 });
    assert_eq!(order(&links), [2, 0, 1]);
    links[0].rate_limit.succeeded(Duration::ZERO);
    assert_eq!(order(&links), [0, 2, 1]);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(order(&links), [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn one_without_capacity_is_left_alone_for_as_long_as_it_asks() {
    let rate_limits = RateLimits::default();
    let chain: Arc<dyn Model> = Arc::new(FallbackModel::new(named("a", 600), vec![named("b", 600)]));
    let links = links(&chain, &rate_limits);
    let turns =
        futures_util::future::join_all((0..8).map(async |_| links[0].rate_limit.enter(1).await)).await;
    links[0].rate_limit.overloaded(Duration::from_secs(9));
    // A reply to an earlier request does not shorten the wait.
    links[0].rate_limit.succeeded(Duration::ZERO);
    assert_eq!(order(&links), [1, 0]);
    drop(turns);
    let began = Instant::now();
    let held = futures_util::future::join_all((0..4).map(async |_| links[0].rate_limit.enter(1).await)).await;
    assert_eq!(began.elapsed(), Duration::from_secs(9));
    assert!(
        tokio::time::timeout(Duration::from_secs(1), links[0].rate_limit.enter(1)).await.is_err(),
        "half as many"
    );
    drop(held);
    assert_eq!(order(&links), [0, 1]);
}
