//! The compiled globs of a scan. They match paths relative to the root of their source, with `/` as the separator.
//!
//! Precedence, first match wins: secrets, `exclude`, ignore files, default exclusions and hidden names unless an
//! `include` names them, not matched by `include`. An excluded or hidden directory is entered only if its name is a
//! part of a glob: `*.rs` does not open `target/`, `target/**/*.rs` does.

use std::collections::BTreeSet;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use spelunk_types::ScanOptions;

use crate::SourceError;

#[derive(Debug)]
pub(crate) struct Globs {
    include: Globset,
    exclude: Globset,
    allow_secret: Globset,
}

impl Globs {
    pub(crate) fn compile(options: &ScanOptions) -> Result<Self, SourceError> {
        Ok(Self {
            include: Globset::compile(&options.include)?,
            exclude: Globset::compile(&options.exclude)?,
            allow_secret: Globset::compile(&options.allow_secret_globs)?,
        })
    }

    pub(crate) fn excludes(&self, path: &str) -> bool {
        self.exclude.any.is_match(path)
    }

    pub(crate) fn includes(&self, path: &str) -> bool {
        self.include.is_empty || self.include.any.is_match(path) || self.allows_secret(path)
    }

    /// Whether a glob names this file specifically, overriding the default exclusions.
    pub(crate) fn names(&self, path: &str) -> bool {
        self.include.explicit.is_match(path) || self.allows_secret(path)
    }

    /// Whether a glob names this hidden file: `*` does not match a leading dot.
    pub(crate) fn names_hidden(&self, path: &str) -> bool {
        self.include.dotted.is_match(path) || self.allows_secret(path)
    }

    pub(crate) fn names_directory(&self, name: &str) -> bool {
        self.include.parts.contains(name) || self.allow_secret.parts.contains(name)
    }

    pub(crate) fn names_secret_directory(&self, name: &str) -> bool {
        self.allow_secret.parts.contains(name)
    }

    pub(crate) fn allows_secret(&self, path: &str) -> bool {
        self.allow_secret.any.is_match(path)
    }
}

#[derive(Debug)]
struct Globset {
    is_empty: bool,
    any: GlobSet,
    /// Globs whose last part is more specific than "everything": `*.svg` asks for drawings, `src/**` does not.
    explicit: GlobSet,
    dotted: GlobSet,
    parts: BTreeSet<String>,
}

impl Globset {
    fn compile(globs: &[String]) -> Result<Self, SourceError> {
        let (mut any, mut explicit, mut dotted) =
            (GlobSetBuilder::new(), GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut parts = BTreeSet::new();
        for glob in globs {
            let rooted = rooted(glob);
            // Also match everything in a directory that the glob matches.
            let below = if rooted.ends_with("/**") { rooted.clone() } else { format!("{rooted}/**") };
            let itself = compile(glob, &rooted)?;
            let last = rooted.rsplit('/').next().unwrap_or_default();
            if last.bytes().any(|byte| !matches!(byte, b'*' | b'.')) {
                explicit.add(itself.clone());
            }
            if last.starts_with('.') {
                dotted.add(itself.clone());
            }
            any.add(itself);
            any.add(compile(glob, &below)?);
            let is_literal = |part: &&str| !part.is_empty() && !part.contains(['*', '?', '[', '{', '\\']);
            parts.extend(rooted.split('/').filter(is_literal).map(str::to_owned));
        }
        let build =
            |builder: GlobSetBuilder| builder.build().map_err(|error| unusable(&globs.join(", "), &error));
        Ok(Self {
            is_empty: globs.is_empty(),
            any: build(any)?,
            explicit: build(explicit)?,
            dotted: build(dotted)?,
            parts,
        })
    }
}

fn compile(given: &str, rooted: &str) -> Result<Glob, SourceError> {
    GlobBuilder::new(rooted).literal_separator(true).build().map_err(|error| unusable(given, &error))
}

fn unusable(glob: &str, error: &globset::Error) -> SourceError {
    SourceError::Glob { glob: glob.to_owned(), why: error.kind().to_string() }
}

/// The glob as it is matched against a path from the root.
fn rooted(glob: &str) -> String {
    let plain = glob.strip_prefix("./").unwrap_or(glob);
    let plain = plain.strip_suffix('/').unwrap_or(plain);
    match plain.strip_prefix('/') {
        Some(from_root) => from_root.to_owned(),
        None if plain.contains('/') => plain.to_owned(),
        None => format!("**/{plain}"),
    }
}

#[cfg(test)]
mod tests;
