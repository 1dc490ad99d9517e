//! Liveness, readiness, metrics and the state of the fleet, for operators. Metrics are counters since the server started, in the Prometheus text
//! format. Labels are routes of the table, never anything a client sent.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use spelunk_app::blocking::blocking;
use spelunk_app::failure::Failure;
use spelunk_journal::{Disk as _, FileDisk};
use spelunk_types::Usage;

use super::runs::fleet::FleetRuns;
use super::{Answer, Params, Problem, Route, Shared, get, lock, object_of, whole_schema};

pub(super) fn routes() -> Vec<Route> {
    let whole = whole_schema(0, 1 << 53);
    let status = object_of(
        &["nodes", "queued", "in_progress", "leases", "runs", "journal_bytes", "replicas"],
        &json!({
            "nodes": { "type": "object", "additionalProperties": { "type": "object" } },
            "leases": { "type": "object", "additionalProperties": { "type": "string" } },
            "queued": whole, "in_progress": whole, "runs": whole, "journal_bytes": whole, "replicas": whole,
        }),
    );
    let state = json!({ "type": "object", "properties": { "status": { "type": "string" } } });
    vec![
        get("/healthz", "Whether the server is running", alive).scope(None).answers(
            200,
            "The server is running",
            state.clone(),
        ),
        get("/readyz", "Whether runs are accepted: they can be stored, and the queue has room", ready)
            .scope(None)
            .answers(200, "Runs are accepted", state)
            .problems(&[503]),
        get("/metrics", "Metrics for Prometheus", metrics).answers_as(
            200,
            "The text format of Prometheus",
            "text/plain",
            json!({ "type": "string" }),
        ),
        get("/v1/fleet", "The nodes and the queue of the fleet that this server belongs to", fleet)
            .answers(200, "The state of the fleet, as `spelunk fleet status --json` prints it", status)
            .problems(&[404, 503]),
    ]
}

async fn alive() -> Json<Value> {
    Json(json!({ "status": "alive" }))
}

async fn ready(State(server): State<Shared>) -> Answer<Json<Value>> {
    let not_ready = |detail: String| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "The server accepts no runs now.", detail)
    };
    if server.is_closed() {
        return Err(not_ready("the server is shutting down".into()));
    }
    if !server.runs.has_room() {
        return Err(not_ready("the queue is full".into()));
    }
    let disk = FileDisk::of(server.runs.workspace().clone());
    let written = blocking(move || Ok(disk.create("server/ready", b"1\n"))).await?;
    written.map_err(|error| not_ready(format!("the workspace cannot be written: {error}")))?;
    let status = fleet_status(&server).await;
    status.map_err(|failure| not_ready(format!("the fleet does not respond: {}", failure.0)))?;
    Ok(Json(json!({ "status": "ready" })))
}

async fn metrics(State(server): State<Shared>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    let text = server.metrics.text(&server.runs.counts()) + &fleet_gauges(&server).await;
    (kind, text).into_response()
}

async fn fleet_status(server: &Shared) -> Result<Option<Value>, Failure> {
    let server = Arc::clone(server);
    blocking(move || server.runs.fleet.as_ref().map(FleetRuns::status).transpose()).await
}

async fn fleet(State(server): State<Shared>, params: Params) -> Answer<Json<Value>> {
    params.finish()?;
    let status = fleet_status(&server).await?;
    let status = status.ok_or_else(|| Problem::not_found("this server does not belong to a fleet"))?;
    Ok(Json(status))
}

/// Gauges for Prometheus; empty if there is no fleet or it does not answer.
async fn fleet_gauges(server: &Shared) -> String {
    let Ok(Some(status)) = fleet_status(server).await else { return String::new() };
    let gauges = [
        ("fleet_nodes", "Nodes of the fleet.", &json!(status["nodes"].as_object().map_or(0, Map::len))),
        ("fleet_queued", "Runs of the fleet that no node has taken.", &status["queued"]),
        ("fleet_in_progress", "Runs of the fleet in progress.", &status["in_progress"]),
        ("fleet_journal_bytes", "Size of the journals of the fleet.", &status["journal_bytes"]),
    ];
    let gauge = |(name, about, value): (&str, &str, &Value)| {
        format!("# HELP spelunk_{name} {about}\n# TYPE spelunk_{name} gauge\nspelunk_{name} {value}\n")
    };
    gauges.map(gauge).concat()
}

/// Upper bounds.
const BUCKETS_MS: [u64; 8] = [5, 20, 50, 100, 500, 1_000, 5_000, 30_000];
/// Routes times methods times statuses; more would be a bug.
const SERIES_MAX: usize = 4_096;

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// By route, method and status.
    requests: Mutex<BTreeMap<(String, &'static str, u16), Series>>,
    pub(crate) connections: Arc<AtomicU64>,
    pub(crate) watchers: Arc<AtomicU64>,
    pub(crate) events_sent: AtomicU64,
    ended: Mutex<BTreeMap<&'static str, u64>>,
    /// Spent by ended runs.
    spent: Mutex<Usage>,
}

/// Counts something while it exists.
pub(crate) struct Counted(Arc<AtomicU64>);

impl Counted {
    pub(crate) fn new(counter: &Arc<AtomicU64>) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(counter))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug, Default, Clone)]
