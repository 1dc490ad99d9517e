//! A simulated weak model: it misses things, repeats itself, misquotes, names files it was not given, and breaks its
//! format, each at a fixed rate and from a seed. Whatever it does, the run ends, everything reported is in the text
//! or marked, and nothing it saw is lost.

use std::sync::Arc;

use futures_util::stream;
use spelunk_context::ScanOptions;
use spelunk_engine::{Engine, RunRequest, RunSettings, SystemClock};
use spelunk_journal::Workspace;
use spelunk_model::{Model, ModelDelta, ModelFacts, ModelStream, Prompt};
use spelunk_testkit::FaultDisk;
use spelunk_types::{CallId, Focus, ModelRef, RunOutcome, SourceSpec, StopReason, Strategy};

use crate::stage::quick_limits;

const FILES: usize = 30;
const SEEDS: u64 = 12;

/// How often something goes wrong, in percent.
#[derive(Clone, Copy)]
struct Rates {
    miss: u64,
    twice: u64,
    misquote: u64,
    other_file: u64,
    garble: u64,
}

struct WeakModel {
    reference: ModelRef,
    seed: u64,
    rates: Rates,
}

impl WeakModel {
    fn dice(&self, what: &str, of: &str) -> u64 {
        let hash = spelunk_journal::digest(format!("{} {what} {of}", self.seed).as_bytes());
        u64::from_str_radix(hash.to_string().get(..8).unwrap(), 16).unwrap() % 100
    }

    /// Reports every line with a flaw, as well as it can.
    fn report(&self, prompt: &Prompt, call: &CallId) -> String {
        let text = &prompt.messages[0].text;
        if prompt.system.contains("[F3]") {
            return "## Summary\n\nFlaws [F1] [F999].".to_owned();
        }
        let (mut file, mut findings) = (String::new(), Vec::new());
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("<document name=\"") {
                name.trim_end_matches("\">").clone_into(&mut file);
            }
            let Some((number, rest)) = line.split_once("| ") else { continue };
            let Some(flaw) = rest.strip_prefix("FLAW ") else { continue };
            if self.dice("miss", flaw) < self.rates.miss {
                continue;
            }
            let quote = if self.dice("misquote", flaw) < self.rates.misquote { "FLOW 0" } else { rest };
            let named = if self.dice("file", flaw) < self.rates.other_file { "etc/shadow" } else { &file };
            let finding = format!(
                r#"{{"type": "error", "summary": "flaw {flaw}", "file": "{named}", "line": {number}, "evidence": "{quote}", "severity": "high"}}"#
            );
            let times = if self.dice("twice", flaw) < self.rates.twice { 2 } else { 1 };
            findings.extend(vec![finding; times]);
        }
        let reply = format!("{{\"relevant\": true, \"findings\": [{}]}}", findings.join(", "));
        if self.dice("garble", &call.to_string()) < self.rates.garble {
            return reply.chars().take(reply.len() * 2 / 3).collect();
        }
        reply
    }
}

impl Model for WeakModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::default()
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        let text = ModelDelta::Text(self.report(prompt, call));
        let done = ModelDelta::Done { stop: StopReason::Finished, usage: None };
        Box::pin(stream::iter([Ok(text), Ok(done)]))
    }
}

/// Two flaws in each file: one at the beginning, one at the end.
fn documents() -> tempfile::TempDir {
    let documents = tempfile::tempdir().unwrap();
    for idx in 0..FILES {
        let filler = "Nothing is wrong here.\n".repeat(20 + idx * 7);
        let text = format!("FLAW {idx}a\n{filler}FLAW {idx}b\n");
        std::fs::write(documents.path().join(format!("note_{idx:02}.md")), text).unwrap();
    }
    documents
}

/// The report of a run with this seed, and its outcome.
async fn report(documents: &tempfile::TempDir, seed: u64, rates: Rates) -> (String, RunOutcome) {
    let workspace = Workspace::on(Arc::new(FaultDisk::sound()));
    let engine = Engine::new(workspace, Arc::new(SystemClock), ScanOptions::default());
    let path = documents.path().to_str().unwrap().to_owned();
    let sources = vec![SourceSpec::Path { path, name: None }];
    let corpus = engine.open_corpus(&sources, &mut |_| {}).unwrap();
    let reference = ModelRef { provider: "weak".into(), name: "weak".into(), base_url: String::new() };
    let limits = spelunk_types::Limits { small_lines_max: 60, chunk_prose_lines: 50, ..quick_limits() };
    let request = RunRequest {
        question: "Which flaws are there?".into(),
        corpus,
        sources,
        strategy: Strategy::Map,
        model: Arc::new(WeakModel { reference, seed, rates }),
        sub_model: None,
        synthesis_model: None,
        schema: None,
        turn: None,
        focus: Focus::General,
        settings: RunSettings { limits, cache_replies: false, cost_is_bounded: false },
        program: None,
    };
    let result = engine.start(request).unwrap().join().await;
    (result.answer.expect("a run over readable text has a report").text, result.outcome)
}

/// Lines of the report that state a finding, with the flaw they name and whether they are marked.
fn stated(report: &str) -> Vec<(String, bool)> {
    let lines = report.lines().filter(|line| line.starts_with("- **high**"));
    let flaw = |line: &str| line.split("flaw ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    lines.map(|line| (flaw(line), line.contains("unverified"))).collect()
}

#[tokio::test]
async fn a_perfect_reader_loses_nothing_on_the_way() {
    let documents = documents();
    let never = Rates { miss: 0, twice: 0, misquote: 0, other_file: 0, garble: 0 };
    let (report, outcome) = report(&documents, 1, never).await;
    let mut found: Vec<String> = stated(&report).into_iter().map(|(flaw, _)| flaw).collect();
    found.sort();
    found.dedup();
    assert_eq!(found.len(), FILES * 2, "{report}");
    assert_eq!(outcome, RunOutcome::Answered);
}

#[tokio::test]
async fn a_weak_reader_is_heard_as_far_as_it_can_be_believed() {
    let documents = documents();
    let rates = Rates { miss: 20, twice: 30, misquote: 15, other_file: 10, garble: 25 };
    for seed in 0..SEEDS {
        let (report, _) = report(&documents, seed, rates).await;
        let weak = WeakModel {
            reference: ModelRef { provider: String::new(), name: String::new(), base_url: String::new() },
            seed,
            rates,
        };
        let stated = stated(&report);
        for (flaw, is_marked) in &stated {
            let is_misquoted = weak.dice("misquote", flaw) < rates.misquote;
            assert_eq!(*is_marked, is_misquoted, "seed {seed}, flaw {flaw}:\n{report}");
            assert!(weak.dice("miss", flaw) >= rates.miss, "seed {seed}: {flaw} was never reported");
        }
        let mut flaws: Vec<&String> = stated.iter().map(|(flaw, _)| flaw).collect();
        flaws.sort();
        let n_stated = flaws.len();
        flaws.dedup();
        assert_eq!(flaws.len(), n_stated, "seed {seed}: something is said twice");
        assert!(!report.contains("etc/shadow") && !report.contains("F999"), "seed {seed}:\n{report}");
        assert!(report.contains("## Coverage"), "seed {seed}");
    }
}
