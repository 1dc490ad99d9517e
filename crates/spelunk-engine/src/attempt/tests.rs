use super::*;

fn waits(error: &ModelError) -> Vec<Option<u64>> {
    let call: CallId = "0#0".parse().unwrap();
    (1..=5).map(|n_failed| wait_ms(error, &call, n_failed, &Limits::default())).collect()
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

#[test]
fn what_the_provider_asks_for_is_honoured_up_to_the_limit() {
    let limited = |seconds| ModelError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
    assert_eq!(waits(&limited(7))[0], Some(7_000));
    assert_eq!(waits(&limited(3_600))[0], Some(60_000));
}

#[test]
fn what_cannot_get_better_is_not_tried_again() {
    let refused = ModelError::RequestRefused { status: 400, detail: "no".into() };
    assert_eq!(waits(&refused), [None; 5]);
}
