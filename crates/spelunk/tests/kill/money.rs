//! Repeated `kill -9` of one run whose provider fails now and then: every request that the provider saw is reported as
//! a call.

use std::time::Duration;

use spelunk_testkit::{Fault, ModelServer, status, when};

use super::moments::{kill_at, moments};
use crate::scene::{Scene, n_calls, wait_for};

const SEED: u64 = 659;
const KILLS: u32 = 12;
const FILES: [(&str, &str); 3] =
    [("notes/a.md", "Alpha is first.\n"), ("notes/b.csv", "n\n1\n"), ("notes/c.py", "x = 1\n")];

fn server() -> ModelServer {
    let slow = |rule: spelunk_testkit::Rule| {
        rule.fault(Fault::CutStream).fault(status(429).retry_after_ms(1)).chunks(3).delay_ms(60).pace_ms(30)
    };
    ModelServer::start_blocking([
        slow(when(|prompt| prompt.contains("final part of a report")).reply("## Summary\n\nAll of it.")),
        slow(when(|prompt| prompt.contains("You combine")).reply("## Summary\n\nOne kind.")),
        slow(
            when(|prompt| prompt.contains("Question:"))
                .reply(r#"{"relevant": true, "answer": "Something.", "findings": []}"#),
        ),
    ])
}

#[test]
fn killed_again_and_again_a_run_reports_every_request_it_sent() {
    let (scene, server) = (Scene::new(&FILES), server());
    let ask = ["ask", "Review it", "notes", "--strategy", "map", "--no-cache"];
    let asking = scene.spelunk(ask).server(&server).impatient().start();
    wait_for("a request", || (n_calls(&server) > 0).then_some(()));
    kill_at(asking, Duration::ZERO);
    for moment in moments(SEED, KILLS, Duration::from_millis(600)) {
        kill_at(scene.spelunk(["resume"]).impatient().start(), moment);
    }
    let ran = scene.spelunk(["resume"]).impatient().run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (n_sent, n_counted) = (n_calls(&server) as u64, scene.calls_reported());
    assert!(n_sent <= n_counted, "{n_sent} requests were sent, {n_counted} are reported");
    // Calls that were counted but not sent were about to be: per kill, at most the number in flight.
    assert!(
        n_counted <= n_sent + u64::from(KILLS) * 4,
        "{n_sent} requests were sent, {n_counted} are reported"
    );
}
