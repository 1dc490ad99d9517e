//! `spelunk outline`: what there is to read, without a model: files by type and size, or the
//! landmarks of a single file.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use spelunk_app::units::safe;
use spelunk_context::{Detected, Landmarks, Outline, Reader, View};

use super::scan::scan;
use super::{App, CliResult, Failure, ScanFlags, inputs, print_data, say_left_out};

#[derive(Debug, Args)]
pub(crate) struct OutlineArgs {
    /// Files or directories; for a single file, its headings, definitions, sections or keys [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    scan: ScanFlags,
}

/// How much of a file is read to detect its type.
const HEAD_BYTES: u64 = 64 * 1024;

pub(crate) fn outline(app: &App, args: &OutlineArgs) -> CliResult {
    let corpus = scan(app, &inputs(app, &args.paths)?, &args.scan.options(&app.settings.limits)?)?;
    let corpus = Arc::new(corpus);
    let view = View::of(Arc::clone(&corpus));
    let outline = view.outline();
    let structure = structure(app, &view)?;
    let structure = structure.as_ref();
    print_data(app, &outline_json(&outline, structure), &outline_text(&outline, structure));
    say_left_out(app, &corpus);
    Ok(ExitCode::SUCCESS)
}

fn structure(app: &App, view: &View) -> Result<Option<(Detected, Landmarks)>, Failure> {
    let mut documents = view.documents();
    let (Some(document), None) = (documents.next(), documents.next()) else { return Ok(None) };
    let reader = Reader::of_document(view, document)?;
    let head = reader.slice(0..HEAD_BYTES.min(reader.bytes()))?;
    let detected = app.settings.detector().detect(&document.name, &head);
    let landmarks = reader.structure(detected.content_type)?;
    Ok(Some((detected, landmarks)))
}

fn outline_text(outline: &Outline, structure: Option<&(Detected, Landmarks)>) -> String {
    let mut text = format!("{outline}\n");
    let Some((detected, landmarks)) = structure else { return text };
    let base = detected.content_type.name();
    match &detected.custom {
        Some(custom) => text += &format!("type: {}, treated as {base}\n", custom.name),
        None => text += &format!("type: {base}\n"),
    }
    if !landmarks.landmarks.is_empty() {
        text += &format!("{}\n", safe(&landmarks.to_string()));
    }
    if !landmarks.is_whole {
        text += "[only the beginning was examined]\n";
    }
    text
}

fn outline_json(outline: &Outline, structure: Option<&(Detected, Landmarks)>) -> Value {
    let extensions = outline.extensions.iter().map(
        |share| json!({ "extension": share.extension, "documents": share.documents, "bytes": share.bytes }),
    );
    let largest = outline.largest.iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes }));
    let mut shown = json!({
        "documents": outline.documents,
        "bytes": outline.bytes,
        "extensions": extensions.collect::<Vec<_>>(),
        "largest": largest.collect::<Vec<_>>(),
    });
    if let Some((detected, landmarks)) = structure {
        let places = landmarks
            .landmarks
            .iter()
            .map(|place| json!({ "line": place.line, "depth": place.depth, "text": place.text }));
        shown["type"] = detected.content_type.name().into();
        shown["custom_type"] = detected.custom.as_ref().map(|custom| custom.name.as_str()).into();
        shown["landmarks"] = places.collect();
        shown["landmarks_left_out"] = landmarks.n_left_out.into();
        shown["whole"] = landmarks.is_whole.into();
    }
    shown
}
