//! The state of the server between calls: the store, the runs of this process, code sessions, the
//! agent's notes, and the directories that may be read.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use spelunk_app::app::App;
use spelunk_app::sources::is_server_url;
use spelunk_context::{ContextStore, Navigator, Nearest, SourceError, StoreError, StoreSettings};
use spelunk_engine::{Clock as _, RunView, SystemClock};
use spelunk_sandbox::Sandbox;
use spelunk_types::SourceSpec;
use tokio::sync::Semaphore;

use super::catalogue::ToolSet;
use super::cells::Consoles;
use super::notes::Notes;
use super::runs::Runs;
use super::session_log::Session;
use super::tool_wait::Rounds;

use super::{Failure, Usage, lock};

const PATH_BYTES_MAX: usize = 4096;
/// How many entries of a directory are read to complete a path, and how many paths are offered.
const ENTRIES_MAX: usize = 10_000;
const COMPLETIONS_MAX: usize = 50;
const READS_MAX: usize = 64;
/// The minimum: with less, a tool could not even report an error.
const OUTPUT_CHARS_MIN: u64 = 1000;

/// The options of the server.
pub struct ServerOptions {
    /// The root directories as typed; if empty, the current one.
    pub roots: Vec<String>,
    /// The sandbox for cells.
    pub sandbox: Sandbox,
    /// The longest text a tool returns.
    pub output_chars_max: u64,
    /// The tools that clients are shown.
    pub tools: ToolSet,
}

/// State shared by all calls.
pub struct State {
    pub(crate) app: Arc<App>,
    pub(crate) navigator: Navigator,
    pub(crate) sandbox: Sandbox,
    pub(super) output_chars_max: usize,
    pub(super) tools: ToolSet,
    pub(super) runs: Runs,
    pub(super) consoles: Consoles,
    pub(super) rounds: Rounds,
    pub(crate) reads: Semaphore,
    notes: Mutex<Notes>,
    session: Mutex<Session>,
    /// With links resolved.
    roots: Vec<PathBuf>,
    /// The same roots as typed, which may lead through links.
    typed_roots: Vec<PathBuf>,
}

