use spelunk_types::StopReason;

use super::*;

fn run(name: &str) -> RunId {
    format!("rlm-20260101T000000Z-{name}").parse().unwrap()
}

fn waits(error: &ModelError) -> Vec<Option<u64>> {
    let (run, call) = (run("00000001"), "0#0".parse().unwrap());
    let wait = |n_failed| wait(error, (&run, &call), n_failed, &Limits::default());
    (1..=5).map(|n_failed| wait(n_failed).map(|wait| wait.wait_ms)).collect()
}

#[test]
fn waits_double_within_their_jitter_and_end_after_three() {
    let waits = waits(&ModelError::StreamCut);
    for (wait, doubled) in waits.iter().zip([500, 1000, 2000]) {
        let wait = wait.unwrap();
        assert!((doubled / 2..=doubled).contains(&wait), "{wait} for {doubled}");
    }
    assert_eq!(waits[3..], [None, None]);
}

fn limited(seconds: u64) -> ModelError {
    ModelError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) }
}

#[test]
fn what_the_provider_asks_for_is_honoured_up_to_the_limit() {
    assert!((7_000..=8_400).contains(&waits(&limited(7))[0].unwrap()));
    assert!((59_000..=60_000).contains(&waits(&limited(59))[0].unwrap()));
    assert!((48_000..=60_000).contains(&waits(&limited(3_600))[0].unwrap()));
}

/// Whatever the error, calls of one run, and one call of many runs, return one by one; none returns before the pause
/// is over.
#[test]
fn those_that_were_refused_together_do_not_return_together() {
    for error in [limited(7), limited(3_600), ModelError::Overloaded { retry_after: None }] {
        let of = |run: &RunId, ordinal: u32| {
            let call = format!("0#{ordinal}").parse().unwrap();
            wait(&error, (run, &call), 1, &Limits::default()).unwrap()
        };
        let calls: Vec<Wait> = (0..32).map(|ordinal| of(&run("00000001"), ordinal)).collect();
        let runs: Vec<Wait> = (0..32).map(|idx| of(&run(&format!("{idx:08x}")), 0)).collect();
        for waits in [calls, runs] {
            let times: std::collections::BTreeSet<u64> = waits.iter().map(|wait| wait.wait_ms).collect();
            assert!(times.len() > 24, "{error:?}: {times:?}");
            assert!(waits.iter().all(|wait| wait.pause_ms <= wait.wait_ms), "{waits:?}");
            assert!(waits.iter().all(|wait| wait.pause_ms == waits[0].pause_ms), "{waits:?}");
        }
    }
}

#[test]
fn what_has_come_of_a_reply_may_have_to_be_paid_for() {
    let (nothing, something) = (ReceivedTokens::default(), ReceivedTokens::default());
    something.see(&ModelDelta::Reasoning("Hm, well.".into()));
    assert_eq!(something.tokens(), 3);
    nothing.see(&ModelDelta::Text(String::new()));
    let silent = ModelError::TimedOut { after_ms: 1 };
    assert!(!may_cost(&silent, &nothing) && may_cost(&silent, &something));
    assert!(!may_cost(&limited(1), &nothing));
    assert!(may_cost(&ModelError::StreamCut, &nothing));
    let empty = ModelError::ReplyEmpty { stop: StopReason::Finished, usage: None };
    assert!(may_cost(&empty, &nothing));
}

#[test]
fn what_cannot_get_better_is_not_tried_again() {
    let refused = ModelError::RequestRefused { status: 400, detail: "no".into() };
    assert_eq!(waits(&refused), [None; 5]);
}
