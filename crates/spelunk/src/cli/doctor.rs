//! `spelunk doctor`: checks settings, workspace and model, and suggests fixes. Nothing is spent unless asked for.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use spelunk_app::config::{project_path, user_path};
use spelunk_app::provider::{self, UsableModel};
use spelunk_app::units::{count, head, time};
use spelunk_index::Embedder as _;
use spelunk_model::{Model, Prompt, collect};
use spelunk_sandbox::{Setup, Step};
use spelunk_types::{CallId, Explain, FrameId};

use super::model::price_text;
use super::{App, CliResult, ModelFlags, print_line, print_text};

const ASK_TIME_MAX: Duration = Duration::from_mins(1);
/// Enough for a model that reasons before it answers.
const ASK_TOKENS_MAX: u64 = 1000;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(super) model: ModelFlags,
    /// Send the model one short question; costs a fraction of a cent
    #[arg(long)]
    ask: bool,
}

struct Check {
    name: &'static str,
    outcome: Outcome,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Good,
    Note,
    Bad,
}

fn good(name: &'static str, detail: impl Into<String>) -> Check {
    Check { name, outcome: Outcome::Good, detail: detail.into() }
}

fn note(name: &'static str, detail: impl Into<String>) -> Check {
    Check { name, outcome: Outcome::Note, detail: detail.into() }
}

fn bad(name: &'static str, detail: impl Into<String>) -> Check {
    Check { name, outcome: Outcome::Bad, detail: detail.into() }
}

fn failed(name: &'static str, error: &dyn Explain) -> Check {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    bad(name, format!("{}{hint}", head(&error.to_string(), 300)))
}

pub(crate) async fn doctor(app: &App, args: DoctorArgs) -> CliResult {
    let mut checks = vec![settings(app), workspace(app), sandbox(app)];
    match provider::find_root(&app.settings, &app.environment).await {
        Ok(Some(root)) => {
            checks.extend(of_model("model", &root, args.ask).await);
            checks.extend(other_roles(app, &root, args.ask).await);
        }
        Ok(None) => {
            let detail = "none: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or set --base-url; without a model, `ask` shows passages";
            checks.push(note("model", detail));
        }
        Err(error) => checks.push(failed("model", &error)),
    }
    checks.extend(embedding(app).await);
    let is_sound = checks.iter().all(|check| check.outcome != Outcome::Bad);
    if app.json {
        let shown: Vec<_> = checks
            .iter()
            .map(|check| serde_json::json!({ "check": check.name, "outcome": word(check.outcome), "detail": check.detail }))
            .collect();
        print_line(serde_json::json!(shown));
    } else {
        for check in &checks {
            print_text(&format!("{:<4}  {:<10} {}\n", word(check.outcome), check.name, check.detail));
        }
    }
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The models for sub-calls and the synthesis, if they differ from the root's.
async fn other_roles(app: &App, root: &UsableModel, with_question: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    let (settings, environment) = (&app.settings, &app.environment);
    let sub = provider::find_sub(settings, environment, root);
    let synthesis = provider::find_role(settings, environment, &settings.roles.synthesis, root);
    for (name, found) in [("sub", sub), ("synthesis", synthesis)] {
        match found {
            Ok(None) => {}
            Ok(Some(found)) => checks.extend(of_model(name, &found, with_question).await),
            Err(error) => checks.push(failed(name, &error)),
        }
    }
    checks
}

async fn embedding(app: &App) -> Option<Check> {
    let name = "embedding";
    if let Some(opened) = provider::embedding_table(&app.settings, &app.environment) {
        return Some(match opened {
            Ok(table) => {
                good(name, format!("{} returns vectors with {} dimensions", table.id(), table.dimensions()))
            }
            Err(error) => failed(name, &error),
        });
    }
    let client = match provider::embedding_client(&app.settings, &app.environment) {
        Ok(client) => client?,
        Err(error) => return Some(failed(name, &error)),
    };
    Some(match client.embed(&["ready?".to_owned()]).await {
        Ok(embedded) => {
            let n = embedded.vectors.first().map_or(0, Vec::len);
            good(name, format!("{} returns vectors with {n} dimensions", client.reference()))
        }
        Err(error) => failed(name, &error),
    })
}

async fn of_model(name: &'static str, found: &UsableModel, with_question: bool) -> Vec<Check> {
    let detail = format!("{} ({})", found.model.reference(), found.because);
    let answers = if with_question { ask(found.model.as_ref()).await } else { reach(found).await };
    let mut checks = vec![good(name, detail), price(found.model.as_ref()), answers];
    checks.extend(found.left_out.iter().map(|(alias, error)| {
        note("fallback", format!("the fallback `{alias}` cannot be used: {}", head(&error.to_string(), 200)))
    }));
    checks
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Good => "ok",
        Outcome::Note => "note",
        Outcome::Bad => "bad",
    }
}

