//! `spelunk config`: the effective settings and their origins, and the references for writing them.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use spelunk_app::app::App;
use spelunk_app::config::{defaults_toml, environment_md, schema, show_json, show_text};
use spelunk_app::failure::Failure;

use super::app::print;

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print every setting with its value and origin
    Show {
        /// Only settings whose name starts with this prefix, such as `limits.`
        #[arg(default_value = "")]
        prefix: String,
    },
    /// Print every setting with its default, as a template for `spelunk.toml`
    Defaults,
    /// Print the environment variables that Spelunk reads
    Environment,
    /// Print the JSON Schema of `spelunk.toml`
    Schema,
}

pub(crate) fn config(app: &App, args: &ConfigArgs) -> Result<ExitCode, Failure> {
    let text = match &args.command {
        ConfigCommand::Show { prefix } if app.json => format!("{}\n", show_json(&app.settings, prefix)?),
        ConfigCommand::Show { prefix } => show_text(&app.settings, prefix)?,
        ConfigCommand::Defaults => defaults_toml(),
        ConfigCommand::Environment => environment_md(),
        ConfigCommand::Schema => schema(),
    };
    print(&text);
    Ok(ExitCode::SUCCESS)
}
