//! Limits are kept, and nobody waits longer than needed.

use proptest::prelude::*;

use super::*;

fn requests(per_minute: u64) -> Rate {
    Rate { requests_per_minute: Some(per_minute), tokens_per_minute: None }
}

fn tokens(per_minute: u64) -> Rate {
    Rate { requests_per_minute: None, tokens_per_minute: Some(per_minute) }
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn without_limits_nobody_waits() {
    let mut bucket = RateBucket::new(Rate::default(), 0);
    for _ in 0..1000 {
        assert_eq!(bucket.take(u64::MAX, 0), Ok(()));
    }
}

#[test]
fn a_tenth_goes_at_once_and_the_rest_is_spread() {
    let mut bucket = RateBucket::new(requests(100), 0);
    for _ in 0..10 {
        assert_eq!(bucket.take(0, 0), Ok(()));
    }
    // 90 per minute is one per 667 ms.
    assert_eq!(bucket.take(0, 0), Err(ms(667)));
    assert_eq!(bucket.take(0, 600), Err(ms(67)));
    assert_eq!(bucket.take(0, 667), Ok(()));
    assert_eq!(bucket.take(0, 667), Err(ms(667)));
}

#[test]
fn the_scarcer_of_both_decides_and_nothing_is_taken_by_a_refusal() {
    let rate = Rate { requests_per_minute: Some(20), tokens_per_minute: Some(1000) };
    let mut bucket = RateBucket::new(rate, 0);
    assert_eq!(bucket.take(100, 0), Ok(()));
    assert_eq!(bucket.take(90, 0), Err(ms(6000)));
    assert_eq!(bucket.take(0, 0), Ok(()));
    assert_eq!(bucket.take(0, 0), Err(ms(3334)));
}

#[test]
fn a_request_larger_than_the_bucket_goes_when_it_is_full_and_is_paid_for_after() {
    let mut bucket = RateBucket::new(tokens(1000), 0);
    assert_eq!(bucket.take(1000, 0), Ok(()));
    // 900 until it is level, 100 more until it is full.
    assert_eq!(bucket.take(1000, 0), Err(ms(66_667)));
    assert_eq!(bucket.take(1000, 66_667), Ok(()));
}

#[test]
fn a_large_request_waits_until_the_minute_has_room_for_all_of_it() {
    let mut bucket = RateBucket::new(tokens(1000), 0);
    // Ten per second for half a minute; then the bucket is full again.
    for second in 0..30 {
        assert_eq!(bucket.take(10, second * 1000), Ok(()));
    }
    assert_eq!(bucket.take(700, 40_000), Ok(()));
    // Amounts expire after a minute, half a second at a time.
    assert_eq!(bucket.clone().take(100, 100_000), Ok(()));
    let mut bucket = RateBucket::new(tokens(1000), 0);
    for second in 0..30 {
        assert_eq!(bucket.take(10, second * 1000), Ok(()));
    }
    assert_eq!(bucket.take(750, 40_000), Err(ms(24_000)));
    assert_eq!(bucket.take(750, 63_999), Err(ms(1)));
    assert_eq!(bucket.take(750, 64_000), Ok(()));
}

#[test]
fn what_is_corrected_a_minute_later_is_of_no_account() {
    let mut bucket = RateBucket::new(tokens(1000), 0);
    assert_eq!(bucket.take(900, 0), Ok(()));
    assert_eq!(bucket.take(900, 70_000), Ok(()));
    // The first has expired; the second still counts in full.
    bucket.settle((900, 0), 0);
    assert_eq!(bucket.take(900, 80_000), Err(ms(50_000)));
    bucket.settle((900, 70_000), 100);
    assert_eq!(bucket.take(900, 80_000), Ok(()));
}

#[test]
fn what_was_not_used_comes_back_and_what_was_used_more_is_owed() {
    let mut bucket = RateBucket::new(tokens(1000), 0);
    assert_eq!(bucket.take(100, 0), Ok(()));
    bucket.settle((100, 0), 20);
    assert_eq!(bucket.take(80, 0), Ok(()));
    bucket.settle((80, 0), 170);
    assert_eq!(bucket.take(1, 0), Err(ms(6067)));
    bucket.settle((1000, 0), 0);
    assert_eq!(bucket.take(100, 0), Ok(()), "no more than a full bucket comes back");
    assert!(bucket.take(1, 0).is_err());
}

#[test]
fn a_clock_that_goes_back_and_huge_numbers_do_no_harm() {
    let mut bucket = RateBucket::new(tokens(u64::MAX), u64::MAX);
    assert_eq!(bucket.take(u64::MAX, 0), Ok(()));
    assert!(bucket.take(u64::MAX, 0).is_err());
    bucket.settle((0, u64::MAX), u64::MAX);
    assert!(bucket.take(0, u64::MAX).is_err());
    assert_eq!(RateBucket::new(requests(0), 0).take(0, 0), Ok(()));
}

proptest! {
    #[test]
    fn no_minute_sees_more_than_its_limit(per_minute in 1..200u64, pauses in prop::collection::vec(0..3000u64, 1..400)) {
        let mut bucket = RateBucket::new(requests(per_minute), 0);
        let mut now_ms = 0;
        let mut granted = Vec::new();
        for pause in pauses {
            now_ms += pause;
            if bucket.take(0, now_ms) == Ok(()) {
                granted.push(now_ms);
            }
        }
        for (idx, start) in granted.iter().enumerate() {
            let in_minute = granted.iter().skip(idx).take_while(|at| **at < start + MINUTE_MS).count() as u64;
            prop_assert!(in_minute <= per_minute, "{in_minute} from {start}");
        }
    }

    /// Including requests larger than the bucket, in first-come, first-served order.
    #[test]
    fn no_minute_sees_more_tokens_than_its_limit(per_minute in 1..5_000u64, wanted in prop::collection::vec((0..100u64, 0..4000u64), 1..300)) {
        let mut bucket = RateBucket::new(tokens(per_minute), 0);
        let mut now_ms = 0;
        let mut granted: Vec<(u64, u64)> = Vec::new();
        for (share, pause) in wanted {
            let tokens = per_minute * share / 99;
            now_ms += pause;
            while let Err(wait) = bucket.take(tokens, now_ms) {
                now_ms += u64::try_from(wait.as_millis()).unwrap();
            }
            granted.push((now_ms, tokens));
        }
        for (idx, (start, _)) in granted.iter().enumerate() {
            let of_minute = granted.iter().skip(idx).take_while(|(at, _)| *at < start + MINUTE_MS);
            let in_minute: u64 = of_minute.map(|(_, tokens)| tokens).sum();
            prop_assert!(in_minute <= per_minute, "{in_minute} of {per_minute} from {start}");
        }
    }

    #[test]
    fn who_waits_as_told_is_let_through_and_not_a_millisecond_before(per_minute in 1..10_000u64, wanted in prop::collection::vec(0..5_000u64, 1..30)) {
        let mut bucket = RateBucket::new(tokens(per_minute), 0);
        let mut now_ms = 0;
        for tokens in wanted {
            if let Err(wait) = bucket.take(tokens, now_ms) {
                let wait_ms = u64::try_from(wait.as_millis()).unwrap();
                prop_assert!(bucket.clone().take(tokens, now_ms + wait_ms - 1).is_err());
                now_ms += wait_ms;
                prop_assert_eq!(bucket.take(tokens, now_ms), Ok(()));
            }
        }
    }
}

#[test]
fn a_part_of_a_rate_begins_empty_and_a_larger_one_adds_nothing_at_once() {
    let mut bucket = RateBucket::new(requests(600), 0);
    bucket.limit_to(requests(300), 0);
    // 270 per minute is one per 223 ms.
    assert_eq!(bucket.take(0, 0), Err(ms(223)));
    assert_eq!(bucket.take(0, 223), Ok(()));
    bucket.limit_to(requests(600), 223);
    // 210 of 60,000 units are left, and 540 come each millisecond.
    assert_eq!(bucket.take(0, 223), Err(ms(111)));
    bucket.limit_to(requests(600), 300);
    assert_eq!(bucket.take(0, 334), Ok(()));
    let mut bucket = RateBucket::new(tokens(6000), 0);
    bucket.limit_to(tokens(600), 0);
    assert_eq!(bucket.take(60, 0), Err(ms(6667)));
    assert_eq!(bucket.take(60, 6667), Ok(()));
}

#[test]
fn the_time_in_which_others_had_the_rate_adds_nothing() {
    let mut bucket = RateBucket::new(requests(600), 0);
    bucket.limit_to(requests(300), 0);
    bucket.pass_over(60_000);
    assert_eq!(bucket.take(0, 60_000), Err(ms(223)));
    assert_eq!(bucket.take(0, 60_223), Ok(()));
}