/// Unreadable settings would have stopped the program earlier.
fn settings(app: &App) -> Check {
    let files = [user_path(&app.environment).filter(|path| path.is_file()), project_path(&app.current_dir)];
    let files: Vec<String> = files.into_iter().flatten().map(|path| path.display().to_string()).collect();
    let detail = if files.is_empty() { "defaults, no settings file".to_owned() } else { files.join(", ") };
    good("settings", detail)
}

fn workspace(app: &App) -> Check {
    match app.existing_workspace().map_err(|failure| failure.0) {
        Ok(None) => {
            good("workspace", format!("none yet; the first `ask` creates {}", app.workspace_root().display()))
        }
        Ok(Some(workspace)) => {
            let n_runs = workspace.runs().map(|runs| runs.len() as u64).unwrap_or_default();
            let root = workspace.root().map(|root| root.display().to_string()).unwrap_or_default();
            good("workspace", format!("{root} ({})", count(n_runs, "run")))
        }
        Err(error) => failed("workspace", error.as_ref()),
    }
}

/// Opens a session and runs a line in it, as a run would.
fn sandbox(app: &App) -> Check {
    let name = "sandbox";
    let sandbox = match app.sandbox(None) {
        Ok(sandbox) => sandbox,
        Err(failure) => return failed(name, failure.0.as_ref()),
    };
    let began = Instant::now();
    let fed = sandbox.open(&Setup::empty()).and_then(|mut session| session.feed("6 * 7"));
    match fed {
        Ok(Step::Finished(_)) => {
            let took = time(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
            good(name, format!("{} (a session starts in {took})", sandbox.backend()))
        }
        Ok(Step::Calls(_)) => bad(name, "it called a function that was not provided"),
        Err(error) => bad(name, head(&format!("{}: {error}", sandbox.backend()), 300)),
    }
}

fn price(model: &dyn Model) -> Check {
    match model.facts().price {
        Some(price) => good("price", price_text(Some(price))),
        None => note(
            "price",
            "unknown, so the cost is not counted: set model.price_input_usd_per_mtok and model.price_output_usd_per_mtok",
        ),
    }
}

/// Whether the server responds, without spending anything.
async fn reach(found: &UsableModel) -> Check {
    let name = "reach";
    let reference = found.model.reference();
    match found.offered(Duration::from_secs(10)).await {
        Ok(None) => note(name, "not tested: `spelunk doctor --ask` sends one short question"),
        Ok(Some(models)) if models.contains(&reference.name) => {
            good(name, format!("{} offers it", reference.base_url))
        }
        Ok(Some(_)) => note(name, format!("{} does not list `{}`", reference.base_url, reference.name)),
        Err(spelunk_model::ModelError::Unauthorized { .. }) if !found.has_key() => {
            good(name, format!("{} responds; `spelunk doctor --ask` tests the key", reference.base_url))
        }
        Err(error) => failed(name, &error),
    }
}

async fn ask(model: &dyn Model) -> Check {
    let prompt = Prompt::single("Reply with the single word: ready", "Are you ready?", ASK_TOKENS_MAX);
    let call = CallId { frame: FrameId::root(), ordinal: 0 };
    let began = Instant::now();
    match tokio::time::timeout(ASK_TIME_MAX, collect(model.stream(&prompt, &call), 10_000, |_| {})).await {
        Ok(Ok(reply)) => {
            let took = time(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
            good("ask", format!("replied in {took}: {}", head(&reply.text, 60)))
        }
        Ok(Err(error)) => failed("ask", &error),
        Err(_) => bad("ask", format!("no reply within {} s", ASK_TIME_MAX.as_secs())),
    }
}
