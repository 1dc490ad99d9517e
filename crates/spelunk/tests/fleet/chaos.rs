//! Seeded chaos: while questions arrive, nodes are killed, paused, told to stop, cut off and slowed down, and the NATS
//! server is killed and started again. Afterwards every question has its answer, and the books of the model server agree with the journals.

use std::time::Duration;

use serde_json::Value;
use spelunk_testkit::{ModelServer, Proxy};

use super::{ANSWER, FleetScene, Node, assert_contiguous, n_of};
use crate::scene::{QUESTION, REPLY, n_calls, to_all};

/// The scenarios of an ordinary run; `FLEET_SCENARIOS` asks for more.
const SCENARIOS: u64 = 8;
const WORKERS: usize = 3;

/// A small generator: the same seed, the same scenario.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// What happens to the fleet.
#[derive(Debug)]
enum Harm {
    Kill(usize),
    /// For longer than the lease.
    Pause(usize),
    Stop(usize),
    /// The connection forwards nothing for longer than the lease.
    Partition(usize),
    /// The connection forwards late from now on.
    Slow(usize),
    NatsAway,
}

fn harm(dice: &mut Dice) -> Harm {
    let worker = usize::try_from(dice.roll(WORKERS as u64)).unwrap();
    match dice.roll(12) {
        0..3 => Harm::Kill(worker),
        3..5 => Harm::Pause(worker),
        5..7 => Harm::Stop(worker),
        7..10 => Harm::Partition(worker),
        10 => Harm::Slow(worker),
        _ => Harm::NatsAway,
    }
}

#[test]
fn whatever_is_lost_every_question_is_answered_and_no_recorded_reply_is_paid_twice() {
    let Some(mut fleet) = FleetScene::new() else { return };
    let asked = std::env::var("FLEET_SCENARIOS").ok().and_then(|n| n.parse().ok());
    let n_scenarios: u64 = asked.unwrap_or(SCENARIOS);
    let model = ModelServer::start_blocking([to_all()
        .reply(REPLY)
        .usage(100, 20)
        .chunks(4)
        .delay_ms(150)
        .pace_ms(50)]);
    let name = |idx: usize, life: u64| format!("w{idx}-{life}");
    let proxies: Vec<Proxy> = (0..WORKERS).map(|_| Proxy::to(fleet.nats.port())).collect();
    let start = |fleet: &FleetScene, idx: usize, life: u64| {
        fleet.worker_at(&proxies[idx].url(), &name(idx, life), &model)
    };
    let mut workers: Vec<Node> = (0..WORKERS).map(|idx| start(&fleet, idx, 0)).collect();
    let mut dice = Dice(0x2026_1118);
    let mut n_runs = 0;
    for scenario in 1..=n_scenarios {
        let asking: Vec<_> =
            (0..2).map(|n| fleet.call(&format!("laptop{n}"), &["ask", QUESTION, "notes"]).start()).collect();
        n_runs += asking.len();
        std::thread::sleep(Duration::from_millis(200 + dice.roll(900)));
        let harm = harm(&mut dice);
        match harm {
            Harm::Kill(idx) => {
                workers[idx].kill();
                workers[idx] = start(&fleet, idx, scenario);
            }
            Harm::Pause(idx) => {
                workers[idx].signal("-STOP");
                std::thread::sleep(Duration::from_millis(2_500));
                workers[idx].signal("-CONT");
            }
            Harm::Stop(idx) => {
                workers[idx].signal("-TERM");
                workers[idx].ends();
                workers[idx] = start(&fleet, idx, scenario);
            }
            Harm::Partition(idx) => {
                proxies[idx].cut();
                std::thread::sleep(Duration::from_millis(1_200 + dice.roll(2_000)));
                proxies[idx].heal();
            }
            Harm::Slow(idx) => proxies[idx].delay(Duration::from_millis(dice.roll(40))),
            Harm::NatsAway => {
                fleet.nats.kill();
                std::thread::sleep(Duration::from_millis(300 + dice.roll(1_500)));
                fleet.nats.restart();
            }
        }
        for child in asking {
            let ended = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(
                String::from_utf8_lossy(&ended.stdout),
                ANSWER,
                "scenario {scenario}, {harm:?}: {said}"
            );
        }
    }
    check_books(&fleet, &model, n_runs);
}

/// Compares the journals with the books of the model.
fn check_books(fleet: &FleetScene, model: &ModelServer, n_runs: usize) {
    let listed = fleet.run("looker", &["run", "list", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed.len(), n_runs);
    let (mut n_settled, mut n_wasted) = (0, 0);
    for row in &listed {
        assert_eq!(row["state"], "answered", "{row}");
        let tail = fleet.run("looker", &["tail", row["run"].as_str().unwrap(), "--json"]);
        let events: Vec<Value> =
            tail.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_contiguous(&events);
        assert_eq!(n_of(&events, "call.settled"), 1, "{row}");
        n_settled += 1;
        n_wasted += n_of(&events, "call.wasted");
    }
    // A request is either settled, or was in flight when its node was lost and is counted as such.
    assert!(n_calls(model) <= n_settled + n_wasted, "{} > {n_settled} + {n_wasted}", n_calls(model));
}
