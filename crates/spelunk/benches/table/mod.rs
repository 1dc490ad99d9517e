//! What benches share: a row of a table, a median, and the model of a scripted server.
#![allow(dead_code, clippy::allow_attributes, reason = "each bench uses a part of it")]

use std::sync::Arc;
use std::time::Duration;

use spelunk_model::{Model, ModelOptions, OpenAiModel};
use spelunk_testkit::ModelServer;

/// The head of the table.
pub(crate) fn head() {
    println!("{:<58} {:>12} {:>14}  target", "what", "measured", "beside");
}

/// A figure, what it is measured against, and whether it keeps its promise: one that does not is marked, not hidden.
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

/// The most memory this process had at any time.
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
