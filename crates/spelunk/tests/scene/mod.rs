//! A scene: a directory of documents, a home, and the binary running there with its own environment. Its output is
//! compared after run ids, times, ports and paths have been replaced by fixed names.

pub(crate) mod archive;
#[cfg(unix)]
pub(crate) mod moto;
mod names;
#[cfg(unix)]
pub(crate) mod postgres;
mod python;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use expect_test::Expect;
use serde_json::Value;
use spelunk_testkit::{Gate, ModelServer, Rule, when};

pub(crate) use names::{json_without_times, without_times};
pub(crate) use python::python;

/// The documents of most scenes.
pub(crate) const NOTE: [(&str, &str); 1] = [("notes/a.md", "# Numbers\n\nThe magic number is 42.\n")];
pub(crate) const QUESTION: &str = "What is the magic number?";
/// An answer with evidence from [`NOTE`]; document names are relative to the folder that is asked about.
pub(crate) const REPLY: &str = "The magic number is 42.\n\n```evidence\na.md:3: The magic number is 42.\n```";

/// A server that returns the same reply to every prompt, for 100 tokens in and 20 out.
pub(crate) fn answering(reply: &str) -> ModelServer {
    ModelServer::start_blocking([to_all().reply(reply).usage(100, 20)])
}

/// A rule that matches every prompt, but not a request for the list of models.
pub(crate) fn to_all() -> Rule {
    when(|prompt| !prompt.is_empty())
}

/// The number of calls, not counting requests for the list of models.
pub(crate) fn n_calls(server: &ModelServer) -> usize {
    server.requests().iter().filter(|request| request.method == "POST").count()
}

/// Waits until a reply is held at the gate.
pub(crate) fn wait_at(gate: &Gate, server: &ModelServer) {
    wait_for("a call", || (n_calls(server) > 0).then_some(()));
    gate.reached_blocking(1);
}

/// The environment the binary runs in.
pub(crate) struct Scene {
    dir: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let scene = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(scene.path("")).unwrap();
        std::fs::create_dir_all(scene.home()).unwrap();
        for (name, text) in files {
            scene.write(name, text.as_bytes());
        }
        scene
    }

    /// The root of everything, including the home directory.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// A path in the binary's current directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The binary with these arguments, in an environment with only a home and a path.
    pub(crate) fn spelunk<'a>(&'a self, args: impl IntoIterator<Item = &'a str>) -> Call<'a> {
        self.call(Command::new(env!("CARGO_BIN_EXE_spelunk")), args)
    }

    /// The same, after a shell snippet.
    pub(crate) fn after_shell<'a>(
        &'a self,
        words: &str,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Call<'a> {
        let mut command = Command::new("sh");
        let script = format!("{words}; exec \"$0\" \"$@\"");
        command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_spelunk"));
        self.call(command, args)
    }

    /// The same on a terminal of this width, without colours; both streams are in its standard output.
    pub(crate) fn on_terminal<'a>(&'a self, columns: usize, args: &[&'a str]) -> Call<'a> {
        let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
        let run = format!(
            "stty cols {columns} rows 40; exec {} {}",
            env!("CARGO_BIN_EXE_spelunk"),
            quoted.join(" ")
        );
        let call = self.call(Command::new("script"), ["-qec"]).arg(&run).arg("/dev/null");
        call.env("NO_COLOR", "1").env("TERM", "xterm").env("SHELL", "/bin/sh")
    }

    fn call<'a>(&'a self, mut command: Command, args: impl IntoIterator<Item = &'a str>) -> Call<'a> {
        command.args(args).current_dir(self.path("")).env_clear().env("HOME", self.home());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("SPELUNK_MODEL_PROBE_LOCAL", "false");
        Call { scene: self, command, stdin: Vec::new() }
    }

    /// `ask` about the notes, with this server.
    pub(crate) fn ask<'a>(&'a self, server: &ModelServer) -> Call<'a> {
        self.spelunk(["ask", QUESTION, "notes"]).server(server)
    }

    /// Asks, expects an answer, and returns the run.
    pub(crate) fn answered(&self, server: &ModelServer) -> String {
        let ran = self.ask(server).run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        self.only_run()
    }

    /// All runs, by the time of their first event.
    pub(crate) fn runs(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(".spelunk/runs")) else { return Vec::new() };
        let mut runs: BTreeMap<(u64, String), String> = BTreeMap::new();
        for entry in entries {
            let run = entry.unwrap().file_name().into_string().unwrap();
            let Ok(journal) = std::fs::read_to_string(self.journal_path(&run)) else { continue };
            let first = journal.lines().next().unwrap_or_default();
            let first: Value = serde_json::from_str(first).unwrap_or_default();
            runs.insert((first["at_ms"].as_u64().unwrap_or_default(), run.clone()), run);
        }
        runs.into_values().collect()
    }

    pub(crate) fn only_run(&self) -> String {
        let [run] = <[String; 1]>::try_from(self.runs()).unwrap();
        run
    }

    /// The number of calls that all runs report.
    pub(crate) fn calls_reported(&self) -> u64 {
        let listed = self.spelunk(["run", "list", "--json"]).run();
        let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
        listed.iter().map(|row| row["calls"].as_u64().unwrap()).sum()
    }

    pub(crate) fn journal_path(&self, run: &str) -> PathBuf {
        self.path(".spelunk/runs").join(run).join("journal.jsonl")
    }

    /// Rewrites the first event of the only run with other text and a valid checksum.
    pub(crate) fn rewrite_start(&self, from: &str, to: &str) {
        let path = self.journal_path(&self.only_run());
        let journal = std::fs::read_to_string(&path).unwrap();
        let (first, rest) = journal.split_once('\n').unwrap();
        let (body, _) = first.rsplit_once(",\"sum\":").unwrap();
        assert!(body.contains(from), "{body}");
        let body = body.replace(from, to);
        let sum: String = spelunk_journal::digest(body.as_bytes()).to_string().chars().take(8).collect();
        std::fs::write(path, format!("{body},\"sum\":\"{sum}\"}}\n{rest}")).unwrap();
    }

    /// The lines of a journal, without a torn last one.
    pub(crate) fn journal(&self, run: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.journal_path(run)).unwrap();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Replaces everything that differs between executions by fixed names.
    pub(crate) fn normalise(&self, text: &str) -> String {
        let mut text = text.replace(self.dir.path().to_str().unwrap(), "DIR");
        let runs = self.runs();
        for (idx, run) in runs.iter().enumerate() {
            let number = if runs.len() == 1 { String::new() } else { format!("{}", idx + 1) };
            text = text.replace(run, &format!("RUN{number}")).replace(short(run), &format!("SHORT{number}"));
            text = text.replace(stamp(run), "STAMP");
        }
        let text = names::without_hashes(&names::without_ports(&without_times(&text)));
        regex::Regex::new(r", last \d{4}-\d\d-\d\d").unwrap().replace_all(&text, ", last DATE").into_owned()
    }

    pub(crate) fn normalise_json(&self, text: &str) -> Value {
        json_without_times(serde_json::from_str(&self.normalise(text)).unwrap())
    }
}

