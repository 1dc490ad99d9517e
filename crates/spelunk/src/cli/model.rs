//! `spelunk model`: the models that can be asked, which role each has, what each costs, and whether it works.

mod list;
mod test;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::ModelFlags;
use super::app::{App, Failure};

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// The models that are set up, their roles, prices and keys, and those of servers on this machine
    List(ListArgs),
    /// Send one short question and say what the model can do; costs a fraction of a cent
    Test(TestArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    model: ModelFlags,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// A NAME of `[models.NAME]`, or PROVIDER/NAME [default: the models of all roles]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    model: ModelFlags,
}

impl ModelArgs {
    /// Which model is asked, where nothing is named.
    pub(super) fn flags(&self) -> &ModelFlags {
        match &self.command {
            ModelCommand::List(args) => &args.model,
            ModelCommand::Test(args) => &args.model,
        }
    }
}

pub(crate) async fn model(app: &App, args: ModelArgs) -> Result<ExitCode, Failure> {
    match args.command {
        ModelCommand::List(_) => Ok(list::list(app).await),
        ModelCommand::Test(args) => test::test(app, args.name.as_deref()).await,
    }
}
