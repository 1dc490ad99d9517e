//! Roles: which model does which work. A role names a model of `[models.NAME]` or, as PROVIDER/NAME, one at its
//! provider's default URL. The layer with higher precedence wins: `--model` overrides `roles.root` in a file.

use std::collections::BTreeMap;

use super::choice::ProviderChoice;
use super::error::Result;
use super::layer::{Entries, Origin};
use super::models::{NamedModel, unknown_model};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles {
    pub(crate) root: RoleModel,
    pub sub: RoleModel,
    pub synthesis: RoleModel,
    pub(crate) embedding: RoleModel,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleModel {
    /// Not set: `model.*` for the root, the root's model for the others.
    Unset,
    Named {
        alias: String,
        because: String,
    },
    /// A model at its provider's default URL.
    AtProvider {
        provider: ProviderChoice,
        name: String,
        because: String,
    },
    /// A model at the root's provider.
    SameProvider {
        name: String,
    },
}

impl Roles {
    pub(super) fn resolve(entries: &Entries, models: &BTreeMap<String, NamedModel>) -> Result<Self> {
        Ok(Self {
            root: root(entries, models)?,
            sub: sub(entries, models)?,
            synthesis: of_role(entries, "roles.synthesis", models)?,
            embedding: of_role(entries, "roles.embedding", models)?,
        })
    }
}

/// `model.*` if it was set with higher precedence than `roles.root`.
fn root(entries: &Entries, models: &BTreeMap<String, NamedModel>) -> Result<RoleModel> {
    let of_model = ["model.provider", "model.name", "model.base_url"];
    let nearest = of_model.iter().map(|key| nearness(entries, key)).max().unwrap_or_default();
    if nearness(entries, "roles.root") > 0 && nearness(entries, "roles.root") >= nearest {
        return of_role(entries, "roles.root", models);
    }
    // `--model openai/fast` and `--model fast --base-url …` also say where the model is.
    let of_name = nearness(entries, "model.name");
    let is_placed =
        ["model.provider", "model.base_url"].iter().any(|key| nearness(entries, key) >= of_name.max(1));
    Ok(match text(entries, "model.name") {
        Some((name, origin)) if !is_placed && models.contains_key(name) => named(name, "model.name", origin),
        Some(_) | None => RoleModel::Unset,
    })
}

fn sub(entries: &Entries, models: &BTreeMap<String, NamedModel>) -> Result<RoleModel> {
    if nearness(entries, "roles.sub") > 0 && nearness(entries, "roles.sub") >= nearness(entries, "model.sub")
    {
        return of_role(entries, "roles.sub", models);
    }
    Ok(match text(entries, "model.sub") {
        Some((name, origin)) if models.contains_key(name) => named(name, "model.sub", origin),
        // A local model can be combined with any provider.
        Some((name, origin)) if name.starts_with(LOCAL) => match at_provider(name) {
            Some((provider, at)) => RoleModel::AtProvider {
                provider,
                name: at.to_owned(),
                because: because("model.sub", name, origin),
            },
            None => RoleModel::SameProvider { name: name.to_owned() },
        },
        Some((name, _)) => RoleModel::SameProvider { name: name.to_owned() },
        None => RoleModel::Unset,
    })
}

fn of_role(entries: &Entries, key: &str, models: &BTreeMap<String, NamedModel>) -> Result<RoleModel> {
    let Some((value, origin)) = text(entries, key) else { return Ok(RoleModel::Unset) };
    if models.contains_key(value) {
        return Ok(named(value, key, origin));
    }
    if let Some((provider, name)) = at_provider(value) {
        let because = because(key, value, origin);
        return Ok(RoleModel::AtProvider { provider, name: name.to_owned(), because });
    }
    let known: Vec<&str> = models.keys().map(String::as_str).collect();
    Err(unknown_model(key, value, &known, origin.clone()))
}

const LOCAL: &str = "local:";

/// Splits `anthropic/claude-x` into provider and name; also accepts `local:qwen`.
pub fn at_provider(value: &str) -> Option<(ProviderChoice, &str)> {
    if let Some(name) = value.strip_prefix(LOCAL) {
        return (!name.is_empty()).then_some((ProviderChoice::Local, name));
    }
    let (provider, name) = value.split_once('/')?;
    let provider = ProviderChoice::of(provider)?;
    let is_somebody = !matches!(provider, ProviderChoice::Auto | ProviderChoice::None);
    (is_somebody && !name.is_empty()).then_some((provider, name))
}

fn named(alias: &str, key: &str, origin: &Origin) -> RoleModel {
    RoleModel::Named { alias: alias.to_owned(), because: because(key, alias, origin) }
}

fn because(key: &str, value: &str, origin: &Origin) -> String {
    match origin {
        Origin::Flag { flag } if flag != "--set" => format!("{flag} {value}"),
        Origin::Flag { .. } | Origin::Default | Origin::File { .. } | Origin::Env { .. } => {
            format!("{key} is {value}")
        }
    }
}

fn text<'a>(entries: &'a Entries, key: &str) -> Option<(&'a str, &'a Origin)> {
    Some((entries.text(key)?, &entries.get(key)?.origin))
}

/// The precedence of the layer that set a setting; 0 if it is unset.
fn nearness(entries: &Entries, key: &str) -> u8 {
    match text(entries, key).map(|(_, origin)| origin) {
        None | Some(Origin::Default) => 0,
        Some(Origin::File { .. }) => 1,
        Some(Origin::Env { .. }) => 2,
        Some(Origin::Flag { .. }) => 3,
    }
}
