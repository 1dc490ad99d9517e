//! `spelunk eval tasks`: generates tasks as files, so that any engine can run the same ones.

use std::error::Error as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use spelunk_context::{Corpus, ScanOptions, SourceInput, View};
use spelunk_eval::{GenerateError, Kind, Order, Tree, generate, write_task};

use super::files::{DiskSink, TASKS_FILE};
use super::unknown;
use crate::cli::{App, CliResult, Failure, Usage, limits, print_line};

#[derive(Debug, Args)]
pub(crate) struct TasksArgs {
    /// The kinds: needle, labels, pairs, hops, code, logs, table, absent or all; `labels:count-read` selects one
    /// variant
    #[arg(long, value_name = "KIND,…", default_value = "all", value_delimiter = ',')]
    kind: Vec<String>,
    /// The sizes in tokens, such as `8k,16k,1M`
    #[arg(long, value_name = "SIZE,…", default_value = "8k,32k,100k", value_delimiter = ',')]
    tokens: Vec<String>,
    /// Number of tasks per kind and size
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// The random seed; the same seed generates the same tasks
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// The folder for the tasks and their files
    #[arg(long, value_name = "DIR")]
    out: String,
    /// For `code`: the source tree to ask about
    #[arg(long, value_name = "PATH")]
    tree: Option<String>,
}

const TASKS_MAX: usize = 100_000;
const CODE: [&str; 14] =
    ["c", "cc", "cpp", "cs", "go", "h", "hpp", "java", "js", "kt", "py", "rb", "rs", "ts"];

pub(super) fn tasks(app: &App, args: &TasksArgs) -> CliResult {
    let kinds = kinds(&args.kind)?;
    let sizes = args.tokens.iter().map(|word| size(word)).collect::<Result<Vec<_>, _>>()?;
    let n_each = usize::try_from(args.count).unwrap_or(usize::MAX);
    let n_all = n_each.saturating_mul(kinds.len()).saturating_mul(sizes.len());
    if n_all == 0 || n_all > TASKS_MAX {
        let message = format!("that would be {n_all} tasks");
        return Err(Usage::new(message, format!("generate 1 to {TASKS_MAX} at a time")).into());
    }
    let needs_tree = kinds.iter().any(|(kind, _)| *kind == Kind::Code);
    let tree = if needs_tree { Some(load_tree(app, args.tree.as_deref())?) } else { None };
    let root = app.current_dir.join(&args.out);
    let mut sink = DiskSink::new(&root)?;
    let (mut list, mut n_made) = (String::new(), 0_u64);
    for (kind, variant) in &kinds {
        for (size_idx, tokens) in sizes.iter().enumerate() {
            for nth in 0..args.count {
                // Each size and repetition has its own seed, so that the variants alternate.
                let seed = args.seed.wrapping_add(size_idx as u64 * args.count + nth);
                let order = Order {
                    kind: *kind,
                    variant: variant.as_deref(),
                    tokens: *tokens,
                    seed,
                    tree: tree.as_ref(),
                };
                let task = generate(&order, &mut sink).map_err(|error| refused(*kind, &error))?;
                list.push_str(&write_task(&task));
                n_made += 1;
                app.say(&format!("{}: {} file(s)", task.id, task.files.len()));
            }
        }
    }
    sink.finish(&list)?;
    print_line(root.join(TASKS_FILE).display());
    app.say(&format!("{n_made} tasks; run them with `spelunk eval run --tasks {}`", args.out));
    Ok(ExitCode::SUCCESS)
}

fn kinds(words: &[String]) -> Result<Vec<(Kind, Option<String>)>, Failure> {
    let names = || Kind::ALL.map(Kind::name).to_vec();
    let mut kinds = Vec::new();
    for word in words.iter().map(|word| word.trim()) {
        if word == "all" {
            kinds.extend(Kind::ALL.map(|kind| (kind, None)));
            continue;
        }
        let (name, variant) = match word.split_once(':') {
            Some((name, variant)) => (name, Some(variant)),
            None => (word, None),
        };
        let kind = Kind::from_name(name).ok_or_else(|| unknown("kind", name, &names()))?;
        if let Some(variant) = variant.filter(|variant| !kind.variants().contains(variant)) {
            return Err(unknown(&format!("variant of `{kind}`"), variant, kind.variants()).into());
        }
        kinds.push((kind, variant.map(str::to_owned)));
    }
    Ok(kinds)
}

fn size(word: &str) -> Result<u64, Failure> {
    Ok(limits::tokens(word.trim()).ok_or_else(|| Usage {
        message: format!(
            "`--tokens` must be sizes, such as `8k,1M`, not `{}`",
            word.chars().take(60).collect::<String>()
        ),
        hint: "one token counts as four bytes here".into(),
    })?)
}

fn refused(kind: Kind, error: &GenerateError) -> Usage {
    let hint = match error {
        GenerateError::Size { .. } => "change `--tokens`",
        GenerateError::Variant { .. } => "leave out the variant",
        GenerateError::NoTree => "choose one with `--tree`, or leave out the kind `code`",
        GenerateError::TreeSmall { .. } | GenerateError::TreePoor { .. } => {
            "choose a larger source tree with `--tree`, or leave out the kind `code`"
        }
        GenerateError::Write { .. } => "free some space, or choose another location with `--out`",
    };
    let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    Usage::new(format!("could not generate a task of the kind `{kind}`: {error}{cause}"), hint)
}

/// The source code below a path, unmodified.
fn load_tree(app: &App, path: Option<&str>) -> Result<Tree, Failure> {
    let Some(path) = path else { return Err(refused(Kind::Code, &GenerateError::NoTree).into()) };
    let options = ScanOptions { allow_secrets: true, ..ScanOptions::default() };
    let corpus = Corpus::scan(&[SourceInput::Path(app.current_dir.join(path))], &options, &mut |_| {})?;
    let view = View::of(Arc::new(corpus));
    let mut files = Vec::new();
    for document in view.documents() {
        let extension = Path::new(&document.name).extension().and_then(|extension| extension.to_str());
        if extension.is_some_and(|extension| CODE.contains(&extension)) {
            files.push((document.name.clone(), view.read(document)?.to_string()));
        }
    }
    Ok(Tree::new(files))
}
