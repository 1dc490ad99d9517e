//! Glob: finds files by name, with `.gitignore` rules: a pattern without `/` matches at any depth,
//! one with `/` from the search directory; the last matching pattern applies, and `!` excludes.

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use super::{arguments, refused, wire};
use crate::{Desk, DeskError, DeskPath, show};

const FILES_DEFAULT: u64 = 200;
const FILES_MAX: u64 = 2000;
const PATTERNS_MAX: usize = 50;
const PATTERN_BYTES_MAX: usize = 500;

pub(super) fn run(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let wire::Glob { pattern, path, limit } = arguments("Glob", value)?;
    let base = path.as_deref().map_or_else(|| Ok(DeskPath::top()), DeskPath::parse)?;
    desk.require(&base)?;
    let globs = Globs::compile("Glob", pattern.all())?;
    let mut found: Vec<DeskPath> = desk.files_within(&base).map(|(path, _)| path.clone()).collect();
    found.extend(desk.documents_within(&base).map(|(path, _)| path.clone()));
    found.retain(|path| globs.takes(path, &base));
    found.sort_unstable();
    let limit = usize::try_from(limit.unwrap_or(FILES_DEFAULT).clamp(1, FILES_MAX)).unwrap_or(usize::MAX);
    let n_found = found.len();
    let mut text = String::new();
    for path in found.iter().take(limit) {
        text.push_str(&format!("{path}\n"));
    }
    text.push_str(&match n_found {
        0 => format!("[no file matches; list a directory with Shell `ls {base}`]\n"),
        n if n > limit => format!("[{limit} of {n} files; narrow the pattern or raise `limit`]\n"),
        n => format!("[{}]\n", show::counted(n as u64, "file", "files")),
    });
    Ok(show::bounded(&text, desk.limits().output_bytes_max, "narrow the pattern"))
}

#[derive(Debug)]
pub(super) struct Globs(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    is_taking: bool,
    itself: GlobMatcher,
    below: GlobMatcher,
}

impl Globs {
    pub(super) fn compile(tool: &'static str, patterns: &[String]) -> Result<Self, DeskError> {
        if patterns.is_empty() || patterns.len() > PATTERNS_MAX {
            return Err(refused(tool, format!("give 1 to {PATTERNS_MAX} globs")));
        }
        patterns.iter().map(|pattern| Rule::compile(pattern)).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a path below `base` is selected. If every pattern excludes, everything else is selected.
    pub(super) fn takes(&self, path: &DeskPath, base: &DeskPath) -> bool {
        let below = path.as_str().strip_prefix(base.as_str()).unwrap_or(path.as_str());
        let relative = match below.trim_start_matches('/') {
            "" => path.name(),
            relative => relative,
        };
        let decided = self.0.iter().rev().find(|rule| rule.matches(relative)).map(|rule| rule.is_taking);
        decided.unwrap_or_else(|| self.0.iter().all(|rule| !rule.is_taking))
    }
}

impl Rule {
    fn compile(pattern: &str) -> Result<Self, DeskError> {
        let wrong = |why: String| DeskError::Glob { glob: show::on_one_line(pattern, 80), why };
        let (is_taking, plain) = match pattern.strip_prefix('!') {
            Some(rest) => (false, rest),
            None => (true, pattern),
        };
        if plain.is_empty() || plain.len() > PATTERN_BYTES_MAX {
            return Err(wrong(format!("it must have 1 to {PATTERN_BYTES_MAX} bytes")));
        }
        let plain = plain.strip_prefix("./").unwrap_or(plain).trim_end_matches('/');
        let rooted = match plain.strip_prefix('/') {
            Some(from_base) => from_base.to_owned(),
            None if plain.contains('/') => plain.to_owned(),
            None => format!("**/{plain}"),
        };
        let matcher = |glob: &str| {
            let built = GlobBuilder::new(glob).literal_separator(true).build();
            built.map(|glob| glob.compile_matcher()).map_err(|error| wrong(error.kind().to_string()))
        };
        Ok(Self { is_taking, itself: matcher(&rooted)?, below: matcher(&format!("{rooted}/**"))? })
    }

    fn matches(&self, relative: &str) -> bool {
        self.itself.is_match(relative) || self.below.is_match(relative)
    }
}
