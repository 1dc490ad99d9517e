//! Settings files: where they are, and how TOML becomes a layer that records line numbers. Both files have the same
//! format, but a project file may set less, because it may come with a stranger's repository.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Result};
use super::group::{self, Group, GroupKind, KINDS};
use super::layer::{Layer, Origin, named};
use super::table::{Reach, SECTIONS, TOOLS, TYPES};
use super::types;
use super::value::Written;
use crate::env::{Environment, XDG_CONFIG_HOME};

pub(crate) const PROJECT_FILE: &str = "spelunk.toml";
const FILE_BYTES_MAX: u64 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    User,
    Project,
}

pub fn user_path(environment: &Environment) -> Option<PathBuf> {
    Some(environment.user_dir(XDG_CONFIG_HOME, ".config")?.join("spelunk").join("config.toml"))
}

pub fn project_path(current_dir: &Path) -> Option<PathBuf> {
    current_dir.ancestors().map(|dir| dir.join(PROJECT_FILE)).find(|path| path.is_file())
}

/// Reads a file. A missing file is an empty layer.
pub(crate) fn read(path: &Path, shown: &Path, owner: Owner) -> Result<Layer> {
    if owner == Owner::Project && spelunk_fs::is_own_or_roots(path).is_ok_and(|is_own| !is_own) {
        return Err(ConfigError::OtherOwner { path: shown.to_owned() });
    }
    match read_text(path) {
        Ok(Some(text)) => parse(&text, shown, owner),
        Ok(None) => Err(ConfigError::TooLarge { path: shown.to_owned(), bytes_max: FILE_BYTES_MAX }),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(Layer::default()),
        Err(source) => Err(ConfigError::Unreadable { path: shown.to_owned(), source }),
    }
}

pub(crate) fn parse(text: &str, path: &Path, owner: Owner) -> Result<Layer> {
    let document = DeTable::parse(text).map_err(|error| not_toml(text, path, &error))?;
    let mut layer = Layer::default();
    let file = SettingsFile { text, path };
    for written in in_file_order(document.get_ref()) {
        let origin = file.origin(&written.at);
        let Some(value) = written.value else {
            return Err(ConfigError::NotASection { section: written.key, origin });
        };
        if let Some((kind, name)) = group::find(&written.key) {
            layer.put_group(read_group(kind, name, value, origin, &file, owner)?);
        } else if !layer.pass_over(&written.key, &origin) {
            let setting = named(&written.key, &origin)?;
            with_written(value, |written| layer.read(setting, written, file.shown(value), origin))?;
        }
    }
    Ok(layer)
}

struct SettingsFile<'a> {
    text: &'a str,
    path: &'a Path,
}

impl<'a> SettingsFile<'a> {
    fn origin(&self, at: &Range<usize>) -> Origin {
        Origin::File { path: self.path.to_owned(), line: position(self.text, at.start).0 }
    }

    fn shown(&self, value: &Spanned<DeValue<'_>>) -> &'a str {
        self.text.get(value.span()).unwrap_or_default()
    }
}

/// One `key = value` of a file. A known section that is not a table has no value.
struct Line<'a> {
    key: String,
    at: Range<usize>,
    value: Option<&'a Spanned<DeValue<'a>>>,
}

/// The lines in file order: the parser sorts by name, but an error should report the first wrong
/// line. Sections contain settings and nothing nests deeper.
fn in_file_order<'a>(document: &'a DeTable<'a>) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for (section, content) in document {
        let name = section.get_ref().as_ref();
        let mut known =
            SECTIONS.iter().map(|(section, _)| *section).chain(KINDS.iter().map(|kind| kind.section));
        let is_known = known.any(|section| section == name);
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

fn read_group(
    kind: &'static GroupKind,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    origin: Origin,
    file: &SettingsFile<'_>,
    owner: Owner,
) -> Result<Group> {
    let Some(fields) = value.get_ref().as_table() else {
        return Err(ConfigError::NotASection { section: format!("{}.{name}", kind.section), origin });
    };
    if owner == Owner::Project && kind.section == TOOLS {
        return Err(ConfigError::NotFromProject { key: format!("{TOOLS}.{name}"), origin });
    }
    let mut group = Group::new(kind, name, origin)?;
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(word, _)| word.span().start);
    for (word, value) in fields {
        let origin = file.origin(&word.span());
        let field = group.field(word.get_ref(), &origin)?;
        if owner == Owner::Project && field.reach == Reach::UserOnly {
            return Err(ConfigError::NotFromProject { key: group.key(field.word()), origin });
        }
        with_written(value, |written| group.read(field, written, file.shown(value), origin))?;
    }
    if kind.section == TYPES {
        types::check(&group)?;
    }
    Ok(group)
}

fn with_written<T>(value: &Spanned<DeValue<'_>>, read: impl FnOnce(Written<'_>) -> T) -> T {
    match value.get_ref() {
        DeValue::String(text) => read(Written::Quoted(text)),
        DeValue::Integer(integer) => {
            read(Written::Integer { digits: integer.as_str(), radix: integer.radix() })
        }
        DeValue::Float(float) => read(Written::Float(float.as_str())),
        DeValue::Boolean(yes) => read(Written::Boolean(*yes)),
        DeValue::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
            read(texts.as_ref().map_or(Written::Other, |texts| Written::List(texts)))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => read(Written::Other),
    }
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

/// The line and column of a byte offset, both from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
