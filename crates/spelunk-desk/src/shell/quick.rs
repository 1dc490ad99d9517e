//! Quick scripts: pipelines of text commands with nothing to expand, run on the bytes of the desk without the interpreter.
//! They do what the GNU tools do. Wherever a script, an option or a text is not plain, and wherever something fails, this
//! says nothing and leaves the desk alone: the interpreter then runs the whole script.

mod awk;
mod cut;
mod grep;
mod options;
mod pattern;
mod plain;
mod sed;
mod sort;
mod text;
mod tr;
mod words;

use std::borrow::Cow;

use self::pattern::Syntax;
use self::text::{Input, Output};
use self::words::{Joined, Stage, Step, Target};
use super::script::Ended;
use crate::{Desk, DeskPath, Entry};

/// What one command may read at once; more is for the interpreter, which counts memory.
const INPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A command that was understood.
trait Filter {
    /// What it reads.
    fn wants(&self) -> Wants<'_>;

    /// Runs it; nothing where it meets a text or a size it is not made for.
    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()>;
}

/// What a command reads.
enum Wants<'a> {
    Nothing,
    Stdin,
    Files(&'a [String]),
}

impl<'a> Wants<'a> {
    fn of(files: &'a [String]) -> Self {
        if files.is_empty() { Wants::Stdin } else { Wants::Files(files) }
    }
}

/// Runs a script on a desk, if it is plain from its first to its last command. A desk that was given to one that is not
/// may be changed in part: it is to be thrown away.
pub(super) fn run(desk: &mut Desk, script: &str, stdin: Option<&str>) -> Option<Ended> {
    let limits = &desk.limits().shell;
    if script.len() as u64 > limits.script_bytes_max {
        return None;
    }
    let steps = words::steps(script)?;
    let n_commands: usize = steps.iter().map(|step| step.stages.len()).sum();
    // Standard input belongs to whoever reads it first.
    if n_commands as u64 > limits.commands_max || (stdin.is_some() && steps.len() > 1) {
        return None;
    }
    let commands: Vec<Vec<Box<dyn Filter>>> = steps
        .iter()
        .map(|step| step.stages.iter().map(|stage| command(&stage.words)).collect())
        .collect::<Option<_>>()?;
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let mut run = Run {
        bytes_max: size(limits.held_bytes_max) / 4,
        input_bytes_left: size(limits.input_bytes_max),
        printed_max: size(limits.output_bytes_max),
        desk,
        printed: Vec::new(),
        exit_code: 0,
    };
    for (step, commands) in steps.iter().zip(&commands) {
        run.step(step, commands, stdin.map(str::as_bytes))?;
    }
    let stdout = match String::from_utf8(run.printed) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    Some(Ended { stdout, exit_code: run.exit_code, ..Ended::default() })
}

fn command(words: &[String]) -> Option<Box<dyn Filter>> {
    let (name, words) = words.split_first()?;
    Some(match name.as_str() {
        "awk" => Box::new(awk::Awk::read(words)?),
        "cat" => Box::new(plain::Cat::read(words)?),
        "cut" => Box::new(cut::Cut::read(words)?),
        "echo" => Box::new(plain::Say::echo(words)?),
        "egrep" => Box::new(grep::Grep::read(words, Syntax::Extended)?),
        "fgrep" => Box::new(grep::Grep::read(words, Syntax::Fixed)?),
        "grep" => Box::new(grep::Grep::read(words, Syntax::Basic)?),
        "head" => Box::new(plain::End::head(words)?),
        "sed" => Box::new(sed::Sed::read(words)?),
        "sort" => Box::new(sort::Sort::read(words)?),
        "tail" => Box::new(plain::End::tail(words)?),
        "tr" => Box::new(tr::Tr::read(words)?),
        "true" | ":" => Box::new(plain::Say::nothing(words)?),
        "uniq" => Box::new(sort::Uniq::read(words)?),
        "wc" => Box::new(plain::Wc::read(words)?),
        _ => return None,
    })
}

/// A script that is running.
struct Run<'d> {
    desk: &'d mut Desk,
    printed: Vec<u8>,
    exit_code: i32,
    /// The output of one command.
    bytes_max: usize,
    /// What all commands together may still read.
    input_bytes_left: usize,
    printed_max: usize,
}

