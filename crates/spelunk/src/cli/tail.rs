//! `spelunk tail`: the events of a run as they arrive, whichever process drives it.

use std::process::ExitCode;

use clap::Args;
use spelunk_app::app::App;
use spelunk_app::failure::Failure;
use spelunk_app::runs::find_run;
use spelunk_app::units::safe;
use spelunk_context::ScanOptions;
use spelunk_journal::Record;

use super::app::print_line;

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// The run, by the beginning of its name [default: the newest]
    run: Option<String>,
    /// Start after this event
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
}

pub(crate) async fn tail(app: &App, args: TailArgs) -> Result<ExitCode, Failure> {
    let (_, run) = find_run(app, args.run.as_deref())?;
    let engine = app.looking_engine(ScanOptions::default())?;
    let mut events = engine.watch(&run, args.after)?;
    while let Some(record) = events.next().await {
        let line = match record? {
            Record::Known(event) if app.json => serde_json::to_string(&event).unwrap_or_default(),
            Record::Known(event) => format!("{:>5}  {}", event.seq, safe(&event.to_string())),
            Record::Unknown { raw, .. } if app.json => raw.to_string(),
            Record::Unknown { seq, name, .. } => format!("{seq:>5}  {} (of a newer engine)", safe(&name)),
        };
        print_line(line);
    }
    Ok(ExitCode::SUCCESS)
}