impl State {
    /// The state of a server with these roots and models.
    pub fn open(app: Arc<App>, options: ServerOptions) -> Result<Self, Failure> {
        let typed = if options.roots.is_empty() { vec![".".to_owned()] } else { options.roots };
        let (mut roots, mut typed_roots) = (Vec::new(), Vec::new());
        for root in typed {
            let path = app.current_dir.join(&root);
            let resolved = path.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| Usage {
                message: format!("there is no directory `{root}`"),
                hint: "pass existing directories with `--root`".into(),
            })?;
            roots.push(resolved);
            typed_roots.push(without_dots(&path));
        }
        if options.output_chars_max < OUTPUT_CHARS_MIN {
            let message = format!("`--output-chars-max` is less than {OUTPUT_CHARS_MIN}");
            return Err(Usage::new(message, "leave it out, or raise it").into());
        }
        let settings = StoreSettings::for_a_server(app.settings.limits.clone(), roots.clone());
        let clock = Arc::new(|| SystemClock.now_ms());
        let (store, warnings) = ContextStore::open(app.own_workspace_dir()?, clock, settings)?;
        for warning in warnings {
            app.say(&format!("warning: {warning}"));
        }
        Ok(Self {
            navigator: Navigator::new(Arc::new(store)),
            sandbox: options.sandbox,
            output_chars_max: usize::try_from(options.output_chars_max).unwrap_or(usize::MAX),
            tools: options.tools,
            runs: Runs::new(Arc::clone(&app)),
            consoles: Consoles::default(),
            rounds: Rounds::default(),
            reads: Semaphore::new(READS_MAX),
            notes: Mutex::default(),
            session: Mutex::new(Session::new(SystemClock.now_ms())),
            roots,
            typed_roots,
            app,
        })
    }

    pub(crate) fn store(&self) -> &Arc<ContextStore> {
        self.navigator.store()
    }

    /// The directories that may be read, with links resolved.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The last path component of each root: enough to distinguish them, and no more than a client needs.
    pub(crate) fn root_names(&self) -> Vec<String> {
        let name = |root: &PathBuf| root.file_name().map(|name| name.to_string_lossy().into_owned());
        self.roots.iter().map(|root| name(root).unwrap_or_else(|| "/".to_owned())).collect()
    }

    /// Ignores poisoning: a thread that panicked here left no partial change.
    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        lock(&self.notes)
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    /// Resolves a path from the client, if it is below a root. A path that is clearly outside is rejected before the
    /// disk is accessed, so that nothing about the disk is revealed.
    pub(crate) fn admit(&self, typed: &str) -> Result<PathBuf, Failure> {
        if typed.is_empty() || typed.len() > PATH_BYTES_MAX || typed.contains('\0') {
            let message = "a path is empty, too long or not valid";
            return Err(Usage::new(message, "give a file or directory below a root").into());
        }
        if is_server_url(typed) {
            let message = "a client cannot name a database or a bucket";
            let hint = "ask about it with `spelunk ask` or the library, on the machine of its user";
            return Err(Usage::new(message, hint).into());
        }
        // Named as typed, so that the client learns nothing about what is outside the roots.
        let outside = || StoreError::OutsideRoots { path: typed.into(), roots: self.roots.clone() };
        let mut first = None;
        for path in self.places(typed) {
            let refused = match path.canonicalize() {
                Ok(resolved) if self.roots.iter().any(|root| resolved.starts_with(root)) => {
                    return Ok(resolved);
                }
                Ok(_) => outside(),
                Err(error) => unreadable(Path::new(typed), error),
            };
            first.get_or_insert(refused);
        }
        // If the path is outside the roots as seen from the current directory, the error says only that.
        let is_here = self.is_below(&self.app.current_dir.join(typed));
        Err(first.filter(|_| is_here).unwrap_or_else(outside).into())
    }

    /// The possible meanings of a typed path that are below a root: relative to the current
    /// directory, relative to a root, or beginning with the name of a root.
    fn places(&self, typed: &str) -> impl Iterator<Item = PathBuf> {
        let above = self.roots.iter().flat_map(|root| std::iter::once(root.as_path()).chain(root.parent()));
        let places =
            std::iter::once(self.app.current_dir.as_path()).chain(above).map(move |dir| dir.join(typed));
        places.filter(|path| self.is_below(path))
    }

    /// Whether a path is below a root by its name alone.
    fn is_below(&self, path: &Path) -> bool {
        let plain = without_dots(path);
        [&self.roots, &self.typed_roots].into_iter().flatten().any(|root| plain.starts_with(root))
    }

    /// A message for a client, without the directories above the paths in it.
    pub(crate) fn without_roots(&self, text: &str) -> String {
        let places = [&self.app.current_dir].into_iter().chain(&self.roots).chain(&self.typed_roots);
        let places = places.filter(|place| place.parent().is_some()).map(|place| place.display());
        places.fold(text.to_owned(), |text, place| {
            text.replace(&format!("{place}{MAIN_SEPARATOR}"), "").replace(&format!("`{place}`"), "`.`")
        })
    }

    /// A hint for a client: none if only somebody at the command line could follow it.
    pub(crate) fn hint_for_client(&self, hint: &str) -> Option<String> {
        (!hint.contains("`--allow-")).then(|| self.without_roots(hint))
    }

    /// The sorted paths that begin as typed; directories end with a slash, hidden names are skipped. Blocking.
    #[expect(clippy::disallowed_methods, reason = "names of files are listed, and nothing is read")]
    pub(crate) fn complete(&self, typed: &str) -> Vec<String> {
        let (above, begun) = typed.split_at(typed.rfind('/').map_or(0, |at| at + 1));
        let mut names = BTreeSet::new();
        for place in self.places(above).filter(|_| typed.len() <= PATH_BYTES_MAX && !typed.contains('\0')) {
            let below =
                place.canonicalize().ok().filter(|at| self.roots.iter().any(|root| at.starts_with(root)));
            let entries = below.and_then(|at| std::fs::read_dir(at).ok()).into_iter().flatten();
            for entry in entries.take(ENTRIES_MAX).filter_map(Result::ok) {
                let name = entry.file_name();
                let Some(name) =
                    name.to_str().filter(|name| name.starts_with(begun) && !name.starts_with('.'))
                else {
                    continue;
                };
                let slash = if entry.path().is_dir() { "/" } else { "" };
                names.insert(format!("{above}{name}{slash}"));
            }
        }
        names.into_iter().take(COMPLETIONS_MAX).collect()
    }

    /// Rejects an older run that has read sources this server may not read.
    pub(crate) fn require_roots(&self, view: &RunView) -> Result<(), Failure> {
        for source in &view.sources {
            match source {
                // As with snapshots, somebody in the fleet named it: clients cannot.
                SourceSpec::Objects { .. } if self.app.settings.fleet.url.is_some() => {}
                SourceSpec::Path { path, .. }
                | SourceSpec::Database { url: path }
                | SourceSpec::Objects { url: path } => drop(self.admit(path)?),
                SourceSpec::Text { .. } | SourceSpec::Snapshot { .. } => {}
            }
        }
        Ok(())
    }

    /// Stops runs in progress and saves the counters.
    pub async fn shut_down(&self) {
        self.consoles.close_all();
        self.runs.abandon_all().await;
        let counted = self.store().list().iter().any(|context| context.access.last_accessed_ms.is_some());
        if counted && let Err(error) = self.store().save() {
            self.app.say(&format!("warning: {error}"));
        }
    }
}

fn unreadable(path: &Path, error: io::Error) -> StoreError {
    if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
        return StoreError::Request(SourceError::Read { path: path.to_owned(), source: error }.into());
    }
    let there = path.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("/"));
    let nearest = Nearest::Parent(there.to_owned());
    StoreError::Request(SourceError::NotFound { path: path.to_owned(), nearest }.into())
}

/// The path with `.` and `..` resolved lexically.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_worked_out_without_the_disk() {
        let plain = |path: &str| without_dots(Path::new(path)).display().to_string();
        assert_eq!(plain("/a/./b/../c"), "/a/c");
        assert_eq!(plain("/a/../../../etc/passwd"), "/etc/passwd");
        assert_eq!(plain("/a/b/"), "/a/b");
    }
}
