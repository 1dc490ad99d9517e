//! Processes: none is left behind, and one that is killed is replaced.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use spelunk_sandbox::{CellEnd, HostReply, Python, PythonModules, Sandbox, Step, Value, WorkerCommand};

use crate::scene::{Backend, Session, setup, worker};

/// A frame, as the host writes it.
fn frame(body: &str) -> Vec<u8> {
    let mut frame = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
    frame.extend(body.bytes());
    frame
}

fn open_frame(parent: u32) -> Vec<u8> {
    let limits = r#"{"cell_ms_max":100000,"memory_bytes_max":100000000,"recursion_max":100,"output_chars_max":100,"cell_calls_max":1}"#;
    frame(&format!(
        r#"{{"open":{{"parent":{parent},"setup":{{"functions":[],"variables":[],"exceptions":[],"prelude":"","files":[],"clock_ms":0,"seed":0,"limits":{limits}}}}}}}"#
    ))
}

/// Opens a session in a worker that another process started, and starts a cell.
fn begin(child: &mut Child, parent: u32, code: &str, cell_ms_max: u64) {
    let input = child.stdin.as_mut().unwrap();
    input.write_all(&open_frame(parent)).unwrap();
    let mut opened = [0; 12];
    child.stdout.as_mut().unwrap().read_exact(&mut opened).unwrap();
    assert_eq!(opened.to_vec(), frame("\"opened\""));
    let feed = format!(r#"{{"feed":{{"code":"{code}","cell_ms_max":{cell_ms_max}}}}}"#);
    child.stdin.as_mut().unwrap().write_all(&frame(&feed)).unwrap();
}

fn compute_forever(child: &mut Child, parent: u32) {
    begin(child, parent, "while True: pass", 100_000);
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A cell counts to ten in a worker that gets no CPU for longer than the cell's limit.
#[test]
fn a_cell_that_has_to_wait_for_the_machine_is_not_stopped() {
    let mut child =
        Command::new(worker().program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let code = r"n = 0\nfor i in range(300000):\n    n += 1\nprint(n)";
    begin(&mut child, std::process::id(), code, 2_000);
    signal(&child, "-STOP");
    std::thread::sleep(Duration::from_secs(3));
    signal(&child, "-CONT");
    let answer = frame(r#"{"step":{"done":{"output":{"head":"300000\n","tail":"","n_chars":7}}}}"#);
    let mut read = vec![0; answer.len()];
    child.stdout.as_mut().unwrap().read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8_lossy(&read), String::from_utf8_lossy(&answer));
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// The same for the machine's Python: the cell has begun, and its process is stopped while it computes.
#[cfg(target_os = "linux")]
#[test]
fn a_cell_of_cpython_that_has_to_wait_for_the_machine_is_not_stopped() {
    if Backend::Cpython.sandbox().is_none() {
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let started = room.path().join("started");
    let note = format!("echo $$ >> '{}'; exec '{}'", started.display(), worker().program.display());
    let command = WorkerCommand { program: "/bin/sh".into(), arguments: vec!["-c".into(), note.into()] };
    let python = Python { program: "python3".into(), modules: PythonModules::Standard };
    let mut setup = setup();
    setup.limits.cell_ms_max = 2_000;
    let mut session = Session::open(&Sandbox::cpython(command, python), &setup);
    let code = "ask(1)\nn = 0\nfor i in range(4000000):\n    n += 1\nprint(n)";
    assert!(matches!(session.interpreter().feed(code).unwrap(), Step::Calls(_)));
    // Some of them may be spare, and gone.
    #[expect(clippy::disallowed_methods, reason = "the file that the cell writes")]
    let processes = std::fs::read_to_string(&started).unwrap();
    let signal = move |name: &str| {
        let is_there =
            |process: &&str| Command::new("kill").args([name, process]).status().unwrap().success();
        assert_ne!(processes.lines().filter(is_there).count(), 0);
    };
    let stopping = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        signal("-STOP");
        std::thread::sleep(Duration::from_secs(3));
        signal("-CONT");
    });
    let ended = session.interpreter().resume(vec![HostReply::Return(Value::None)]).unwrap();
    assert!(matches!(ended, Step::Finished(CellEnd::Done { output }) if output.head == "4000000\n"));
    stopping.join().unwrap();
}

/// Values that would differ between processes if they were not fixed by design.
const OF_A_PROCESS: [&str; 9] = [
    "import os\nprint(os.getpid(), os.getppid(), os.getpgrp(), os.times(), os.getloadavg())",
    "import time, resource\nprint(time.process_time(), time.thread_time(), resource.getrusage(0))",
    "import threading\nprint(threading.get_native_id(), threading.current_thread().native_id is not None)",
    "for path in ('/proc', '/proc/self', '/dev', '/sys', '/tmp'):\n    try:\n        print(os.listdir(path))\n    except OSError as e:\n        print(e)",
    "for path in ('/proc/self/stat', '/proc/uptime', '/proc/self/../loadavg', '/dev/urandom'):\n    try:\n        print(open(path, 'rb').read(16))\n    except OSError as e:\n        print(e)",
    "import io, pathlib\nfor read in (lambda: io.FileIO('/proc/uptime').read(), lambda: os.read(os.open('/proc/uptime', 0), 9), lambda: pathlib.Path('/proc/uptime').read_text()):\n    try:\n        print(read())\n    except OSError as e:\n        print(e)",
    "for look in (os.readlink, os.stat, os.path.exists, os.path.realpath, os.lstat):\n    try:\n        print(look('/proc/self'))\n    except OSError as e:\n        print(e)",
    "import uuid, tempfile, secrets\nprint(uuid.uuid4(), secrets.token_hex(4), next(tempfile._get_candidate_names()))",
    "print(object(), id(os), hash('text'), {'a', 'b', 'c', object})",
];

#[test]
fn nothing_of_a_process_shows_that_another_would_not_show() {
    let Some(sandbox) = Backend::Cpython.sandbox() else { return };
    let play = || {
        let mut session = Session::open(&sandbox, &setup());
        OF_A_PROCESS.map(|code| session.run(code))
    };
    let first = play();
    assert!(first.iter().all(|said| said.ends_with("= done")), "{first:#?}");
    assert_eq!(play(), first);
}

/// Waits until the process at the other end of the output is gone.
fn wait_for_end(child: &mut Child) {
    let mut output = child.stdout.take().unwrap();
    let (sender, ended) = channel();
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        sender.send(output.read_to_end(&mut rest).map(|_| rest)).unwrap();
    });
    let rest = ended.recv_timeout(Duration::from_secs(30)).expect("the worker is still there");
    assert_eq!(rest.unwrap(), b"");
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_ends_when_its_host_is_killed() {
    // The shell is the host here. Input and output stay open, so only the kernel tells the worker.
    let mut shell = Command::new("/bin/sh")
        .args(["-c", "exec 3<&0; \"$0\" <&3 & wait"])
        .arg(worker().program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let host = shell.id();
    compute_forever(&mut shell, host);
    shell.kill().unwrap();
    wait_for_end(&mut shell);
    shell.wait().unwrap();
}

#[test]
fn a_worker_ends_when_its_input_does_even_while_it_computes() {
    let mut child =
        Command::new(worker().program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    compute_forever(&mut child, std::process::id());
    drop(child.stdin.take());
    wait_for_end(&mut child);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_worker_of_another_parent_does_nothing() {
    let mut child =
        Command::new(worker().program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(&open_frame(1)).unwrap();
    wait_for_end(&mut child);
    assert!(child.wait().unwrap().success());
}

#[test]
fn sessions_that_end_well_share_a_worker() {
    let sandbox = Sandbox::monty(worker());
    assert_eq!(Session::open(&sandbox, &setup()).run("secret = 1\nsecret"), "1\n= done");
    for _ in 0..20 {
        let mut session = Session::open(&sandbox, &setup());
        assert_eq!(session.run("secret"), "= NameError: name 'secret' is not defined");
        assert_eq!(session.run("x = 'a' * 10**7"), "= done");
    }
}

#[test]
fn many_sessions_at_once_each_have_their_own() {
    let sandbox = Sandbox::monty(worker());
    let mut sessions: Vec<Session> = (0..8).map(|_| Session::open(&sandbox, &setup())).collect();
    for (idx, session) in sessions.iter_mut().enumerate() {
        assert_eq!(session.run(&format!("x = {idx}")), "= done");
    }
    for (idx, session) in sessions.iter_mut().enumerate() {
        assert_eq!(session.run("x"), format!("{idx}\n= done"));
    }
}

#[test]
fn a_cell_that_ends_its_process_ends_its_session_only() {
    let Some(sandbox) = Backend::Cpython.sandbox() else { return };
    let mut session = Session::open(&sandbox, &setup());
    let error = session.run_to_end("import os\nos._exit(3)").1.unwrap_err().to_string();
    assert_eq!(error, "the sandbox process died: exit code 3");
    let error = session.run_to_end("1").1.unwrap_err().to_string();
    assert_eq!(error, "the sandbox process died: it has ended; open a new session and feed the same cells");
    assert_eq!(Session::open(&sandbox, &setup()).run("1"), "1\n= done");
}

#[test]
fn a_session_that_was_stopped_can_only_be_opened_anew() {
    let sandbox = Sandbox::monty(worker());
    let mut session = Session::open(&sandbox, &setup());
    assert_eq!(session.fail("'a' * 10**12").kind, "MemoryError");
    let error = session.run_to_end("1").1.unwrap_err().to_string();
    assert_eq!(
        error,
        "the sandbox process died: it was stopped at a limit; open a new session and feed the same cells"
    );
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::disallowed_methods, reason = "the kernel says in files what a process may do")]
fn every_thread_of_a_worker_is_locked_down_before_its_first_cell() {
    let mut child =
        Command::new(worker().program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    compute_forever(&mut child, std::process::id());
    for thread in std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap() {
        let path = thread.unwrap().path();
        let (name, status) = (path.join("comm"), path.join("status"));
        let name = std::fs::read_to_string(name).unwrap();
        let status = std::fs::read_to_string(status).unwrap();
        let field = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), (Some("1"), Some("2")), "{name}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
