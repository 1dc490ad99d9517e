//! A day's logs of several services: which failed first, how often one failed within some hours,
//! and who made a request whose user is logged on another line than its failure.

use super::wording::Shape;
use super::{Draft, GenerateError, GeneratedTask};
use crate::Scoring;
use crate::rng::Rng;
use crate::sink::OutputFile;

pub(crate) const SERVICES: [&str; 6] = ["gateway", "auth", "billing", "stock", "mailer", "search"];
const PATHS: &[&str] = &["/cart", "/login", "/orders", "/items/412", "/search?q=lamp", "/profile"];
const NOTES: &[&str] =
    &["cache warm", "no errors since start", "retry queue empty", "slow query 812ms", "pool 14 of 20"];
/// The approximate length of a line; determines how fast the day passes.
const LINE_BYTES: u64 = 84;
const DAY_MS: u64 = 86_400_000;
const QUARTER_HOURS: u64 = 6;

struct Day<'a> {
    out: OutputFile<'a>,
    now_ms: u64,
    step_ms: u64,
}

impl Day<'_> {
    fn log(&mut self, rng: &mut Rng, level: &str, service: &str, text: &str) -> Result<(), GenerateError> {
        self.now_ms = (self.now_ms + rng.below(self.step_ms * 2)).min(DAY_MS - 1);
        let (seconds, ms) = (self.now_ms / 1000, self.now_ms % 1000);
        let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        Ok(self.out.line(&format!("2025-03-07T{h:02}:{m:02}:{s:02}.{ms:03}Z {level:<5} {service} {text}"))?)
    }

    fn hour(&self) -> u64 {
        self.now_ms / 3_600_000
    }
}

pub(super) fn make(mut draft: Draft<'_>) -> Result<GeneratedTask, GenerateError> {
    let path = format!("{}/system.log", draft.folder);
    let step_ms = (DAY_MS / (draft.bytes_max / LINE_BYTES).max(1)).max(1);
    let day = Day { out: OutputFile::begin(draft.sink, &path)?, now_ms: 0, step_ms };
    let (rng, bytes_max) = (&mut draft.rng, draft.bytes_max);
    let shape = if draft.variant == "first" { Shape::of("service", "service") } else { Shape::NUMBER };
    let (question, answer, scoring) = match draft.variant {
        "first" => first(day, rng, bytes_max)?,
        "count" => count(day, rng, bytes_max)?,
        _ => trace(day, rng, bytes_max)?,
    };
    Ok(GeneratedTask { question, shape, answer: vec![answer], scoring, files: vec![path] })
}

type LogQuestion = (String, String, Scoring);

/// A successful request: its user is only on the first line.
fn request(day: &mut Day<'_>, rng: &mut Rng) -> Result<(String, u64), GenerateError> {
    let (id, user) = (format!("{:08x}", rng.next() >> 32), 1000 + rng.below(9000));
    let (path, ms) = (*rng.pick(PATHS), rng.between(4, 400));
    day.log(rng, "INFO", "gateway", &format!("req={id} user={user} GET {path} accepted"))?;
    let service = *rng.pick(&SERVICES);
    day.log(rng, "INFO", service, &format!("req={id} done in {ms}ms"))?;
    if rng.happens(80) {
        let (service, note) = (*rng.pick(&SERVICES), *rng.pick(NOTES));
        let level = if rng.happens(500) { "WARN" } else { "INFO" };
        day.log(rng, level, service, note)?;
    }
    Ok((id, user))
}

fn first(mut day: Day<'_>, rng: &mut Rng, bytes_max: u64) -> Result<LogQuestion, GenerateError> {
    let root = *rng.pick(&SERVICES[1..]);
    let begins = bytes_max * rng.between(40, 80) / 100;
    while day.out.bytes() < begins {
        request(&mut day, rng)?;
    }
    day.log(rng, "ERROR", root, "connection pool exhausted, refusing work")?;
    let ends = bytes_max * 95 / 100;
    while day.out.bytes() < ends.max(begins + 2000) {
        let (id, _) = request(&mut day, rng)?;
        let service = *rng.pick(&SERVICES);
        day.log(rng, "ERROR", service, &format!("req={id} upstream timed out, answered 503"))?;
    }
    let among = SERVICES.map(str::to_owned).to_vec();
    let question = "There was an outage on this day. Which service failed first, that is, logged a line with the level ERROR before every other service? Services stand after the level.";
    Ok((question.to_owned(), root.to_owned(), Scoring::Choice { among }))
}

fn count(mut day: Day<'_>, rng: &mut Rng, bytes_max: u64) -> Result<LogQuestion, GenerateError> {
    let asked = rng.idx(SERVICES.len());
    let from = rng.below(24 / QUARTER_HOURS) * QUARTER_HOURS;
    let mut n_errors = 0;
    while day.out.bytes() < bytes_max {
        let (id, _) = request(&mut day, rng)?;
        if !rng.happens(240) {
            continue;
        }
        let idx = rng.idx(SERVICES.len());
        let service = SERVICES.get(idx).copied().unwrap_or_default();
        day.log(rng, "ERROR", service, &format!("req={id} could not be stored, gave up"))?;
        n_errors += u64::from(idx == asked && (from..from + QUARTER_HOURS).contains(&day.hour()));
    }
    let service = SERVICES.get(asked).copied().unwrap_or_default();
    let question = format!(
        "How many lines with the level ERROR did the service {service} log from {from:02}:00 until before {:02}:00? Services stand after the level.",
        from + QUARTER_HOURS
    );
    Ok((question, n_errors.to_string(), Scoring::Number))
}

fn trace(mut day: Day<'_>, rng: &mut Rng, bytes_max: u64) -> Result<LogQuestion, GenerateError> {
    let code = rng.between(500, 600);
    let begins = bytes_max * rng.between(5, 90) / 100;
    let mut found = None;
    while day.out.bytes() < bytes_max || found.is_none() {
        let (id, user) = request(&mut day, rng)?;
        let is_it = found.is_none() && day.out.bytes() >= begins;
        if !is_it && !rng.happens(100) {
            continue;
        }
        // Lines of other requests separate a request from its failure.
        request(&mut day, rng)?;
        let code = if is_it { code } else { 600 + rng.below(300) };
        day.log(rng, "WARN", "billing", &format!("req={id} payment declined, code E{code}"))?;
        found = found.or_else(|| is_it.then_some(user));
    }
    let question = format!(
        "One payment was declined with the code E{code}. Which user had made that request? The request's own line has the user."
    );
    Ok((question, found.unwrap_or_default().to_string(), Scoring::Exact))
}