impl Run<'_> {
    fn step(&mut self, step: &Step, commands: &[Box<dyn Filter>], stdin: Option<&[u8]>) -> Option<()> {
        let is_due = match step.joined {
            Joined::Always => true,
            Joined::AfterSuccess => self.exit_code == 0,
            Joined::AfterFailure => self.exit_code != 0,
        };
        if !is_due {
            return Some(());
        }
        let last = step.stages.len().checked_sub(1)?;
        let mut carried = None;
        // Files are read as they were when the pipeline began.
        let before = self.desk.clone();
        for (idx, (stage, command)) in step.stages.iter().zip(commands).enumerate() {
            let mut out = Output::new(self.bytes_max);
            {
                let stdin = if idx == 0 { stdin } else { carried.as_deref() };
                let inputs = self.inputs(&before, stage, &**command, stdin)?;
                let inputs: Vec<Input> = inputs.iter().map(Read::as_input).collect();
                command.run(&inputs, &mut out)?;
            }
            self.exit_code = out.exit_code;
            carried = match &stage.to {
                None => Some(out.bytes),
                Some(target) => {
                    self.write(&before, &step.stages, target, &out.bytes)?;
                    Some(Vec::new())
                }
            };
            if idx == last {
                self.print(&carried.take()?)?;
            }
        }
        Some(())
    }

    fn print(&mut self, bytes: &[u8]) -> Option<()> {
        // Longer output is cut by the interpreter, which says so.
        if bytes.len() > self.printed_max - self.printed.len() {
            return None;
        }
        self.printed.extend_from_slice(bytes);
        Some(())
    }

    fn inputs<'a>(
        &mut self,
        desk: &'a Desk,
        stage: &'a Stage,
        command: &'a dyn Filter,
        stdin: Option<&'a [u8]>,
    ) -> Option<Vec<Read<'a>>> {
        let from_stdin = || match &stage.from {
            Some(path) => Some(Read { name: None, bytes: file(desk, path)?, is_file: true }),
            None => Some(Read { name: None, bytes: Cow::Borrowed(stdin?), is_file: false }),
        };
        let reads = match command.wants() {
            Wants::Nothing => Vec::new(),
            Wants::Stdin => vec![from_stdin()?],
            Wants::Files(names) => names
                .iter()
                .map(|name| match name.as_str() {
                    // It may be read once.
                    "-" if names.len() == 1 => from_stdin(),
                    "-" => None,
                    name => Some(Read { name: Some(name), bytes: file(desk, name)?, is_file: true }),
                })
                .collect::<Option<Vec<_>>>()?,
        };
        let n_bytes: usize = reads.iter().map(|read| read.bytes.len()).sum();
        if n_bytes > INPUT_BYTES_MAX {
            return None;
        }
        self.input_bytes_left = self.input_bytes_left.checked_sub(n_bytes)?;
        Some(reads)
    }

    /// Writes a file as the model may. A pipeline that also reads it is left to the interpreter.
    fn write(&mut self, before: &Desk, stages: &[Stage], target: &Target, bytes: &[u8]) -> Option<()> {
        let (Target::Replace(name) | Target::Append(name)) = target;
        if name == "/dev/null" {
            return Some(());
        }
        let path = place(name)?;
        let is_path = |word: &String| place(word).as_ref() == Some(&path);
        let is_named = |stage: &Stage| stage.from.iter().chain(&stage.words).any(is_path);
        if stages.iter().any(is_named) || before.entry(&path.parent()?) != Some(Entry::Directory) {
            return None;
        }
        match target {
            Target::Replace(_) => self.desk.write(&path, bytes).ok(),
            Target::Append(_) => self.desk.append(&path, bytes).ok(),
        }
    }
}

/// What was read for a command.
struct Read<'a> {
    name: Option<&'a str>,
    bytes: Cow<'a, [u8]>,
    is_file: bool,
}

impl Read<'_> {
    fn as_input(&self) -> Input<'_> {
        Input { name: self.name, bytes: &self.bytes, is_file: self.is_file }
    }
}

/// The bytes of a file that is there and can be read.
fn file<'a>(desk: &'a Desk, name: &str) -> Option<Cow<'a, [u8]>> {
    desk.read(&place(name)?).ok()
}

/// The path that a script means by a name: it works at the top of the desk.
fn place(name: &str) -> Option<DeskPath> {
    if name.ends_with('/') { None } else { DeskPath::parse(&format!("/{name}")).ok() }
}

#[cfg(test)]
mod tests;