struct Series {
    count: u64,
    sum_ms: u64,
    buckets: [u64; BUCKETS_MS.len()],
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) running: u64,
    pub(crate) queued: u64,
}

impl Metrics {
    pub(super) fn request(&self, method: &Method, route: &str, status: StatusCode, took_ms: u64) {
        let verb = match *method {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::DELETE => "DELETE",
            _ => "other",
        };
        let mut requests = lock(&self.requests);
        let key = (route.to_owned(), verb, status.as_u16());
        if requests.len() >= SERIES_MAX && !requests.contains_key(&key) {
            return;
        }
        let series = requests.entry(key).or_default();
        series.count += 1;
        series.sum_ms = series.sum_ms.saturating_add(took_ms);
        for (bound, n) in BUCKETS_MS.iter().zip(&mut series.buckets) {
            *n += u64::from(took_ms <= *bound);
        }
    }

    pub(crate) fn run_ended(&self, how: &'static str, usage: &Usage) {
        *lock(&self.ended).entry(how).or_default() += 1;
        let mut spent = lock(&self.spent);
        *spent = spent.plus(*usage);
    }

    pub(crate) fn text(&self, counts: &Counts) -> String {
        let mut text = String::new();
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let spent = *lock(&self.spent);
        for (kind, name, about, value) in [
            ("gauge", "runs_running", "Runs in progress.", counts.running),
            ("gauge", "runs_queued", "Queued runs.", counts.queued),
            ("gauge", "connections", "Open connections.", now(&self.connections)),
            ("gauge", "event_watchers", "Open event streams.", now(&self.watchers)),
            ("counter", "events_sent_total", "Events sent to clients.", now(&self.events_sent)),
            ("counter", "run_tokens_total", "Tokens used by ended runs.", spent.tokens()),
            ("counter", "run_input_tokens_total", "Of these, input tokens.", spent.input_tokens),
            (
                "counter",
                "run_cached_tokens_total",
                "Of these, input tokens that the provider read from its cache.",
                spent.cached_tokens,
            ),
            (
                "counter",
                "run_cost_microusd_total",
                "Cost of ended runs, in millionths of a dollar.",
                spent.cost_microusd,
            ),
        ] {
            text += &format!(
                "# HELP spelunk_{name} {about}\n# TYPE spelunk_{name} {kind}\nspelunk_{name} {value}\n"
            );
        }
        text += "# HELP spelunk_runs_ended_total Ended runs.\n# TYPE spelunk_runs_ended_total counter\n";
        for (how, n) in lock(&self.ended).iter() {
            text += &format!("spelunk_runs_ended_total{{outcome=\"{how}\"}} {n}\n");
        }
        text += &self.requests_text();
        text
    }

    fn requests_text(&self) -> String {
        let name = "spelunk_http_request_duration_ms";
        let mut text = format!("# HELP {name} Time until the response began.\n# TYPE {name} histogram\n");
        for ((route, verb, status), series) in lock(&self.requests).iter() {
            let labels = format!("method=\"{verb}\",route=\"{route}\",status=\"{status}\"");
            for (bound, n) in BUCKETS_MS.iter().zip(&series.buckets) {
                text += &format!("{name}_bucket{{{labels},le=\"{bound}\"}} {n}\n");
            }
            let Series { count, sum_ms, .. } = series;
            text += &format!("{name}_bucket{{{labels},le=\"+Inf\"}} {count}\n");
            text += &format!("{name}_sum{{{labels}}} {sum_ms}\n{name}_count{{{labels}}} {count}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_told() {
        let metrics = Metrics::default();
        metrics.request(&Method::GET, "/v1/runs/{run}", StatusCode::OK, 7);
        metrics.request(&Method::GET, "/v1/runs/{run}", StatusCode::OK, 40_000);
        let usage = Usage { input_tokens: 100, cached_tokens: 60, output_tokens: 20, ..Usage::default() };
        metrics.run_ended("answered", &usage);
        let text = metrics.text(&Counts { running: 1, queued: 2 });
        for line in [
            "spelunk_runs_running 1",
            "spelunk_runs_queued 2",
            "spelunk_run_tokens_total 120",
            "spelunk_run_input_tokens_total 100",
            "spelunk_run_cached_tokens_total 60",
            "spelunk_runs_ended_total{outcome=\"answered\"} 1",
            "spelunk_http_request_duration_ms_bucket{method=\"GET\",route=\"/v1/runs/{run}\",status=\"200\",le=\"5\"} 0",
            "spelunk_http_request_duration_ms_bucket{method=\"GET\",route=\"/v1/runs/{run}\",status=\"200\",le=\"20\"} 1",
            "spelunk_http_request_duration_ms_sum{method=\"GET\",route=\"/v1/runs/{run}\",status=\"200\"} 40007",
            "spelunk_http_request_duration_ms_count{method=\"GET\",route=\"/v1/runs/{run}\",status=\"200\"} 2",
        ] {
            assert!(text.lines().any(|told| told == line), "{line}\n{text}");
        }
    }

    #[test]
    fn routes_that_nobody_made_do_not_fill_the_memory() {
        let metrics = Metrics::default();
        for idx in 0..SERIES_MAX + 10 {
            metrics.request(&Method::GET, &format!("/{idx}"), StatusCode::OK, 1);
        }
        assert_eq!(metrics.requests.lock().unwrap().len(), SERIES_MAX);
    }
}
