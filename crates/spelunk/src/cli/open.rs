//! `spelunk ask --open`: shows a run in a browser while it is in progress. Until it is interrupted,
//! this process serves the page, to this machine only and only with the token in its URL.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use spelunk_app::trust::random;
use spelunk_server::http::{Log, NewToken, Server, Tokens, app as router, listen};
use spelunk_server::mcp::{ServerOptions, State, ToolSet};
use spelunk_types::{RunId, SourceSpec};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::serve::{OUTPUT_CHARS_MAX, stop_signal};

use super::{App, Failure, Usage};

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

pub(crate) struct Page {
    serving: JoinSet<()>,
    stop: oneshot::Sender<()>,
}

/// Serves the page of a run, with source lines from below `roots` only.
pub(crate) async fn open(app: &Arc<App>, run: &RunId, roots: Vec<String>) -> Result<Page, Failure> {
    let refused = |error: std::io::Error| Usage {
        message: format!("could not serve the page: {error}"),
        hint: format!(
            "leave out `--open`, or view the run later with `spelunk serve` or `spelunk show {}`",
            run.short()
        ),
    };
    let options = ServerOptions {
        roots,
        sandbox: app.sandbox(None)?,
        output_chars_max: OUTPUT_CHARS_MAX,
        tools: ToolSet::default(),
    };
    let state = Arc::new(State::open(Arc::clone(app), options)?);
    let made = NewToken::make("page", "read", None, random().map_err(refused)?)?;
    let server = Server::new(Arc::clone(app), state, Tokens::only(&made), Log::Nothing)?;
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let url = format!("http://{address}/#token={}&/run/{run}", made.token);
    let (stop, stopped) = oneshot::channel::<()>();
    let mut serving = JoinSet::new();
    serving
        .spawn(async move { listen(listener, router(&server), server, async { drop(stopped.await) }).await });
    app.say(&format!("view the run at {url}"));
    let opener = Command::new(OPENER)
        .arg(&url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if opener.is_err() {
        app.say("no browser was found: open the address yourself");
    }
    Ok(Page { serving, stop })
}

/// The directories whose source lines the page may show: the sources of the question.
pub(crate) fn roots(sources: &[SourceSpec]) -> Vec<String> {
    let paths = sources.iter().filter_map(|source| match source {
        SourceSpec::Path { path, .. } => Some(Path::new(path)),
        SourceSpec::Text { .. }
        | SourceSpec::Snapshot { .. }
        | SourceSpec::Database { .. }
        | SourceSpec::Objects { .. } => None,
    });
    let folder =
        |path: &Path| if path.is_dir() { path.to_owned() } else { path.parent().unwrap_or(path).to_owned() };
    paths.map(|path| folder(path).display().to_string()).collect()
}

impl Page {
    pub(crate) async fn stay(mut self, app: &App) {
        app.say("the page is served until you press Ctrl-C");
        stop_signal().await;
        drop(self.stop);
        while self.serving.join_next().await.is_some() {}
    }
}
