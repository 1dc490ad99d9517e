//! The meaning of a seed: everything that happens to one simulated run, decided before it starts.

use spelunk_journal::SyncMode;
use spelunk_testkit::{Crash, Fault, Rule, on, status};

use crate::stage::Dice;

/// Retries that `quick_limits` allow.
const RETRIES_MAX: u64 = 3;
const CRASHES_MAX: u64 = 4;
/// Fewer writes than most simulated runs make, so that most disks die.
const WRITES_MAX: u64 = 30;

/// Everything that happens to one run.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) n_documents: u64,
    pub(super) n_parallel: u64,
    pub(super) cache_replies: bool,
    pub(super) mode: SyncMode,
    pub(super) calls: Vec<CallPlan>,
    pub(super) crashes: Vec<CrashPlan>,
}

/// What happens to a call.
#[derive(Debug)]
pub(super) struct CallPlan {
    pub(super) call: String,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    faults: Vec<Fault>,
    /// `None`: the provider refuses it permanently.
    reply: Option<String>,
}

/// When the disk dies, counted from the previous crash, and what is left of it.
#[derive(Debug)]
pub(super) struct CrashPlan {
    pub(super) at_write: u64,
    pub(super) leaves: Crash,
}

impl Plan {
    pub(super) fn from_seed(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let n_documents = 1 + dice.below(4);
        let of_children = (0..n_documents).map(|idx| format!("0.{idx}#0"));
        let of_root = (0..3).map(|ordinal| format!("0#{ordinal}"));
        let names: Vec<String> = of_children.chain(of_root).collect();
        let calls = names.into_iter().map(|call| CallPlan::roll(call, &mut dice)).collect();
        let crashes = (0..dice.below(CRASHES_MAX + 1)).map(|_| CrashPlan::roll(&mut dice)).collect();
        let (n_parallel, cache_replies) = (1 + dice.below(4), dice.below(2) == 0);
        let mode = if dice.below(2) == 0 { SyncMode::Process } else { SyncMode::Power };
        Self { n_documents, n_parallel, cache_replies, mode, calls, crashes }
    }

    /// Whether a disk may lose replies that were used already.
    pub(super) fn loses_replies(&self) -> bool {
        let loses = |crash: &CrashPlan| crash.leaves == Crash::LostTail;
        self.mode == SyncMode::Process && self.crashes.iter().any(loses)
    }

    pub(super) fn files(&self) -> Vec<(String, String)> {
        (0..self.n_documents).map(|idx| (format!("{idx}.md"), format!("This is document {idx}.\n"))).collect()
    }

    pub(super) fn rules(&self) -> Vec<Rule> {
        self.calls.iter().map(CallPlan::rule).collect()
    }
}

impl CallPlan {
    fn roll(call: String, dice: &mut Dice) -> Self {
        let faults = (0..dice.below(RETRIES_MAX + 1)).map(|_| transient(dice)).collect();
        // A long reply is stored as a blob, which is one more write to die at.
        let text =
            if dice.below(3) == 0 { "long ".repeat(600) } else { format!("reply {}", dice.below(1000)) };
        let reply = (dice.below(5) > 0).then_some(text);
        let (input_tokens, output_tokens) = (1 + dice.below(500), 1 + dice.below(50));
        Self { call, input_tokens, output_tokens, faults, reply }
    }

    fn rule(&self) -> Rule {
        let rule = self.faults.iter().cloned().fold(on(&self.call), Rule::fault);
        let rule = rule.usage(self.input_tokens, self.output_tokens);
        match &self.reply {
            Some(text) => rule.reply(text),
            None => rule.always(status(400)),
        }
    }
}

impl CrashPlan {
    fn roll(dice: &mut Dice) -> Self {
        let leaves = if dice.below(2) == 0 { Crash::Torn } else { Crash::LostTail };
        Self { at_write: 1 + dice.below(WRITES_MAX), leaves }
    }
}

fn transient(dice: &mut Dice) -> Fault {
    match dice.below(5) {
        0 => status(429).retry_after_ms(1).into(),
        1 => status(500).into(),
        2 => Fault::CutStream,
        3 => Fault::HangUp,
        _ => Fault::MalformedJson,
    }
}
