//! The material of a tool call: paths below the roots, registered contexts, or both, as sources that a resumed run can
//! open again.

use std::path::{Path, PathBuf};

use spelunk_app::arguments::Arguments;
use spelunk_app::planning::detector_with;
use spelunk_app::sources::context_source;
use spelunk_context::{Corpus, Detector, ScanOptions, SourceInput};
use spelunk_types::Limits;

use super::{Failure, State, Usage};

const NAMED_MAX: usize = 100;
const NAME_CHARS_MAX: usize = 4096;
const GLOBS_MAX: usize = 50;
const GLOB_CHARS_MAX: usize = 500;

#[derive(Debug, Clone, Default)]
pub(crate) struct Material {
    paths: Vec<String>,
    contexts: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    /// File types, as `GLOB=TYPE`.
    types: Vec<String>,
    /// Texts sent with the request.
    given: Vec<SourceInput>,
}

impl Material {
    pub(crate) fn of(arguments: &mut Arguments) -> Result<Self, Usage> {
        Ok(Self {
            paths: arguments.texts("paths", NAMED_MAX, NAME_CHARS_MAX)?,
            contexts: arguments.texts("contexts", NAMED_MAX, NAME_CHARS_MAX)?,
            include: arguments.texts("include", GLOBS_MAX, GLOB_CHARS_MAX)?,
            exclude: arguments.texts("exclude", GLOBS_MAX, GLOB_CHARS_MAX)?,
            types: arguments.texts("types", GLOBS_MAX, GLOB_CHARS_MAX)?,
            given: Vec::new(),
        })
    }

    pub(crate) fn of_contexts(contexts: Vec<String>) -> Self {
        Self { contexts, ..Self::default() }
    }

    pub(crate) fn with(mut self, given: Vec<SourceInput>) -> Self {
        self.given = given;
        self
    }

    pub(crate) fn is_named(&self) -> bool {
        !(self.paths.is_empty() && self.contexts.is_empty() && self.given.is_empty())
    }

    /// The scan options, with the user's limits. Secrets are always redacted, whatever a client requests.
    pub(crate) fn scan_options(&self, limits: &Limits) -> ScanOptions {
        ScanOptions {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            files_max: limits.files_max,
            types: self.types.clone(),
            ..ScanOptions::default()
        }
    }

    pub(crate) fn detector(&self, state: &State) -> Result<Detector, Failure> {
        detector_with(&state.app, &self.types)
    }

    /// The sources, in the order they were named. Unknown types are rejected.
    pub(crate) fn inputs(&self, state: &State) -> Result<Vec<SourceInput>, Failure> {
        self.detector(state)?;
        let mut inputs = Vec::new();
        for typed in &self.paths {
            inputs.push(named(state.admit(typed)?, typed));
        }
        for id in &self.contexts {
            let admit = |path: &Path| state.admit(&path.to_string_lossy());
            inputs.push(context_source(state.store(), id, &admit)?);
        }
        inputs.extend(self.given.iter().cloned());
        Ok(inputs)
    }

    /// Scans the material. Naming none is an error: a root may be a whole disk. Blocking.
    pub(crate) fn scan(
        &self,
        state: &State,
        options: &ScanOptions,
    ) -> Result<(Vec<SourceInput>, Corpus), Failure> {
        if !self.is_named() {
            let message = "no paths or contexts were given";
            return Err(Usage::new(message, "give `paths` such as [\".\"], or `contexts`").into());
        }
        let (inputs, corpus) = self.scan_if_any(state, options)?;
        Ok((inputs, corpus.as_text()?))
    }

    /// The same for a question, which may be about images or need no text. Blocking.
    pub(crate) fn scan_if_any(
        &self,
        state: &State,
        options: &ScanOptions,
    ) -> Result<(Vec<SourceInput>, Corpus), Failure> {
        let inputs = self.inputs(state)?;
        let corpus = Corpus::scan_for(None, &inputs, options, &mut |_| {})?;
        Ok((inputs, corpus))
    }
}

/// A file is cited by the path that the client knows.
fn named(path: PathBuf, typed: &str) -> SourceInput {
    let typed = PathBuf::from(typed);
    if path.is_file() && typed.is_relative() {
        SourceInput::Typed { path, typed }
    } else {
        SourceInput::Path(path)
    }
}
