//! `spelunk model list --all`, `show` and `update`: the catalogue of hosted models. Only `update` contacts anything.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::{Value, json};
use spelunk_app::local::ModelFolder;
use spelunk_app::provider::{configured_models, today};
use spelunk_app::pull::PullError;
use spelunk_app::units::{count, dollars, tokens};
use spelunk_model::{Ability, HostedCatalogue, HostedModel, Price};

use super::puller;
use crate::cli::{App, CliResult, Usage, print_data};

const SIMILAR_MAX: usize = 5;

pub(super) fn list(app: &App) -> ExitCode {
    let catalogue = HostedCatalogue::current();
    let models: Vec<Value> = catalogue.all().map(|model| model_json(&model)).collect();
    let rows: String = catalogue.all().map(|model| row(&model)).collect();
    let value = json!({ "source": source_json(catalogue), "models": models });
    print_data(app, &value, &format!("{rows}{}", source_line(catalogue)));
    ExitCode::SUCCESS
}

pub(super) fn show(app: &App, name: &str) -> CliResult {
    let catalogue = HostedCatalogue::current();
    let found = find(app, catalogue, name);
    if found.is_empty() {
        let similar = catalogue.all().filter(|model| full_name(model).contains(name)).take(SIMILAR_MAX);
        let similar: Vec<String> = similar.map(|model| format!("`{}`", full_name(&model))).collect();
        let hint = if similar.is_empty() {
            "`spelunk model list --all` lists every name; `spelunk model update` downloads a newer catalogue"
                .to_owned()
        } else {
            format!("similar names: {}", similar.join(", "))
        };
        return Err(Usage::new(format!("the catalogue has no model `{name}`"), hint).into());
    }
    let shown: String = found.iter().map(details).collect();
    let value = found.iter().map(model_json).collect();
    print_data(app, &value, &format!("{shown}{}", source_line(catalogue)));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn update(app: &App) -> CliResult {
    let folder = ModelFolder::of(&app.settings.local, &app.environment).ok_or(PullError::NoFolder)?;
    let path = folder.catalogue_path();
    let say = |text: &str| app.say(text);
    let new = puller(app, folder, &say).update_catalogue(&today())?;
    let changes = changes(HostedCatalogue::current(), &new);
    let (n_changes, path) = (count(changes.len() as u64, "change"), path.display().to_string());
    let mut rows = changes.clone();
    rows.push(format!("{n_changes}; {}{path}\n", source_line(&new)));
    let text = rows.join("\n");
    let value = json!({
        "source": source_json(&new), "path": path, "models": new.all().count(), "changes": changes,
    });
    print_data(app, &value, &text);
    Ok(ExitCode::SUCCESS)
}

/// The models that a name matches: a model from `[models.NAME]`, PROVIDER/NAME, or a name at any provider.
fn find<'a>(app: &App, catalogue: &'a HostedCatalogue, name: &str) -> Vec<HostedModel<'a>> {
    let listed = configured_models(&app.settings, &app.environment);
    if let Some(model) = listed.into_iter().find(|model| model.name == name) {
        let found = model.reference.and_then(|reference| catalogue.find_reference(&reference));
        return found.map(|found| HostedModel { price: model.price, ..found }).into_iter().collect();
    }
    let at_provider = name.split_once('/').and_then(|(provider, name)| catalogue.find(provider, name));
    match at_provider {
        Some(model) => vec![model],
        None => catalogue.all().filter(|model| model.name == name).collect(),
    }
}

fn full_name(model: &HostedModel<'_>) -> String {
    format!("{}/{}", model.provider, model.name)
}

fn source_json(catalogue: &HostedCatalogue) -> Value {
    json!({ "name": catalogue.source(), "date": catalogue.taken_on() })
}

fn source_line(catalogue: &HostedCatalogue) -> String {
    format!(
        "{} from {}, {}\n",
        count(catalogue.all().count() as u64, "model"),
        catalogue.source(),
        catalogue.taken_on()
    )
}

fn row(model: &HostedModel<'_>) -> String {
    let window = model.window_tokens.map_or_else(|| "?".to_owned(), tokens);
    let retired = model.retired_on.map(|date| format!(" · retired on {date}")).unwrap_or_default();
    format!("{:<60} {window:>7}  {}{retired}\n", full_name(model), super::price_text(model.price))
}

fn details(model: &HostedModel<'_>) -> String {
    let unknown = || "unknown".to_owned();
    let mut lines = vec![
        ("window", model.window_tokens.map_or_else(unknown, |n| format!("{n} tokens"))),
        ("reply", model.output_tokens_max.map_or_else(unknown, |n| format!("at most {n} tokens"))),
    ];
    match model.price {
        None => lines.push(("price", unknown())),
        Some(price) => {
            lines.push(("price", rates(price.rates(0))));
            if let Some(above) = price.above {
                let text = format!(
                    "prompts above {} tokens: {}",
                    above.prompt_tokens,
                    rates(above.microusd_per_mtok)
                );
                lines.push(("", text));
            }
        }
    }
    let abilities: Vec<&str> = model.abilities.iter().copied().map(Ability::word).collect();
    lines.push(("abilities", if abilities.is_empty() { unknown() } else { abilities.join(", ") }));
    if let Some(date) = model.retired_on {
        let past = if model.is_retired(&today()) { " (past)" } else { "" };
        lines.push(("retired", format!("{date}{past}")));
    }
    let lines: Vec<String> = lines.iter().map(|(what, value)| format!("  {what:<10} {value}\n")).collect();
    format!("{}\n{}", full_name(model), lines.concat())
}

fn rates(rates: [u64; 4]) -> String {
    let [input, output, cached, cache_write] = rates.map(dollars);
    format!(
        "{input} in, {output} out, {cached} cached, {cache_write} written to the cache, per million tokens"
    )
}

pub(super) fn price_json(price: Price) -> Value {
    let shown = |[input, output, cached, cache_write]: [u64; 4]| {
        json!({
            "input_microusd_per_mtok": input,
            "cached_microusd_per_mtok": cached,
            "cache_write_microusd_per_mtok": cache_write,
            "output_microusd_per_mtok": output,
        })
    };
    let mut whole = shown(price.rates(0));
    if let Some(above) = price.above {
        whole["above"] = shown(above.microusd_per_mtok);
        whole["above"]["prompt_tokens"] = above.prompt_tokens.into();
    }
    whole
}

fn model_json(model: &HostedModel<'_>) -> Value {
    json!({
        "provider": model.provider,
        "model": model.name,
        "window_tokens": model.window_tokens,
        "output_tokens_max": model.output_tokens_max,
        "price": model.price.map(price_json),
        "abilities": model.abilities.iter().copied().map(Ability::word).collect::<Vec<_>>(),
        "retired_on": model.retired_on,
    })
}

/// `+` for an added model, `-` for a removed one, `~` for a changed one.
fn changes(old: &HostedCatalogue, new: &HostedCatalogue) -> Vec<String> {
    let by_name = |catalogue| HostedCatalogue::all(catalogue).map(|model| (full_name(&model), model));
    let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) = (by_name(old).collect(), by_name(new).collect());
    let came_or_changed = new.iter().filter_map(|(name, model)| match old.get(name) {
        None => Some(format!("+ {name}")),
        Some(before) => (before != model).then(|| format!("~ {name}")),
    });
    let gone = old.keys().filter(|name| !new.contains_key(*name)).map(|name| format!("- {name}"));
    came_or_changed.chain(gone).collect()
}
