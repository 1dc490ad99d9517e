//! Opens a session: limits, the prelude, host functions and variables.

use std::time::Duration;

use monty::MontyRepl;
use monty_types::{
    AssertMessageAnnotations, CompileOptions, DateTimeSource, MontyObject, NamedValues, OsPolicy,
    PrintWriter, RandomSeed, RandomStart, ResourceLimits, ResourceTracker, SleepMode,
};

use super::callers::CallerPrelude;
use super::capture::Capture;
use super::files::Files;
use super::names;
use super::patterns::Patterns;
use super::prelude;
use super::rewrite::Session;
use super::system::Clock;
use super::trace::Sources;
use super::values::{Handles, to_monty};
use super::{Cell, MontyInterpreter, State, broken_prelude};
use crate::{CellEnd, InterpreterError, Setup, Step};

pub(super) fn open(setup: &Setup) -> Result<MontyInterpreter, InterpreterError> {
    let limits = ResourceLimits::default()
        .max_feed_duration(Duration::from_millis(setup.limits.cell_ms_max))
        .max_memory(usize::try_from(setup.limits.memory_bytes_max).unwrap_or(usize::MAX))
        .max_recursion_depth(usize::try_from(setup.limits.recursion_max).unwrap_or(usize::MAX))
        .max_suspensions(usize::MAX);
    let options = CompileOptions {
        assert_message_annotations: AssertMessageAnnotations::Off,
        ..CompileOptions::default()
    };
    let policy = OsPolicy {
        datetime: DateTimeSource::CallHost,
        sleep: SleepMode::CallHost,
        random_start: RandomStart::Seed(RandomSeed::Int(setup.seed.into())),
        ..OsPolicy::default()
    };
    let mut repl = MontyRepl::new("cell", ResourceTracker::new(limits), options).with_os_policy(policy);
    let mut handles = Handles::default();
    let mut sources = Sources::default();
    let mut session = Session::new(setup);

    let mut bound = NamedValues::new();
    let plain = setup.functions.iter().map(|function| (function, ""));
    let awaitable = setup.functions.iter().filter(|function| function.is_awaitable);
    let awaitable = awaitable.flat_map(|function| [(function, names::NOW), (function, names::LATER)]);
    for (function, way) in plain.chain(awaitable) {
        let name = format!("{way}{}", function.name);
        bound.push(name.clone(), MontyObject::function(name, Some(function.doc.clone())));
    }
    for (name, value) in &setup.variables {
        bound.push(name.clone(), to_monty(value.clone(), &mut handles));
    }
    bound.push("__sp_handle_types", handles.shown_classes());
    let mut inputs = Some(bound);
    for source in opening(&mut session, setup) {
        sources.add_prelude(repl.next_script_name());
        let run = repl.feed_run(&source, inputs.take().unwrap_or_default(), PrintWriter::Disabled);
        run.map_err(|error| broken_prelude(&error))?;
    }
    session.has_handles = !handles.is_empty();
    session.has_texts_only = handles.has_texts_only();
    let mut interpreter = MontyInterpreter {
        state: State::Idle(Box::new(repl)),
        functions: setup.functions.iter().map(|function| (function.name.clone(), function.clone())).collect(),
        exceptions: setup.exceptions.clone(),
        limits: setup.limits,
        n_shown_classes: handles.n_classes(),
        handles,
        files: Files::new(&setup.files),
        clock: Clock::new(setup.clock_ms),
        sources,
        session,
        callers: CallerPrelude::new(&setup.prelude)?,
        patterns: Patterns::default(),
        capture: Capture::new(setup.limits.output_chars_max),
        cell: Cell::default(),
    };
    interpreter.run_callers_prelude("")?;
    Ok(interpreter)
}

/// What runs before anything else: our names, and the awaitable host functions.
fn opening(session: &mut Session, setup: &Setup) -> Vec<String> {
    let mut code = String::new();
    for function in setup.functions.iter().filter(|function| function.is_awaitable) {
        let name = &function.name;
        code.push_str(&format!(
            "def {name}(*args, **kwargs):\n    return __sp_ask(__sp_f_{name}, __sp_a_{name}, args, kwargs)\n"
        ));
    }
    let mut sources = vec![prelude::opening()];
    sources.extend(session.needed(&format!("__sp_echo\n{code}")));
    sources.push(code);
    sources
}

impl MontyInterpreter {
    /// Runs the parts of the caller's prelude that a cell needs, like a cell, except that it must not call the host.
    pub(super) fn run_callers_prelude(&mut self, cell: &str) -> Result<(), InterpreterError> {
        let needed = self.callers.needed(cell);
        if needed.is_empty() {
            return Ok(());
        }
        let step = self.begin(&needed.join("\n"), false)?;
        if matches!(step, Step::Finished(CellEnd::Done { .. })) {
            return Ok(());
        }
        Err(InterpreterError::Protocol { what: format!("the prelude of the setup does not run: {step:?}") })
    }
}