/// The short id of a run.
pub(crate) fn short(run: &str) -> &str {
    run.rsplit('-').next().unwrap()
}

fn stamp(run: &str) -> &str {
    run.split('-').nth(1).unwrap()
}

/// An execution of the binary, before it starts.
pub(crate) struct Call<'a> {
    scene: &'a Scene,
    command: Command,
    stdin: Vec<u8>,
}

impl Call<'_> {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn arg(mut self, arg: &str) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Uses this server, which needs no key.
    pub(crate) fn server(self, server: &ModelServer) -> Self {
        self.env("OPENAI_BASE_URL", &server.base_url())
    }

    /// Retries without delay.
    pub(crate) fn impatient(self) -> Self {
        self.env("SPELUNK_LIMITS_RETRY_WAIT_MS_MIN", "1").env("SPELUNK_LIMITS_RETRY_WAIT_MS_MAX", "5")
    }

    pub(crate) fn run(self) -> Ran {
        let scene = self.scene;
        let output = self.start().wait_with_output().unwrap();
        Ran::of(scene, output)
    }

    /// Starts it without waiting.
    pub(crate) fn start(mut self) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        // A process that does not read standard input may have ended already.
        drop(child.stdin.take().unwrap().write_all(&self.stdin));
        child
    }

    /// Starts it with standard input left open.
    pub(crate) fn open(mut self) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.spawn().unwrap()
    }
}

/// A finished execution of the binary. `code` is -1 if a signal ended it.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    shown: String,
}

impl Ran {
    pub(crate) fn of(scene: &Scene, output: Output) -> Self {
        let code = output.status.code().unwrap_or(-1);
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let shown =
            format!("{}--- stderr\n{}--- exit {code}\n", scene.normalise(&stdout), scene.normalise(&stderr));
        Self { code, stdout, stderr, shown }
    }

    /// Compares both streams and the exit code.
    #[track_caller]
    pub(crate) fn check(&self, expected: &Expect) {
        expected.assert_eq(&self.shown);
    }
}

/// Waits for a state that another process brings about.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Some(found) => return found,
            None => assert!(began.elapsed() < Duration::from_secs(30), "{what} did not happen"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
