//! Quick scripts: plain pipelines of text commands, run on the bytes of the desk without the interpreter.
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
mod uniq;
mod words;
mod work;

use std::borrow::Cow;

use self::pattern::Syntax;
use self::text::{Input, Output, Span};
use self::words::{Joined, Stage, Step, Target};
use self::work::Work;
use super::script::Ended;
use crate::{Desk, DeskPath, Entry};

/// What one command may read at once; more is for the interpreter, which counts memory.
const INPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What the patterns of a script may be made of, all together: at some hundred bytes each this is a few megabytes.
const PATTERN_PARTS_MAX: u64 = 100_000;

/// A command that was understood.
trait Filter {
    /// What it reads.
    fn wants(&self) -> Wants<'_>;

    /// Runs it; nothing where it meets a text or a size it is not made for.
    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()>;

    /// Whether it takes lines that are only chosen, and not one behind the other.
    fn takes_chosen(&self) -> bool {
        false
    }

    /// How many parts the patterns that it holds are made of.
    fn n_pattern_parts(&self) -> u64 {
        0
    }

    /// How many lines of its input it looks at.
    fn lines_max(&self) -> usize {
        usize::MAX
    }
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
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let steps = words::steps(script, count(limits.commands_max))?;
    let commands = commands(&steps)?;
    // Standard input belongs to whoever reads it first.
    let n_readers =
        steps.iter().zip(&commands).filter(|(step, commands)| reads_stdin(step, commands)).count();
    if stdin.is_some() && n_readers > 1 {
        return None;
    }
    let mut run = Run {
        bytes_max: count(limits.held_bytes_max) / 4,
        input_bytes_left: count(limits.input_bytes_max),
        printed_max: count(limits.output_bytes_max),
        // Half of what the interpreter may do: what is too much for both should not take twice as long.
        work: Work::new(limits.work_max / 2),
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

/// The commands of all steps.
fn commands(steps: &[Step]) -> Option<Vec<Vec<Box<dyn Filter>>>> {
    let mut n_parts = 0_u64;
    let mut made = |stage: &Stage| {
        let command = command(&stage.words)?;
        // All are held until the last has run.
        n_parts = n_parts.saturating_add(command.n_pattern_parts());
        (n_parts <= PATTERN_PARTS_MAX).then_some(command)
    };
    steps.iter().map(|step| step.stages.iter().map(&mut made).collect()).collect()
}

/// Whether the first command of a pipeline reads what the script was given.
fn reads_stdin(step: &Step, commands: &[Box<dyn Filter>]) -> bool {
    let is_redirected = step.stages.first().is_some_and(|stage| stage.from.is_some());
    let wants = commands.first().map_or(Wants::Nothing, |command| command.wants());
    !is_redirected
        && match wants {
            Wants::Nothing => false,
            Wants::Stdin => true,
            Wants::Files(names) => names.iter().any(|name| name == "-"),
        }
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
        "uniq" => Box::new(uniq::Uniq::read(words)?),
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
    /// What all commands together may still do.
    work: Work,
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
        // Files are read as they were when the pipeline began.
        let before = self.desk.clone();
        let mut carried = stdin.map(Carried::borrowed);
        for (idx, (stage, command)) in step.stages.iter().zip(commands).enumerate() {
            // A file gets all of it, however little the next command looks at.
            let next = commands.get(idx + 1).filter(|_| stage.to.is_none());
            let lines_max = next.map_or(usize::MAX, |next| next.lines_max());
            let mut out = Output::new(self.bytes_max, lines_max, self.work);
            let mut reads = self.inputs(&before, stage, &**command, carried)?;
            {
                let inputs: Vec<Input> = reads.iter().map(Read::as_input).collect();
                command.run(&inputs, &mut out)?;
            }
            self.exit_code = out.exit_code;
            self.work = out.work;
            self.work.spend_bytes(out.bytes.len(), 1)?;
            let done = match out.chosen {
                Some(lines) => Carried { bytes: reads.pop()?.carried.bytes, chosen: Some(lines) },
                None => Carried { bytes: Cow::Owned(out.bytes), chosen: None },
            };
            carried = match &stage.to {
                None => Some(done),
                Some(target) => {
                    self.write(&before, &step.stages, target, &done.whole())?;
                    Some(Carried::borrowed(&[]))
                }
            };
        }
        self.print(&carried?)
    }

    fn print(&mut self, done: &Carried) -> Option<()> {
        let n_bytes = done.chosen.as_ref().map_or(done.bytes.len(), |lines| text::n_bytes(lines));
        // Longer output is cut by the interpreter, which says so.
        if n_bytes > self.printed_max - self.printed.len() {
            return None;
        }
        match &done.chosen {
            Some(lines) => text::write_lines(lines, &done.bytes, &mut self.printed),
            None => self.printed.extend_from_slice(&done.bytes),
        }
        Some(())
    }

    fn inputs<'a>(
        &mut self,
        desk: &'a Desk,
        stage: &'a Stage,
        command: &'a dyn Filter,
        stdin: Option<Carried<'a>>,
    ) -> Option<Vec<Read<'a>>> {
        // A shell opens what is named, even for a command that does not read it.
        if let Some(name) = &stage.from {
            size(desk, name)?;
        }
        let file = |name: &str| Some(Carried { bytes: file(desk, name)?, chosen: None });
        let from_stdin = |stdin: Option<Carried<'a>>| match &stage.from {
            Some(path) => Some(Read { name: None, carried: file(path)?, is_file: true }),
            None => Some(Read { name: None, carried: stdin?, is_file: false }),
        };
        let mut reads = match command.wants() {
            Wants::Nothing => Vec::new(),
            Wants::Stdin => vec![from_stdin(stdin)?],
            // It may be read once.
            Wants::Files([name]) if name == "-" => vec![Read { name: Some(name), ..from_stdin(stdin)? }],
            Wants::Files(names) if names.iter().any(|name| name == "-") => return None,
            Wants::Files(names) => {
                // Sizes come first: a file may be named a thousand times, and be read each time.
                let mut n_bytes = 0_usize;
                for name in names {
                    n_bytes = n_bytes.saturating_add(size(desk, name)?);
                }
                if n_bytes > INPUT_BYTES_MAX.min(self.input_bytes_left) {
                    return None;
                }
                let read =
                    |name: &'a String| Some(Read { name: Some(name), carried: file(name)?, is_file: true });
                names.iter().map(read).collect::<Option<Vec<_>>>()?
            }
        };
        let mut n_bytes = 0;
        for read in &mut reads {
            if !command.takes_chosen() {
                read.carried.flatten();
            }
            n_bytes += read.as_input().n_bytes();
        }
        if n_bytes > INPUT_BYTES_MAX {
            return None;
        }
        self.input_bytes_left = self.input_bytes_left.checked_sub(n_bytes)?;
        self.work.spend(1)?;
        self.work.spend_bytes(n_bytes, 1)?;
        Some(reads)
    }

    /// Writes a file as the model may. A pipeline that also reads it is left to the interpreter.
    fn write(&mut self, before: &Desk, stages: &[Stage], target: &Target, bytes: &[u8]) -> Option<()> {
        let name = target.name();
        if name == "/dev/null" {
            return Some(());
        }
        let path = place(name)?;
        let is_path = |word: &String| place(word).as_ref() == Some(&path);
        let is_named = |stage: &Stage| stage.from.iter().chain(&stage.words).any(is_path);
        let is_target = |stage: &&Stage| stage.to.as_ref().is_some_and(|target| is_path(target.name()));
        // Two commands that write the same file at once write it in turns that nobody knows.
        let n_writers = stages.iter().filter(is_target).count();
        if n_writers > 1
            || stages.iter().any(is_named)
            || before.entry(&path.parent()?) != Some(Entry::Directory)
        {
            return None;
        }
        // The first change copies the list of all files, and adding to a file that others hold copies it.
        self.work.spend(self.desk.files().len() as u64)?;
        self.work.spend_bytes(bytes.len(), 1)?;
        match target {
            Target::Replace(_) => self.desk.write(&path, bytes).ok(),
            Target::Append(_) => {
                self.work.spend_bytes(size(self.desk, name).unwrap_or_default(), 1)?;
                self.desk.append(&path, bytes).ok()
            }
        }
    }
}

