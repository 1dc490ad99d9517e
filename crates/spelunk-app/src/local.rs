//! Local models: GGUF files in one folder of the user, by name. This module finds them and reads their
//! headers; `pull` downloads them. The same folder may contain a newer catalogue of hosted models.

use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use spelunk_model::{GgufError, GgufHeader, HostedCatalogue};

use crate::config::LocalSettings;
use crate::env::{self, Environment};

pub(crate) const EXTENSION: &str = ".gguf";

/// The catalogue of hosted models from `spelunk model update`.
const CATALOGUE: &str = "hosted-models.txt";
const CATALOGUE_BYTES_MAX: u64 = 8 << 20;
/// An empty file that records that a download was offered.
const OFFERED: &str = ".download-offered";
const NAME_BYTES_MAX: usize = 80;
const MODELS_MAX: usize = 1_000;

pub const BUILD_COMMAND: &str =
    "cargo install --path crates/spelunk --features embedded --ignore-rust-version";

pub const IS_BUILT_IN: bool = cfg!(feature = "embedded");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFolder {
    path: PathBuf,
}

#[derive(Debug)]
pub struct LocalModel {
    pub name: String,
    /// Only a build with the runner opens the file.
    #[cfg_attr(
        not(feature = "embedded"),
        expect(dead_code, reason = "nothing is opened without the runner")
    )]
    pub(crate) path: PathBuf,
    pub bytes: u64,
    pub header: Result<GgufHeader, GgufError>,
}

impl ModelFolder {
    /// The folder named in the settings, else the default one; `None` if there is no home directory.
    pub fn of(settings: &LocalSettings, environment: &Environment) -> Option<Self> {
        if let Some(path) = &settings.path {
            return Some(Self { path: PathBuf::from(path) });
        }
        let data = environment.user_dir(env::XDG_DATA_HOME, ".local/share")?;
        Some(Self { path: data.join("spelunk").join("models") })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path for a model of that name, whether or not it exists.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}{EXTENSION}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.file(name).is_file()
    }

    /// Records that a download was offered; true if it had not been offered before and could be recorded.
    #[expect(clippy::disallowed_methods, reason = "the folder is the user's own")]
    pub fn note_offer(&self) -> bool {
        let note = self.path.join(OFFERED);
        std::fs::create_dir_all(&self.path).is_ok() && std::fs::File::create_new(note).is_ok()
    }

    pub fn catalogue_path(&self) -> PathBuf {
        self.path.join(CATALOGUE)
    }

    /// Uses the user's catalogue in this process unless the built-in one is newer; the error says
    /// why it is unusable.
    pub(crate) fn install_catalogue(&self) -> Result<(), String> {
        let path = self.catalogue_path();
        let unusable = |why: String| {
            format!("cannot use `{}`; using the built-in catalogue instead: {why}", path.display())
        };
        match read_text(&path) {
            Ok(text) => {
                let catalogue = HostedCatalogue::parse(text).map_err(|error| unusable(error.to_string()))?;
                catalogue.install();
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(unusable(error.to_string())),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<LocalModel> {
        if !is_name(name) {
            return None;
        }
        self.read(name)
    }

    #[expect(clippy::disallowed_methods, reason = "the folder is the user's own")]
    pub fn all(&self) -> Vec<LocalModel> {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return Vec::new() };
        let files = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = files
            .filter_map(|name| name.strip_suffix(EXTENSION).map(str::to_owned))
            .filter(|name| is_name(name))
            .take(MODELS_MAX)
            .collect();
        names.sort();
        names.iter().filter_map(|name| self.read(name)).collect()
    }

    fn read(&self, name: &str) -> Option<LocalModel> {
        let path = self.file(name);
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(LocalModel { name: name.to_owned(), header: read_header(&path), path, bytes: metadata.len() })
    }
}

#[expect(clippy::disallowed_methods, reason = "the binary reads the files that its user names")]
pub fn read_header(path: &Path) -> Result<GgufHeader, GgufError> {
    let file = std::fs::File::open(path).map_err(GgufError::Read)?;
    let bytes = file.metadata().map_err(GgufError::Read)?.len();
    GgufHeader::read(BufReader::with_capacity(1 << 20, file), bytes)
}

#[expect(clippy::disallowed_methods, reason = "the folder is the user's own")]
fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(CATALOGUE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Whether this is a valid model name: a plain file name without its extension.
pub(crate) fn is_name(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('.') && name.chars().all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_below_the_data_of_the_user_unless_told_otherwise() {
        let of = |path: Option<&str>, environment: &Environment| {
            let settings =
                LocalSettings { path: path.map(str::to_owned), hub_url: String::new(), threads: None };
            ModelFolder::of(&settings, environment).map(|folder| folder.file("x"))
        };
        let home = Environment::from([("HOME", "/h")]);
        let data = Environment::from([("HOME", "/h"), ("XDG_DATA_HOME", "/d")]);
        let relative = Environment::from([("HOME", "/h"), ("XDG_DATA_HOME", "d")]);
        let path = |path: &str| Some(PathBuf::from(path));
        assert_eq!(of(None, &home), path("/h/.local/share/spelunk/models/x.gguf"));
        assert_eq!(of(None, &data), path("/d/spelunk/models/x.gguf"));
        assert_eq!(of(None, &relative), path("/h/.local/share/spelunk/models/x.gguf"));
        assert_eq!(of(Some("/m"), &home), path("/m/x.gguf"));
        assert_eq!(of(None, &Environment::default()), None);
    }

    #[test]
    fn a_name_cannot_lead_out_of_the_folder() {
        assert!(is_name("qwen2.5-coder-1.5b"));
        for wrong in ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "ä", &"x".repeat(81)] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }
}
