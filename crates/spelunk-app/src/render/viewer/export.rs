//! One run as one file: the viewer, the events, the texts they reference and the source lines they cite. The file needs
//! no server, and its content security policy allows only the script whose hash it names.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use spelunk_context::Detector;
use spelunk_engine::RunReport;
use spelunk_journal::{JournalError, Record, Workspace};
use spelunk_types::RunId;

use super::blobs::{SizeLimits, gather};
use super::{BODY_MARK, HEAD_MARK, PAGE, STYLE, plan, script};
use crate::render::report::Excerpts;
use crate::render::report::json::value;

pub struct Exported<'a> {
    pub workspace: &'a Workspace,
    pub run: &'a RunId,
    pub report: &'a RunReport,
    pub excerpts: &'a Excerpts,
    pub detector: &'a Detector,
}

/// The file, and the number of texts that were left out.
pub fn exported(data: &Exported<'_>) -> Result<(String, u64), JournalError> {
    let Exported { workspace, run, report, excerpts, detector } = data;
    let records = workspace.read_journal(run)?;
    let texts = gather(&workspace.blobs_of(run), &records, &SizeLimits::default());
    let events: Vec<Value> = records.iter().map(event_json).collect();
    let data = json!({
        "format": 1,
        "run": run,
        "events": events,
        "blobs": texts.kept,
        "left_out": { "blobs": texts.n_left_out, "bytes": texts.bytes_left_out },
        "report": value(report),
        "plan": plan(workspace, run, detector)?,
        "excerpts": excerpts_json(excerpts),
        "excerpts_remark": excerpts.remark,
    });
    Ok((file(&data), texts.n_left_out))
}

/// An event as in the journal, without the checksum of its line and without typed texts, which the
/// journal keeps unredacted so that a run can be resumed.
fn event_json(record: &Record) -> Value {
    let mut event = match record {
        Record::Known(event) => serde_json::to_value(event).unwrap_or_default(),
        Record::Unknown { raw, .. } => raw.clone(),
    };
    for source in event.get_mut("sources").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(content) = source.get_mut("content") {
            *content = json!({ "text": "" });
        }
    }
    event
}

fn excerpts_json(excerpts: &Excerpts) -> Vec<Value> {
    let of = |((source, _), excerpt): (&(String, u64), &crate::render::report::Excerpt)| json!({ "source": source, "first_line": excerpt.first, "lines": excerpt.lines, "changed": false });
    excerpts.by_place.iter().map(of).collect()
}

fn file(data: &Value) -> String {
    let script = guarded(&script());
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; form-action 'none'; base-uri 'none'",
        hash(&script),
        hash(STYLE)
    );
    let head =
        format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{STYLE}</style>");
    // The script comes last, so that every element it looks up exists.
    let body = format!(
        "<script type=\"application/json\" id=\"exported\">{}</script>\n<script type=\"module\">{script}</script>",
        escaped(&data.to_string())
    );
    let (before, rest) = PAGE.split_once(HEAD_MARK).unwrap_or((PAGE, ""));
    let (middle, after) = rest.split_once(BODY_MARK).unwrap_or((rest, ""));
    [before, &head, middle, &body, after].concat()
}

/// JSON that contains no end tag or comment for an HTML parser: `<` occurs only inside strings, so
/// it can be escaped.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Our own script contains no end tag, which a test ensures. The final newline is part of the hashed text.
fn guarded(script: &str) -> String {
    debug_assert!(!script.contains("</script") && !script.contains("<!--"));
    script.to_owned()
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_a_run_ends_the_element_it_stands_in() {
        let data = json!({ "blobs": { "a": "</script><script>alert(1)</script><!-- \u{2028}" } });
        let text = escaped(&data.to_string());
        assert!(!text.contains('<'), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data, "it means the same");
        let file = file(&data);
        assert_eq!(file.matches("</script>").count(), 2, "one for the data, one for the program");
    }

    #[test]
    fn a_hash_is_what_browsers_compute() {
        // The example from the specification.
        assert_eq!(hash("alert('Hello, world.');"), "qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}
