//! The rate of a model, by the books of its server: many nodes are no faster than one may be.

use std::time::Instant;

use spelunk_testkit::ModelServer;

use super::Node;
use super::calls::{ASK, PARTS, logs, rules, worker};
use crate::scene::{Ran, n_calls, wait_for};

/// Requests per minute, and how many may come at once.
const RATE: f64 = 900.0;
const BURST: f64 = RATE / 10.0;

#[test]
fn nodes_together_keep_the_rate_of_a_model_and_a_lost_one_takes_nothing_along() {
    let Some(fleet) = logs() else { return };
    let model = ModelServer::start_blocking(rules(|analysts| analysts));
    let settings = format!(
        "roles.root = 'm'\nroles.sub = 'm'\nserver.runs_parallel_max = 1\n[models.m]\nprovider = 'openai'\n\
         name = 'scripted'\nbase_url = '{}'\nrequests_per_minute = {RATE}\n",
        model.base_url()
    );
    std::fs::create_dir_all(fleet.scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(fleet.scene.home().join(".config/spelunk/config.toml"), settings).unwrap();
    let mut nodes: Vec<Node> = ["a", "b", "c"].map(|name| worker(&fleet, name, &model, &[])).into();
    let asking = ["x", "y", "z"].map(|name| fleet.call(name, &ASK).start());
    wait_for("some calls", || (n_calls(&model) > PARTS).then_some(()));
    nodes[1].kill();
    for child in asking {
        let ran = Ran::of(&fleet.scene, child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let calls: Vec<Instant> = model.requests().iter().map(|request| request.at).collect();
    assert!(calls.len() >= 3 * PARTS, "{}", calls.len());
    for (first, from) in calls.iter().enumerate() {
        for (n_later, to) in calls[first..].iter().enumerate() {
            let allowed = RATE * (*to - *from).as_secs_f64() / 60.0 + BURST;
            let n_calls = u32::try_from(n_later + 1).unwrap();
            assert!(f64::from(n_calls) <= allowed, "{n_calls} calls after {first}, but {allowed} at most");
        }
    }
}
