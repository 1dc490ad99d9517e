//! `kill -9` inside a cell of the recursive loop, and in the middle of a fan-out of analysts.

use std::time::{Duration, Instant};

use serde_json::Value;
use spelunk_testkit::{ModelServer, Rule, when};

use super::moments::{at_each, kill_at, moments};
use crate::scene::{NOTE, QUESTION, Scene, n_calls};

const SEED: u64 = 15;
const MOMENTS: u32 = 16;
/// More than are ever in flight here.
const REPEATS_MAX: usize = 4;

/// A run and its expected result.
struct Story {
    files: &'static [(&'static str, &'static str)],
    arguments: &'static [&'static str],
    rules: fn() -> Vec<Rule>,
    n_calls: usize,
    answer: &'static str,
}

const LOOP: Story = Story {
    files: &NOTE,
    arguments: &["ask", QUESTION, "notes", "--strategy", "repl", "--no-cache"],
    rules: || {
        let slow = |rule: Rule| rule.chunks(3).delay_ms(30).pace_ms(10);
        vec![
            slow(when(|prompt| prompt.contains("SUB: first")).reply("forty")),
            slow(when(|prompt| prompt.contains("SUB: second")).reply("two")),
            slow(when(|prompt| prompt.contains("turns left")).reply("```repl\nFINAL('-'.join(said))\n```")),
            slow(when(|prompt| prompt.contains("Question:")).reply(
                "```repl\nsaid = []\nfor which in ['first', 'second']:\n    said.append(llm_query('SUB: ' + which + context[:3]))\nprint(said)\n```",
            )),
        ]
    },
    n_calls: 4,
    answer: "forty-two\n",
};

const MAP: Story = Story {
    files: &[("notes/a.md", "Alpha is first.\n"), ("notes/b.csv", "n\n1\n"), ("notes/c.py", "x = 1\n")],
    arguments: &["ask", "Review it", "notes", "--strategy", "map", "--no-cache"],
    rules: || {
        let slow = |rule: Rule| rule.chunks(3).delay_ms(30).pace_ms(10);
        vec![
            slow(when(|prompt| prompt.contains("final part of a report")).reply("## Summary\n\nAll of it.")),
            slow(when(|prompt| prompt.contains("You combine")).reply("## Summary\n\nOne kind.")),
            slow(
                when(|prompt| prompt.contains("Question:"))
                    .reply(r#"{"relevant": true, "answer": "Something.", "findings": []}"#),
            ),
        ]
    },
    n_calls: 7,
    answer: "## Summary\n\nAll of it.\n\n## Per-File Findings\n\nNo findings.\n\n## Coverage\n\n- 3 documents, read in 3 tasks\n",
};

impl Story {
    fn killed_at(&self, moment: Duration) {
        let (scene, server) = (Scene::new(self.files), ModelServer::start_blocking((self.rules)()));
        let ask = || scene.spelunk(self.arguments.iter().copied()).server(&server);
        kill_at(ask().start(), moment);
        let run = scene.runs().pop().filter(|run| !scene.journal(run).is_empty());
        let ran = match &run {
            Some(run) => scene.spelunk(["resume", run]).run(),
            None => ask().run(),
        };
        assert_eq!((ran.code, ran.stdout.as_str()), (0, self.answer), "killed at {moment:?}: {}", ran.stderr);
        let run = run.unwrap_or_else(|| scene.runs().pop().unwrap());
        let settled = |event: &&Value| event["type"] == "call.settled";
        assert_eq!(scene.journal(&run).iter().filter(settled).count(), self.n_calls, "killed at {moment:?}");
        let n_asked = n_calls(&server);
        let n_counted = scene.calls_reported();
        assert!(n_asked as u64 <= n_counted, "killed at {moment:?}: {n_counted} calls, {n_asked} requests");
        assert!(n_asked <= self.n_calls + REPEATS_MAX, "killed at {moment:?}: {n_asked} requests");
        assert_eq!(server.unexpected(), []);
    }

    fn killed_at_any_moment(&'static self) {
        let (scene, server) = (Scene::new(self.files), ModelServer::start_blocking((self.rules)()));
        let began = Instant::now();
        let ran = scene.spelunk(self.arguments.iter().copied()).server(&server).run();
        let whole = began.elapsed();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, self.answer), "{}", ran.stderr);
        assert_eq!(n_calls(&server), self.n_calls);
        at_each(&moments(SEED, MOMENTS, whole), |moment| self.killed_at(moment));
    }
}

#[test]
fn killed_inside_a_cell_the_loop_goes_on_inside_it() {
    LOOP.killed_at_any_moment();
}

#[test]
fn killed_in_a_fan_out_the_analysts_that_were_done_are_not_asked_again() {
    MAP.killed_at_any_moment();
}
