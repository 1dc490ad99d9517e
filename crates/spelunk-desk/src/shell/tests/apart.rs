//! Scripts whose worker is lost: nothing changes.

use spelunk_types::{WorkBounds, WorkError, WorkLine, Workers};

use super::super::apart;
use super::*;

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
        "[stopped: the script exceeded 1024 MB of memory and was stopped, and nothing was changed]\n"
    );
    assert_eq!(
        outcome(WorkError::Time { ms_max: 20_000 }),
        "[stopped: the script exceeded 20 s of CPU time and was stopped, and nothing was changed]\n"
    );
    assert_eq!(
        outcome(WorkError::Crashed { how: "killed by signal 11".to_owned() }),
        "[stopped: the interpreter failed on this script, and nothing was changed; write it differently]\n"
    );
    assert_eq!(
        outcome(WorkError::NoWorker { why: "there is none".to_owned() }),
        "the shell could not run: there is none"
    );
}