/// A text on its way from one command to the next.
struct Carried<'a> {
    bytes: Cow<'a, [u8]>,
    /// The lines it is made of, where it is not all of the bytes as they are.
    chosen: Option<Vec<Span>>,
}

impl<'a> Carried<'a> {
    fn borrowed(bytes: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), chosen: None }
    }

    /// All of it, one line behind the other.
    fn whole(&self) -> Cow<'_, [u8]> {
        match &self.chosen {
            None => Cow::Borrowed(&*self.bytes),
            Some(lines) => {
                let mut bytes = Vec::new();
                text::write_lines(lines, &self.bytes, &mut bytes);
                Cow::Owned(bytes)
            }
        }
    }

    fn flatten(&mut self) {
        if self.chosen.is_some() {
            *self = Self { bytes: Cow::Owned(self.whole().into_owned()), chosen: None };
        }
    }
}

/// What was read for a command.
struct Read<'a> {
    name: Option<&'a str>,
    carried: Carried<'a>,
    is_file: bool,
}

impl Read<'_> {
    fn as_input(&self) -> Input<'_> {
        Input {
            name: self.name,
            bytes: &self.carried.bytes,
            chosen: self.carried.chosen.as_deref(),
            is_file: self.is_file,
        }
    }
}

/// The bytes of a file that is there and can be read.
fn file<'a>(desk: &'a Desk, name: &str) -> Option<Cow<'a, [u8]>> {
    desk.read(&place(name)?).ok()
}

/// The size of a file that is there.
fn size(desk: &Desk, name: &str) -> Option<usize> {
    match desk.entry(&place(name)?)? {
        Entry::File { bytes } | Entry::Document { bytes } => usize::try_from(bytes).ok(),
        Entry::Directory => None,
    }
}

/// The path that a script means by a name: it works at the top of the desk.
fn place(name: &str) -> Option<DeskPath> {
    if name.ends_with('/') { None } else { DeskPath::parse(&format!("/{name}")).ok() }
}

#[cfg(test)]
mod tests;
