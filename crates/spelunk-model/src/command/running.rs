//! A running program. Input, output and error output are transferred concurrently: a program may
//! answer before it has read everything, and write errors meanwhile.

use std::collections::VecDeque;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use futures_util::FutureExt;
use spelunk_types::{StopReason, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::{CommandOptions, CommandOutput};
use crate::error_mapping::RequestContext;
use crate::price::Price;
use crate::tool_drafts::Drafts;
use crate::wire::command as wire;
use crate::{ModelDelta, ModelError};

const LINE_BYTES_MAX: usize = 16_000_000;
/// How much of the end of the error output is kept.
const COMPLAINT_BYTES_MAX: usize = 4_096;
/// How many times the rest of the error output is read after the end.
const LAST_LOOKS_MAX: usize = 64;

pub(super) struct Running {
    options: Arc<CommandOptions>,
    context: RequestContext,
    input: Vec<u8>,
    n_written: usize,
    pipes: Option<Pipes>,
    /// Output that is not yet a complete character or line.
    pending: Vec<u8>,
    /// How much of `pending` contains no newline; without it, a long line would be searched repeatedly.
    n_searched: usize,
    /// Newlines that may turn out to be trailing ones.
    held_line_ends: String,
    complaint: Vec<u8>,
    drafts: Drafts,
    n_calls: u64,
    ready: VecDeque<ModelDelta>,
    is_over: bool,
}

struct Pipes {
    child: Child,
    /// `None` once everything is written or the program has closed its input.
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

impl Running {
    pub(super) fn new(options: Arc<CommandOptions>, input: Vec<u8>, context: RequestContext) -> Self {
        Self {
            options,
            context,
            input,
            n_written: 0,
            pipes: None,
            pending: Vec::new(),
            n_searched: 0,
            held_line_ends: String::new(),
            complaint: Vec::new(),
            drafts: Drafts::default(),
            n_calls: 0,
            ready: VecDeque::new(),
            is_over: false,
        }
    }

    pub(super) async fn advance(mut self) -> Result<Option<(ModelDelta, Self)>, ModelError> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                if matches!(delta, ModelDelta::Done { .. }) {
                    self.is_over = true;
                    self.ready.clear();
                }
                return Ok(Some((delta, self)));
            }
            if self.is_over {
                return Ok(None);
            }
            self.step().await?;
        }
    }

    fn start(&self) -> Result<Pipes, ModelError> {
        let mut child = Command::new(&self.options.program)
            .args(&self.options.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| self.context.unreachable(&format!("could not start it: {error}")))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok(Pipes { child, stdin, stdout, stderr })
    }

    async fn step(&mut self) -> Result<(), ModelError> {
        let mut pipes = match self.pipes.take() {
            Some(pipes) => pipes,
            None => self.start()?,
        };
        let (mut output, mut complaint) = ([0; 8192], [0; 1024]);
        let unwritten = self.input.get(self.n_written..).unwrap_or_default();
        let Pipes { child, stdin, stdout, stderr } = &mut pipes;
        let (has_input, has_output, has_complaints) = (stdin.is_some(), stdout.is_some(), stderr.is_some());
        let failed = |error: io::Error| self.context.unreachable(&error.to_string());
        // Whichever is ready first. The exit of the program counts only after the end of its output.
        tokio::select! {
            wrote = write_some(stdin, unwritten), if has_input => {
                // A program need not read all of its input.
                let n_bytes = wrote.unwrap_or(0);
                self.n_written += n_bytes;
                if n_bytes == 0 || self.n_written >= self.input.len() {
                    *stdin = None;
                }
            }
            read = read_some(stdout, &mut output), if has_output => match read.map_err(failed)? {
                0 => *stdout = None,
                n_bytes => self.read(output.get(..n_bytes).unwrap_or_default())?,
            },
            read = read_some(stderr, &mut complaint), if has_complaints => match read.map_err(failed)? {
                0 => *stderr = None,
                n_bytes => self.complain(complaint.get(..n_bytes).unwrap_or_default()),
            },
            status = child.wait(), if !has_output => {
                let status = status.map_err(failed)?;
                self.read_last_complaints(stderr);
                return self.end(status);
            }
        }
        self.pipes = Some(pipes);
        Ok(())
    }

    /// Reads what is left of the error output, without waiting.
    fn read_last_complaints(&mut self, stderr: &mut Option<ChildStderr>) {
        let Some(stderr) = stderr else { return };
        let mut complaint = [0; 1024];
        for _ in 0..LAST_LOOKS_MAX {
            match stderr.read(&mut complaint).now_or_never() {
                Some(Ok(n_bytes)) if n_bytes > 0 => {
                    self.complain(complaint.get(..n_bytes).unwrap_or_default());
                }
                Some(_) | None => break,
            }
        }
    }

    fn complain(&mut self, bytes: &[u8]) {
        self.complaint.extend_from_slice(bytes);
        let excess = self.complaint.len().saturating_sub(COMPLAINT_BYTES_MAX);
        self.complaint.drain(..excess);
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.pending.extend_from_slice(bytes);
        match self.options.output {
            CommandOutput::Text => self.read_text(),
            CommandOutput::JsonLines => self.read_lines(),
        }
    }

    /// Everything up to the last complete character. Newlines are held back: trailing ones are dropped.
    fn read_text(&mut self) -> Result<(), ModelError> {
        let n_whole = match str::from_utf8(&self.pending) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return Err(self.context.malformed("it is not UTF-8")),
        };
        let text: Vec<u8> = self.pending.drain(..n_whole).collect();
        let text = String::from_utf8(text).map_err(|_| self.context.malformed("it is not UTF-8"))?;
        let text = std::mem::take(&mut self.held_line_ends) + &text;
        let answer = text.trim_end_matches(['\n', '\r']);
        text.strip_prefix(answer).unwrap_or_default().clone_into(&mut self.held_line_ends);
        if !answer.is_empty() {
            self.ready.push_back(ModelDelta::Text(answer.to_owned()));
        }
        Ok(())
    }

    fn read_lines(&mut self) -> Result<(), ModelError> {
        loop {
            let unsearched = self.pending.get(self.n_searched..).unwrap_or_default();
            let Some(offset) = unsearched.iter().position(|byte| *byte == b'\n') else { break };
            let line: Vec<u8> = self.pending.drain(..=self.n_searched + offset).collect();
            self.n_searched = 0;
            self.read_line(&line)?;
        }
        self.n_searched = self.pending.len();
        if self.pending.len() > LINE_BYTES_MAX {
            return Err(ModelError::ReplyTooLong { bytes_max: LINE_BYTES_MAX as u64 });
        }
        Ok(())
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), ModelError> {
        let line = str::from_utf8(line).map_err(|_| self.context.malformed("a line is not UTF-8"))?.trim();
        if line.is_empty() {
            return Ok(());
        }
        let line: wire::Line = serde_json::from_str(line)
            .map_err(|error| self.context.malformed(&format!("a line is not valid: {error}")))?;
        match line {
            wire::Line::Text(text) => {
                self.ready.extend(Some(text).filter(|text| !text.is_empty()).map(ModelDelta::Text));
            }
            wire::Line::Reasoning(text) => self.ready.push_back(ModelDelta::Reasoning(text)),
            wire::Line::ToolCall(wire::Call { id, name, arguments }) => {
                let index = self.n_calls;
                self.n_calls += 1;
                let arguments = if arguments.is_null() { String::new() } else { arguments.to_string() };
                if self.drafts.add(index, Some(id), Some(name), &arguments).is_err() {
                    return Err(self.context.malformed("it contains too many tool calls"));
                }
                self.ready.extend(self.drafts.finish(index));
            }
            wire::Line::Done(done) => {
                let stop = done.stop.unwrap_or(StopReason::Finished);
                self.done(stop, done.usage);
            }
            wire::Line::Error(detail) => {
                let (program, detail) = (self.options.program.clone(), self.context.detail(&detail));
                return Err(ModelError::CommandFailed { program, status: "an error".to_owned(), detail });
            }
        }
        Ok(())
    }

    fn done(&mut self, stop: StopReason, usage: Option<Usage>) {
        let price = self.options.price.unwrap_or(Price::FREE);
        let usage = usage.map(|usage| Usage { cost_microusd: price.cost_microusd(&usage), ..usage });
        self.ready.push_back(ModelDelta::Done { stop, usage });
    }

    fn end(&mut self, status: ExitStatus) -> Result<(), ModelError> {
        if !status.success() {
            let detail = self.context.detail(&String::from_utf8_lossy(&self.complaint));
            let (program, status) = (self.options.program.clone(), status.to_string());
            return Err(ModelError::CommandFailed { program, status, detail });
        }
        let rest = std::mem::take(&mut self.pending);
        match self.options.output {
            CommandOutput::Text if !rest.is_empty() => return Err(self.context.malformed("it is not UTF-8")),
            CommandOutput::Text => {}
            CommandOutput::JsonLines => self.read_line(&rest)?,
        }
        self.done(StopReason::Finished, None);
        Ok(())
    }
}

async fn write_some(stdin: &mut Option<ChildStdin>, bytes: &[u8]) -> io::Result<usize> {
    match stdin {
        Some(stdin) => stdin.write(bytes).await,
        None => Ok(0),
    }
}

async fn read_some(pipe: &mut Option<impl AsyncReadExt + Unpin>, buffer: &mut [u8]) -> io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read(buffer).await,
        None => Ok(0),
    }
}

#[cfg(test)]
mod tests;
