//! Questions about a real source tree, with answers computed from the tree itself: where something is defined, who
//! calls it, what a constant is. Only names whose answer is unambiguous from plain text are used.

mod survey;

use super::wording::Shape;
use super::{BYTES_PER_TOKEN, Draft, GenerateError, GeneratedTask};
use crate::Scoring;
use crate::sink::OutputFile;
use survey::Survey;

/// Source files by their path within the tree.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    files: Vec<(String, String)>,
    survey: Survey,
}

impl Tree {
    /// A tree of these files, sorted by name.
    pub fn new(mut files: Vec<(String, String)>) -> Self {
        files.sort();
        let survey = Survey::of(&files);
        Self { files, survey }
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, text)| text.len() as u64).sum()
    }

    fn path(&self, file_idx: usize) -> String {
        self.files.get(file_idx).map(|(path, _)| path.clone()).unwrap_or_default()
    }

    fn bytes_of(&self, file_idxs: &[usize]) -> u64 {
        file_idxs.iter().filter_map(|idx| self.files.get(*idx)).map(|(_, text)| text.len() as u64).sum()
    }
}

const CALLERS_MIN: usize = 2;
const CALLERS_MAX: usize = 6;

#[derive(Debug, Clone)]
struct CodeQuestion {
    question: String,
    shape: Shape,
    answer: Vec<String>,
    scoring: Scoring,
    /// Files that the answer depends on.
    needs: Vec<usize>,
}

pub(super) fn make(mut draft: Draft<'_>) -> Result<GeneratedTask, GenerateError> {
    let tree = draft.tree.ok_or(GenerateError::NoTree)?;
    let (held, tokens) = (tree.bytes() / BYTES_PER_TOKEN, draft.bytes_max / BYTES_PER_TOKEN);
    if held < tokens {
        return Err(GenerateError::TreeSmall { tokens_held: held, tokens });
    }
    let mut all = match draft.variant {
        "definition" => definitions(tree),
        "callers" => callers(tree),
        _ => constants(tree),
    };
    all.retain(|asked| tree.bytes_of(&asked.needs) <= draft.bytes_max);
    if all.is_empty() {
        return Err(GenerateError::TreePoor { variant: draft.variant.to_owned() });
    }
    let asked = draft.rng.pick(&all).clone();
    let mut files = Vec::new();
    for idx in choose(&mut draft, tree, &asked.needs) {
        let Some((name, text)) = tree.files.get(idx) else { continue };
        let path = draft.path(name);
        let mut out = OutputFile::begin(draft.sink, &path)?;
        for line in text.lines() {
            out.line(line)?;
        }
        files.push(path);
    }
    let CodeQuestion { question, shape, answer, scoring, .. } = asked;
    Ok(GeneratedTask { question, shape, answer, scoring, files })
}

/// The needed files, and random others until there is enough text.
fn choose(draft: &mut Draft<'_>, tree: &Tree, needs: &[usize]) -> Vec<usize> {
    let mut chosen = needs.to_vec();
    let mut bytes = tree.bytes_of(needs);
    let mut others: Vec<usize> = (0..tree.files.len()).filter(|idx| !needs.contains(idx)).collect();
    draft.rng.shuffle(&mut others);
    for idx in others {
        let more = tree.bytes_of(&[idx]);
        if bytes < draft.bytes_max && bytes + more <= draft.bytes_max + draft.bytes_max / 20 {
            bytes += more;
            chosen.push(idx);
        }
    }
    chosen.sort_unstable();
    chosen
}

fn definitions(tree: &Tree) -> Vec<CodeQuestion> {
    let mut all = Vec::new();
    for (name, defined) in tree.survey.defined_once() {
        // A name that is used nowhere else is too easy to find.
        let Some(user) = tree.survey.calling(name).find(|idx| *idx != defined.file_idx) else { continue };
        all.push(CodeQuestion {
            question: format!("In which file is the function `{name}` defined?"),
            shape: Shape::of("path of the file", "path/of/file"),
            answer: vec![tree.path(defined.file_idx)],
            scoring: Scoring::Paths,
            needs: vec![defined.file_idx, user],
        });
    }
    all
}

fn callers(tree: &Tree) -> Vec<CodeQuestion> {
    let mut all = Vec::new();
    for (name, defined) in tree.survey.defined_once() {
        // A method call may refer to another type's method of that name; a call of a free function may not.
        if defined.is_method || !name.contains('_') || tree.survey.is_called_as_method(name) {
            continue;
        }
        let files: Vec<usize> = tree.survey.calling(name).filter(|idx| *idx != defined.file_idx).collect();
        if !(CALLERS_MIN..=CALLERS_MAX).contains(&files.len()) {
            continue;
        }
        all.push(CodeQuestion {
            question: format!("Which files, other than the one that defines it, call the function `{name}`?"),
            shape: Shape::of("list of paths", "path/of/file, path/of/file"),
            answer: files.iter().map(|idx| tree.path(*idx)).collect(),
            scoring: Scoring::Paths,
            needs: files.into_iter().chain([defined.file_idx]).collect(),
        });
    }
    all
}

fn constants(tree: &Tree) -> Vec<CodeQuestion> {
    let constants = tree.survey.constants_once();
    constants
        .map(|(name, value, file_idx)| CodeQuestion {
            question: format!("What is the value of the constant `{name}`?"),
            shape: Shape::NUMBER,
            answer: vec![value.replace('_', "")],
            scoring: Scoring::Number,
            needs: vec![file_idx],
        })
        .collect()
}
