//! `spelunk outline`: what there is to read, without a model: files by type and size, and the landmarks of one file.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use spelunk_context::View;

use super::app::{App, Failure, print};
use super::scan::{ScanFlags, inputs, scan};

#[derive(Debug, Args)]
pub(crate) struct OutlineArgs {
    /// Files or directories [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    scan: ScanFlags,
}

const ALL_FILES: u64 = 0;

pub(crate) fn outline(app: &App, args: &OutlineArgs) -> Result<ExitCode, Failure> {
    let corpus = scan(app, &inputs(app, &args.paths)?, &args.scan.options(ALL_FILES)?)?;
    let view = View::of(Arc::new(corpus));
    let outline = view.outline();
    if app.json {
        let extensions = outline.extensions.iter().map(|share| {
            json!({ "extension": share.extension, "documents": share.documents, "bytes": share.bytes })
        });
        let shown = json!({
            "documents": outline.documents,
            "bytes": outline.bytes,
            "extensions": extensions.collect::<Vec<_>>(),
            "largest": outline.largest,
        });
        print(&format!("{shown}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    print(&format!("{outline}\n"));
    Ok(ExitCode::SUCCESS)
}
