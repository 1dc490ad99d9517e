//! Shared by the benches: a table row, a median, and the model of a scripted server.
#![allow(dead_code, clippy::allow_attributes, reason = "each bench uses a part of it")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use spelunk_model::{Model, ModelOptions, OpenAiModel, Prompt, collect};
use spelunk_testkit::ModelServer;
use spelunk_types::{CallId, FrameId};

/// Prints the table header.
pub(crate) fn head() {
    println!("{:<58} {:>12} {:>14}  target", "what", "measured", "beside");
}

/// A figure, its reference value, and whether it meets its target: a miss is marked, not hidden.
pub(crate) fn row(what: &str, measured: &str, beside: &str, target: &str, is_met: bool) {
    let mark = if is_met { "" } else { "  MISSED" };
    println!("{what:<58} {measured:>12} {beside:>14}  {target}{mark}");
}

pub(crate) fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The peak memory of this process.
pub(crate) fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or(0) / 1000
}

pub(crate) fn http_model(server: &ModelServer) -> Arc<dyn Model> {
    let options = ModelOptions {
        base_url: server.base_url(),
        name: "scripted".into(),
        key: None,
        price: None,
        label_calls: true,
    };
    Arc::new(OpenAiModel::new(options).unwrap())
}

/// Questions through the HTTP client alone, a hundred in flight.
pub(crate) async fn bare_batch(server: &ModelServer, questions: Vec<String>) -> Duration {
    let model = http_model(server);
    let mut times = Vec::new();
    for _ in 0..3 {
        let began = Instant::now();
        // The first ordinal is the root's own turn, which the server answers differently.
        let numbered = (1..).zip(questions.clone());
        let asking = numbered.map(|(ordinal, question)| {
            let model = Arc::clone(&model);
            async move {
                let call = CallId { frame: FrameId::root(), ordinal };
                collect(model.stream(&Prompt::single("", question, 100), &call), 10_000, |_| {})
                    .await
                    .unwrap();
            }
        });
        futures_util::stream::iter(asking).buffer_unordered(100).for_each(|()| async {}).await;
        times.push(began.elapsed());
    }
    median(times)
}
