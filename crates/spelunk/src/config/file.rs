//! Settings files: where they are, and how TOML becomes a layer that remembers lines. Both files have the same form; a
//! project file, which may come with a stranger's repository, may set less.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::layer::{Layer, Origin, named};
use super::table::{Reach, SECTIONS, Setting};
use super::value::Written;
use crate::env::{Environment, HOME, XDG_CONFIG_HOME};

/// The name of a project's settings file.
pub(crate) const PROJECT_FILE: &str = "spelunk.toml";
/// Larger files are not settings.
const FILE_BYTES_MAX: u64 = 1_000_000;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user's own.
    User,
    /// A project's.
    Project,
}

/// Where the user's settings are, whether or not the file exists.
pub(crate) fn user_path(environment: &Environment) -> Option<PathBuf> {
    let below = environment
        .path(XDG_CONFIG_HOME.name)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(environment.path(HOME.name)?.join(".config")))?;
    Some(below.join("spelunk").join("config.toml"))
}

/// The nearest project file, from this directory upwards.
pub(crate) fn project_path(current_dir: &Path) -> Option<PathBuf> {
    current_dir.ancestors().map(|dir| dir.join(PROJECT_FILE)).find(|path| path.is_file())
}

/// Reads a file. One that does not exist says nothing.
pub(crate) fn read(path: &Path, shown: &Path, owner: Owner) -> Result<Layer, ConfigError> {
    match read_text(path) {
        Ok(Some(text)) => parse(&text, shown, owner),
        Ok(None) => Err(ConfigError::TooLarge { path: shown.to_owned(), bytes_max: FILE_BYTES_MAX }),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(Layer::default()),
        Err(source) => Err(ConfigError::Unreadable { path: shown.to_owned(), source }),
    }
}

/// Turns the text of a file into a layer.
pub(crate) fn parse(text: &str, path: &Path, owner: Owner) -> Result<Layer, ConfigError> {
    let document = DeTable::parse(text).map_err(|error| not_toml(text, path, &error))?;
    let mut layer = Layer::default();
    for written in in_file_order(document.get_ref()) {
        let origin = Origin::File { path: path.to_owned(), line: position(text, written.at.start).0 };
        let setting = match written.value {
            Some(_) => named(&written.key, &origin)?,
            None => return Err(ConfigError::NotASection { section: written.key, origin }),
        };
        if owner == Owner::Project && setting.reach == Reach::UserOnly {
            return Err(ConfigError::NotFromProject { key: setting.key.clone(), origin });
        }
        if let Some(value) = written.value {
            read_value(&mut layer, setting, value, text, origin)?;
        }
    }
    Ok(layer)
}

/// One `key = value` of a file. A known section that is no table has no value to read.
struct Line<'a> {
    key: String,
    at: Range<usize>,
    value: Option<&'a Spanned<DeValue<'a>>>,
}

/// Sections hold settings and nothing nests deeper, so two levels are all there is to walk. The parser sorts by name; an
/// error should be about the first line that is wrong.
fn in_file_order<'a>(document: &'a DeTable<'a>) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for (section, content) in document {
        let name = section.get_ref().as_ref();
        let is_known = SECTIONS.iter().any(|(known, _)| *known == name);
        match content.get_ref().as_table() {
            Some(settings) if is_known || !settings.is_empty() => {
                lines.extend(settings.iter().map(|(word, value)| Line {
                    key: format!("{name}.{}", word.get_ref()),
                    at: word.span(),
                    value: Some(value),
                }));
            }
            None if is_known => lines.push(Line { key: name.to_owned(), at: section.span(), value: None }),
            Some(_) | None => {
                lines.push(Line { key: name.to_owned(), at: section.span(), value: Some(content) });
            }
        }
    }
    lines.sort_by_key(|line| line.at.start);
    lines
}

fn read_value(
    layer: &mut Layer,
    setting: &'static Setting,
    value: &Spanned<DeValue<'_>>,
    text: &str,
    origin: Origin,
) -> Result<(), ConfigError> {
    let written = match value.get_ref() {
        DeValue::String(text) => Written::Quoted(text),
        DeValue::Integer(integer) => Written::Integer { digits: integer.as_str(), radix: integer.radix() },
        DeValue::Float(float) => Written::Float(float.as_str()),
        DeValue::Boolean(yes) => Written::Boolean(*yes),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => Written::Other,
    };
    layer.read(setting, written, text.get(value.span()).unwrap_or_default(), origin)
}

#[expect(clippy::disallowed_methods, reason = "settings are read before there is a workspace or a source")]
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    let n_bytes = File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    let is_small = u64::try_from(n_bytes).is_ok_and(|n_bytes| n_bytes <= FILE_BYTES_MAX);
    Ok(is_small.then_some(text))
}

fn not_toml(text: &str, path: &Path, error: &toml::de::Error) -> ConfigError {
    let (line, column) = position(text, error.span().map_or(0, |span| span.start));
    let detail = error.message().lines().collect::<Vec<_>>().join(", ");
    ConfigError::NotToml { path: path.to_owned(), line, column, detail }
}

/// The line and the column of a byte, both from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
