use proptest::prelude::*;

use super::*;

fn budget(calls: u64, tokens: u64, cost: u64) -> Arc<Budget> {
    let limits =
        Limits { calls_max: calls, tokens_max: tokens, cost_microusd_max: cost, ..Limits::default() };
    Budget::new(&limits, 0, Usage::default())
}

fn usage(tokens: u64, cost_microusd: u64) -> Usage {
    Usage { input_tokens: tokens, cost_microusd, ..Usage::default() }
}

#[test]
fn a_reservation_counts_until_it_is_settled_or_dropped() {
    let budget = budget(10, 100, 100);
    let first = budget.reserve(usage(60, 10)).unwrap();
    let second = budget.reserve(usage(40, 10)).unwrap();
    assert_eq!(budget.held(), (2, 100, 20));
    first.settle(usage(5, 1));
    assert_eq!(budget.held(), (2, 45, 11));
    drop(second);
    assert_eq!(budget.held(), (1, 5, 1));
}

#[test]
fn the_first_refusal_is_the_last_word() {
    let budget = budget(10, 100, 100);
    let exceeded = BudgetExceeded { limit: "tokens_max", value: 100 };
    assert_eq!(budget.reserve(usage(101, 0)).unwrap_err(), exceeded);
    assert_eq!(budget.reserve(usage(1, 0)).unwrap_err(), exceeded);
    assert_eq!(budget.held(), (0, 0, 0));
}

#[test]
fn each_limit_refuses_by_its_own_name() {
    let refusal = |budget: Arc<Budget>| budget.reserve(usage(2, 2)).unwrap_err().to_string();
    assert_eq!(refusal(budget(0, 9, 9)), "call limit reached (0)");
    assert_eq!(refusal(budget(9, 1, 9)), "token limit reached (1)");
    assert_eq!(refusal(budget(9, 9, 1)), "cost limit reached ($0.000001)");
}

#[test]
fn an_attempt_without_a_reply_is_paid_for_and_may_leave_too_little_for_another() {
    let budget = budget(10, 100, 100);
    let call = budget.reserve(usage(40, 10)).unwrap();
    assert!(call.send() && !call.send(), "the first request is told from those after it");
    call.spend(usage(40, 9));
    assert_eq!((call.again(), budget.held()), (Ok(()), (2, 80, 19)));
    call.spend(usage(40, 9));
    let exceeded = BudgetExceeded { limit: "tokens_max", value: 100 };
    assert_eq!((call.again(), budget.held()), (Err(exceeded.clone()), (2, 120, 28)));
    drop(call);
    assert_eq!(budget.held(), (2, 80, 18), "two requests were sent");
    assert_eq!(budget.reserve(usage(1, 1)).unwrap_err(), exceeded, "the first refusal is the last word");
}

#[test]
fn a_sub_call_that_spent_leaves_enough_to_conclude_with_or_is_not_tried_again() {
    let budget = budget(10, 100, 100);
    let kept = KeptBudget { calls: 1, usage: usage(30, 30) };
    let (part, other) =
        (budget.reserve_leaving(usage(20, 5), &kept), budget.reserve_leaving(usage(20, 5), &kept));
    let (part, other) = (part.unwrap(), other.unwrap());
    part.spend(usage(31, 5));
    assert_eq!(part.again(), Err(BudgetExceeded { limit: "tokens_max", value: 100 }));
    drop((part, other));
    assert!(budget.reserve(usage(69, 5)).is_ok(), "a refusal of a sub-call is not the last word");
}

#[test]
fn a_request_that_is_tried_again_is_another_call() {
    let budget = budget(2, 100, 100);
    let call = budget.reserve(usage(1, 1)).unwrap();
    call.send();
    assert_eq!((call.again(), budget.held().0), (Ok(()), 2));
    let exceeded = BudgetExceeded { limit: "calls_max", value: 2 };
    assert_eq!((call.again(), budget.held().0), (Err(exceeded), 2));
    call.settle(usage(1, 1));
    assert_eq!(budget.held(), (2, 1, 1));
}

#[derive(Debug, Clone)]
enum Step {
    Spend(usize, u64, u64),
    Reserve(u64, u64),
    Settle(usize, u64, u64),
    Drop(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..60u64, 0..60u64).prop_map(|(tokens, cost)| Step::Reserve(tokens, cost)),
        (0..8usize, 0..60u64, 0..60u64).prop_map(|(idx, tokens, cost)| Step::Settle(idx, tokens, cost)),
        (0..8usize).prop_map(Step::Drop),
        (0..8usize, 0..60u64, 0..60u64).prop_map(|(idx, tokens, cost)| Step::Spend(idx, tokens, cost)),
    ]
}

proptest! {
    /// Under any interleaving, the held amount is what was settled or spent plus what is still reserved, and a
    /// reservation is granted only within the limits.
    #[test]
    fn the_purse_balances_under_any_interleaving(steps in proptest::collection::vec(step(), 0..80)) {
        let budget = budget(12, 300, 300);
        let mut open: Vec<(Reservation, u64, u64)> = Vec::new();
        let mut settled = (0, 0, 0);
        for step in steps {
            match step {
                Step::Reserve(tokens, cost) => {
                    if let Ok(reservation) = budget.reserve(usage(tokens, cost)) {
                        open.push((reservation, tokens, cost));
                        let (calls, tokens, cost) = budget.held();
                        prop_assert!(calls <= 12 && tokens <= 300 && cost <= 300);
                    }
                }
                Step::Settle(idx, tokens, cost) if idx < open.len() => {
                    open.remove(idx).0.settle(usage(tokens, cost));
                    settled = (settled.0 + 1, settled.1 + tokens, settled.2 + cost);
                }
                Step::Drop(idx) if idx < open.len() => drop(open.remove(idx)),
                Step::Spend(idx, tokens, cost) if idx < open.len() => {
                    open[idx].0.spend(usage(tokens, cost));
                    settled = (settled.0, settled.1 + tokens, settled.2 + cost);
                }
                Step::Spend(..) | Step::Settle(..) | Step::Drop(_) => {}
            }
            let reserved = open.iter().fold((0, 0, 0), |sum, (_, tokens, cost)| (sum.0 + 1, sum.1 + tokens, sum.2 + cost));
            prop_assert_eq!(budget.held(), (settled.0 + reserved.0, settled.1 + reserved.1, settled.2 + reserved.2));
        }
    }
}

#[test]
fn a_limit_is_raised_with_the_flag_that_people_use() {
    let flags = [
        ("calls_max", 5, "--max-calls 10"),
        ("calls_max", 0, "--max-calls 1"),
        ("tokens_max", 1_000, "--max-tokens 2000"),
        ("cost_microusd_max", 5_000, "--max-cost 0.01"),
        ("cost_microusd_max", 5_000_000, "--max-cost 10"),
        ("cost_microusd_max", 1, "--max-cost 0.000002"),
        ("run_ms_max", 1_200, "--max-time 3s"),
        ("frame_ms_max", 7, "--set limits.frame_ms_max=14"),
    ];
    for (limit, value, flag) in flags {
        assert_eq!(raising_flag(limit, value), flag);
    }
}
