//! Surveys a source tree: functions and constants, where they are defined and called. Scans line by
//! line with plain patterns, for many languages at once; ambiguous names are not used.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;

/// Shorter names are too ambiguous.
const NAME_CHARS_MIN: usize = 8;

static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^[ \t]*(?:export +)?(?:pub(?:\([^)\n]*\))? +)?(?:(?:async|const|unsafe|static) +)*",
        r"(?:fn|def|func|function) +([A-Za-z_][A-Za-z0-9_]*)"
    ))
});
static CONSTANT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^[ \t]*(?:export +)?(?:pub(?:\([^)\n]*\))? +)?(?:(?:const|static|final) +)?",
        r"([A-Z][A-Z0-9_]{4,})(?: *: *[A-Za-z0-9_]+)? *= *([0-9][0-9_]*) *;?[ \t]*$"
    ))
});
static CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\.?)\b([A-Za-z_][A-Za-z0-9_]*)\("));

#[derive(Debug, Clone)]
pub(super) struct Defined {
    pub(super) file_idx: usize,
    pub(super) is_method: bool,
    n_times: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Survey {
    defined: BTreeMap<String, Defined>,
    called: BTreeMap<String, BTreeSet<usize>>,
    /// Names that are called with a dot before them.
    methods: BTreeSet<String>,
    constants: BTreeMap<String, (String, usize, usize)>,
}

impl Survey {
    pub(super) fn of(files: &[(String, String)]) -> Self {
        let mut survey = Self::default();
        for (file_idx, (_, text)) in files.iter().enumerate() {
            for line in text.lines().filter(|line| !is_comment(line)) {
                survey.take(file_idx, line);
            }
        }
        survey
    }

    fn take(&mut self, file_idx: usize, line: &str) {
        let mut own = None;
        if let Some(name) = DEFINITION.captures(line).and_then(|found| found.get(1)) {
            let new = Defined { file_idx, is_method: line.contains("self"), n_times: 0 };
            self.defined.entry(name.as_str().to_owned()).or_insert(new).n_times += 1;
            own = Some(name.start());
        }
        if let Some(found) = CONSTANT.captures(line)
            && let (Some(name), Some(value)) = (found.get(1), found.get(2))
        {
            let new = (value.as_str().to_owned(), file_idx, 0);
            self.constants.entry(name.as_str().to_owned()).or_insert(new).2 += 1;
        }
        for call in CALL.captures_iter(line) {
            let Some(name) = call.get(2).filter(|name| Some(name.start()) != own) else { continue };
            if call.get(1).is_some_and(|dot| !dot.is_empty()) {
                self.methods.insert(name.as_str().to_owned());
            }
            self.called.entry(name.as_str().to_owned()).or_default().insert(file_idx);
        }
    }

    /// Functions that are defined once in the whole tree.
    pub(super) fn defined_once(&self) -> impl Iterator<Item = (&str, &Defined)> {
        let is_plain =
            |(name, defined): &(&String, &Defined)| defined.n_times == 1 && name.len() >= NAME_CHARS_MIN;
        self.defined.iter().filter(is_plain).map(|(name, defined)| (name.as_str(), defined))
    }

    pub(super) fn calling(&self, name: &str) -> impl Iterator<Item = usize> {
        self.called.get(name).into_iter().flatten().copied()
    }

    /// Whether something of this name is called with a dot before it.
    pub(super) fn is_called_as_method(&self, name: &str) -> bool {
        self.methods.contains(name)
    }

    /// Constants that are defined once in the whole tree: name, value, file.
    pub(super) fn constants_once(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        let once = self.constants.iter().filter(|(_, (_, _, n_times))| *n_times == 1);
        once.map(|(name, (value, file_idx, _))| (name.as_str(), value.as_str(), *file_idx))
    }
}

fn is_comment(line: &str) -> bool {
    ["//", "#", "*", "/*"].iter().any(|mark| line.trim_start().starts_with(mark))
}
