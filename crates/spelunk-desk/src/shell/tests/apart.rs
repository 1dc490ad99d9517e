//! Scripts whose interpreter runs in a worker: the same outcome and the same desk as in-process, and no change if the
//! worker is lost.

use std::sync::mpsc::{Receiver, Sender, channel};

use spelunk_types::{WorkBounds, WorkError, WorkLine, Workers};

use super::super::{apart, run_here, serve_shell};
use super::*;

/// A worker that is a thread.
#[derive(Debug)]
struct Threads;

struct Line {
    sender: Sender<Vec<u8>>,
    receiver: Receiver<Vec<u8>>,
}

impl WorkLine for Line {
    fn send(&mut self, message: &[u8]) -> Result<(), WorkError> {
        self.sender.send(message.to_vec()).map_err(|_| lost())
    }

    fn receive(&mut self) -> Result<Vec<u8>, WorkError> {
        self.receiver.recv().map_err(|_| lost())
    }
}

fn lost() -> WorkError {
    WorkError::Crashed { how: "nobody is there".to_owned() }
}

impl Workers for Threads {
    fn start(&self, task: &str, _: WorkBounds) -> Result<Box<dyn WorkLine>, WorkError> {
        assert_eq!(task, "shell");
        let ((to_worker, from_host), (to_host, from_worker)) = (channel(), channel());
        let there = Box::new(Line { sender: to_host, receiver: from_host });
        std::thread::spawn(move || serve_shell(there));
        Ok(Box::new(Line { sender: to_worker, receiver: from_worker }))
    }
}

const SCRIPTS: &[&str] = &[
    "ls -lR / | head -40; cat input/prompt.md scratch/words.txt | sort | uniq -c",
    "x=1; echo $x > scratch/a; echo more >> scratch/a; cat scratch/a; wc -c scratch/*",
    "mkdir -p scratch/d/e scratch/d; mkdir scratch/d; touch scratch/d/f; mv scratch/d/f output/g; cp output/g output/h; rm -r scratch/d; rm nothing; find .",
    "echo x > state/job.json; echo x > /etc/passwd; echo x > scratch/none/there; cat /dev/null scratch; cd nowhere",
    "for i in $(seq 1 50); do printf '%s\\n' $i >> scratch/n; done; tail -2 scratch/n; sed -i s/49/nine/ scratch/n; grep -n nine scratch/n",
    "printf '\\x00\\xff\\xfe' > scratch/raw; od -c scratch/raw; [ -e scratch/raw ] && [ -d scratch ] && [ ! -e none ] && echo yes",
    "while read -r line; do echo \"<$line>\"; done; echo $RANDOM $RANDOM; date",
    "ln -s a b; chmod +x scratch/words.txt; touch -d 2020-01-01 scratch/words.txt; readlink scratch/words.txt; df; du -s scratch",
    "exit 7",
    "syntax error ((",
    "f() { f; }; f",
    "while :; do :; done",
    "echo before > scratch/kept; cat <(yes) | head -c 3; false",
];

#[test]
fn a_script_in_a_worker_does_what_it_does_here() {
    for script in SCRIPTS {
        let limits = DeskLimits {
            shell: crate::ShellLimits { loop_rounds_max: 5000, ..Default::default() },
            ..DeskLimits::default()
        };
        let (mut here, mut there) = (desk().with_limits(limits.clone()), desk().with_limits(limits));
        let stdin = Some("one\ntwo\n");
        let expected = run_here(&mut here, script, stdin).unwrap();
        let ended = apart::run(&Threads, &mut there, script, stdin).unwrap();
        assert_eq!(format!("{ended:?}"), format!("{expected:?}"), "{script}");
        assert_eq!(there.digest(), here.digest(), "{script}");
    }
}

/// Workers that write a file and are lost.
#[derive(Debug)]
struct Lost(WorkError);

struct Losing {
    error: WorkError,
    said: Vec<&'static [u8]>,
}

impl WorkLine for Losing {
    fn send(&mut self, _: &[u8]) -> Result<(), WorkError> {
        Ok(())
    }

    fn receive(&mut self) -> Result<Vec<u8>, WorkError> {
        self.said.pop().map(<[u8]>::to_vec).ok_or_else(|| self.error.clone())
    }
}

impl Workers for Lost {
    fn start(&self, _: &str, _: WorkBounds) -> Result<Box<dyn WorkLine>, WorkError> {
        if matches!(self.0, WorkError::NoWorker { .. }) {
            return Err(self.0.clone());
        }
        let said: Vec<&[u8]> = vec![b"half", br#"{"write":"/scratch/half"}"#];
        Ok(Box::new(Losing { error: self.0.clone(), said }))
    }
}

#[test]
fn a_worker_that_is_lost_changes_nothing_and_is_an_outcome() {
    let outcome = |error: WorkError| {
        let (mut desk, before) = (desk(), desk());
        let ended = apart::run(&Lost(error), &mut desk, "x=1; echo $x > scratch/half", None);
        assert_eq!(desk.digest(), before.digest());
        match ended {
            Ok(ended) => super::super::told(&ended, 1000),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(
        outcome(WorkError::Memory { bytes_max: 1 << 30 }),
        "[stopped: the script used more than 1024 MB of memory and was stopped, and nothing was changed]\n"
    );
    assert_eq!(
        outcome(WorkError::Time { ms_max: 20_000 }),
        "[stopped: the script computed for more than 20 s and was stopped, and nothing was changed]\n"
    );
    assert_eq!(
        outcome(WorkError::Crashed { how: "killed by signal 11".to_owned() }),
        "[stopped: the interpreter failed on this script, and nothing was changed; write it another way]\n"
    );
    assert_eq!(
        outcome(WorkError::NoWorker { why: "there is none".to_owned() }),
        "the shell could not run: there is none"
    );
}
