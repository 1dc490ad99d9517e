//! A model for this machine: without a key or a server, `spelunk ask` uses the first local model of the
//! catalogue. It offers once, on a terminal, to download it, and downloads nothing without a yes.

use std::io::{self, IsTerminal as _};

use spelunk_app::config::ProviderChoice;
use spelunk_app::local::{IS_BUILT_IN, ModelFolder};
use spelunk_app::provider::{self, ChosenModels};
use spelunk_app::pull::PullRequest;
use spelunk_app::units::bytes;
use spelunk_model::{CatalogueModel, local_catalogue};

use super::model::puller;
use super::tools::is_confirmed;

use super::{App, Failure};

pub(crate) async fn local_model(app: &App) -> Result<Option<ChosenModels>, Failure> {
    let folder = ModelFolder::of(&app.settings.local, &app.environment);
    let (Some(folder), Some(model)) = (folder, local_catalogue().first()) else { return Ok(None) };
    if !IS_BUILT_IN || app.settings.model.provider != ProviderChoice::Auto {
        return Ok(None);
    }
    if !folder.has(&model.name) {
        if !is_wanted(app, &folder, model) {
            return Ok(None);
        }
        let request = PullRequest { model: model.name.clone(), name: None, only: None, is_copied: false };
        puller(app, folder, &|text| app.say(text)).pull(&request).await?;
    }
    let name = format!("local:{}", model.name);
    let found = provider::find_by_name(&app.settings, &app.environment, &name)?;
    let because = "no key and no server was found".to_owned();
    Ok(Some(ChosenModels { model: found.model, sub_model: None, synthesis_model: None, because }))
}

/// Asks on the terminal, and only once ever.
fn is_wanted(app: &App, folder: &ModelFolder, model: &CatalogueModel) -> bool {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !is_terminal || app.quiet || app.json || !folder.note_offer() {
        return false;
    }
    let question = format!(
        "No key and no model server was found. This program can run a small model itself:\n\
         \x20 {}: {}, licence {}\n  SHA-256 {}\n\
         Download it? You are asked only once.",
        model.name,
        bytes(model.bytes),
        model.license,
        model.sha256
    );
    let is_wanted = is_confirmed(&question);
    if !is_wanted {
        app.say(&format!("Nothing was downloaded. `spelunk model pull {}` does it later.\n", model.name));
    }
    is_wanted
}
