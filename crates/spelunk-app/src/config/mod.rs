//! Settings from defaults, the user's file, the project's file, the environment and flags, lowest precedence
//! first. `table` declares the settings; `Settings` is what the program uses; every value records its origin.

mod choice;
mod error;
mod file;
mod group;
mod layer;
mod model_flags;
mod models;
mod project;
mod reference;
mod roles;
mod schema;
mod settings;
mod show;
mod suggest;
mod table;
mod tools;
mod types;
mod value;

#[cfg(test)]
mod tests;

use std::path::Path;

pub(crate) use choice::choice;
pub use choice::{ColorChoice, DurabilityChoice, ProviderChoice, SandboxChoice, StrategyChoice};
pub use error::ConfigError;
use error::Result;
pub use file::{project_path, user_path};
pub use layer::{FlagValue, Layer, Origin};
pub use model_flags::model_values;
pub use models::NamedModel;
pub use reference::{defaults_toml, environment_md};
pub use roles::{RoleModel, at_provider};
pub use schema::schema;
pub use settings::{LocalSettings, ModelSettings, ServerSettings, Settings};
pub use show::{show_json, show_text};
pub use suggest::nearest;
pub use tools::{ToolCommand, ToolProvider, ToolSource};

use crate::env::Environment;
use file::Owner;

/// Loads and resolves all layers. `current_dir` must be absolute: the search for a project file
/// starts there and goes up.
pub fn load(environment: &Environment, current_dir: &Path, flags: &[FlagValue]) -> Result<Settings> {
    let user = match user_path(environment) {
        Some(path) => file::read(&path, &path, Owner::User)?,
        None => Layer::default(),
    };
    let explicit = Layer::from_flags(flags)?.over(Layer::from_environment(environment)?);
    let project = match project_path(current_dir) {
        Some(path) => {
            let own = explicit.clone().over(user.clone()).over(Layer::defaults());
            read_project(&path, current_dir, &own)?
        }
        None => Layer::default(),
    };
    Settings::resolve(explicit.over(project).over(user).over(Layer::defaults()))
}

pub fn load_without_files(environment: &Environment, flags: &[FlagValue]) -> Result<Settings> {
    let explicit = Layer::from_flags(flags)?.over(Layer::from_environment(environment)?);
    Settings::resolve(explicit.over(Layer::defaults()))
}

/// Parses a settings file and writes its contents as a new one.
pub fn rewrite(text: &str, is_project: bool) -> Result<String> {
    let path = Path::new(file::PROJECT_FILE);
    let layer = file::parse(text, path, if is_project { Owner::Project } else { Owner::User })?;
    if is_project {
        project::check(&layer, &Layer::defaults(), path)?;
    }
    let written = show::show_file(&layer);
    Settings::resolve(layer.over(Layer::defaults()))?;
    Ok(written)
}

/// A relative workspace path is resolved against the project, so that it is the same from every subdirectory.
fn read_project(path: &Path, current_dir: &Path, own: &Layer) -> Result<Layer> {
    let shown = path.strip_prefix(current_dir).unwrap_or(path);
    let mut layer = file::read(path, shown, Owner::Project)?;
    project::check(&layer, own, path)?;
    let project_dir = shown.parent().unwrap_or(Path::new(""));
    layer.map_text("workspace.path", |text| project_dir.join(text).display().to_string());
    Ok(layer)
}
