//! `spelunk config`: the effective settings and their origins, and the references for writing them.

use std::process::ExitCode;

use clap::Subcommand;
use spelunk_app::config::{defaults_toml, environment_md, schema, show_json, show_text};

use super::{App, CliResult, print};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
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

pub(crate) fn config(app: &App, command: &ConfigCommand) -> CliResult {
    let text = match command {
        ConfigCommand::Show { prefix } if app.json => format!("{}\n", show_json(&app.settings, prefix)?),
        ConfigCommand::Show { prefix } => show_text(&app.settings, prefix)?,
        ConfigCommand::Defaults => defaults_toml(),
        ConfigCommand::Environment => environment_md(),
        ConfigCommand::Schema => schema(),
    };
    print(&text);
    Ok(ExitCode::SUCCESS)
}
