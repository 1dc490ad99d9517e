//! `spelunk model pull`: downloads a local model into the model folder, or lists the available ones.

use std::process::ExitCode;

use serde_json::{Value, json};
use spelunk_app::app::App;
use spelunk_app::failure::{Failure, Usage};
use spelunk_app::local::{BUILD_COMMAND, IS_BUILT_IN, ModelFolder, read_header};
use spelunk_app::pull::{Origin, PIPS, PullError, PullRequest, Pulled, Puller};
use spelunk_app::units::bytes;
use spelunk_model::local_catalogue;

use super::PullArgs;
use super::list::is_known_form;
use crate::cli::app::print;

pub(super) async fn pull(app: &App, args: PullArgs) -> Result<ExitCode, Failure> {
    let folder = ModelFolder::of(&app.settings.local, &app.environment).ok_or(PullError::NoFolder)?;
    let Some(model) = args.model else {
        print(&if app.json { catalogue_json() } else { catalogue_text() });
        return Ok(ExitCode::SUCCESS);
    };
    let only = match args.from.as_deref() {
        None => None,
        Some("hub") => Some(Origin::Hub),
        Some("packages") => Some(Origin::Packages),
        Some(other) => {
            let message = format!("models do not come from `{other}`");
            return Err(Usage { message, hint: "choose `hub` or `packages`".into() }.into());
        }
    };
    let wanted = PullRequest { model, name: args.name, only, is_copied: args.copy };
    let puller = Puller {
        folder,
        hub_url: app.settings.local.hub_url.clone(),
        current_dir: app.current_dir.clone(),
        pips: PIPS,
        say: &|text| app.say(text),
    };
    let model = puller.pull(&wanted).await?;
    let is_known = read_header(&model.path).is_ok_and(|header| is_known_form(&header));
    print(&if app.json { pulled_json(&model, is_known) } else { pulled_text(&model, is_known) });
    if !IS_BUILT_IN {
        app.say(&format!(
            "This program was built without the runner. To ask the model, build it with: {BUILD_COMMAND}"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn pulled_text(pulled: &Pulled, is_known: bool) -> String {
    let from = match pulled.origin {
        Origin::Hub => "from the hub",
        Origin::Packages => "from packages",
        Origin::File => "from a file",
        Origin::Folder => "there already",
    };
    let checked = match &pulled.sha256 {
        Some(_) => ", SHA-256 checked",
        None => "",
    };
    let next = if is_known {
        format!("ask it with `--model local:{}`", pulled.name)
    } else {
        "its chat template is not known here, so it cannot be asked: serve it with llama.cpp and name the server with `--base-url`".to_owned()
    };
    format!("{}: {}, {from}{checked}\n{next}\n", pulled.name, bytes(pulled.bytes))
}

fn pulled_json(pulled: &Pulled, is_known: bool) -> String {
    let shown = json!({
        "name": pulled.name,
        "model": format!("local:{}", pulled.name),
        "path": pulled.path.display().to_string(),
        "bytes": pulled.bytes,
        "sha256": pulled.sha256,
        "from": pulled.origin.word(),
        "usable": IS_BUILT_IN && is_known,
    });
    format!("{shown}\n")
}

fn catalogue_text() -> String {
    let width = local_catalogue().iter().map(|model| model.name.len()).max().unwrap_or_default();
    let row = |model: &spelunk_model::CatalogueModel| {
        format!("{:<width$}  {}, {}: {}\n", model.name, bytes(model.bytes), model.license, model.about)
    };
    let rows: String = local_catalogue().iter().map(row).collect();
    format!("{rows}Pull one with `spelunk model pull NAME`, or any GGUF file by its path.\n")
}

fn catalogue_json() -> String {
    let row = |model: &spelunk_model::CatalogueModel| {
        json!({
            "name": model.name,
            "about": model.about,
            "license": model.license,
            "bytes": model.bytes,
            "sha256": model.sha256,
            "hub": model.hub,
            "packages": model.parts.iter().map(|part| part.package.clone()).collect::<Vec<_>>(),
        })
    };
    let rows: Vec<Value> = local_catalogue().iter().map(row).collect();
    format!("{}\n", Value::from(rows))
}
