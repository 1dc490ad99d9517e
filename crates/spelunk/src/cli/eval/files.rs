//! The files of an evaluation: tasks, results and reports, at user-chosen paths.
#![expect(clippy::disallowed_methods, reason = "the binary reads and writes what the user names")]

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use spelunk_eval::{FILE_BYTES_MAX, Sink, Task, Trials, read_tasks, read_trials};

use crate::cli::{Failure, Usage};

pub(super) const TASKS_FILE: &str = "tasks.jsonl";

pub(super) struct DiskSink {
    root: PathBuf,
    current: Option<BufWriter<fs::File>>,
}

impl DiskSink {
    /// A folder that contains no tasks yet.
    pub(super) fn new(root: &Path) -> Result<Self, Failure> {
        if root.join(TASKS_FILE).exists() {
            return Err(Usage::new(
                format!("`{}` already contains tasks", root.display()),
                "choose another folder with `--out`, or remove this one",
            )
            .into());
        }
        fs::create_dir_all(root).map_err(|error| unwritable(root, &error))?;
        Ok(Self { root: root.to_owned(), current: None })
    }

    /// Writes the remaining files, and the task list last, so that the list never refers to missing files.
    pub(super) fn finish(mut self, list: &str) -> Result<(), Failure> {
        let path = self.root.join(TASKS_FILE);
        let flushed = self.current.take().map_or(Ok(()), |mut file| file.flush());
        Ok(flushed.and_then(|()| fs::write(&path, list)).map_err(|error| unwritable(&path, &error))?)
    }
}

impl Sink for DiskSink {
    fn begin(&mut self, path: &str) -> io::Result<()> {
        if let Some(mut file) = self.current.take() {
            file.flush()?;
        }
        let path = self.root.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        self.current = Some(BufWriter::new(fs::File::create(path)?));
        Ok(())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        match &mut self.current {
            Some(file) => file.write_all(text.as_bytes()),
            None => Err(io::Error::other("no file has been started")),
        }
    }
}

pub(super) fn load_tasks(path: &Path) -> Result<(PathBuf, Vec<Task>), Failure> {
    let list = if path.is_dir() { path.join(TASKS_FILE) } else { path.to_owned() };
    let text = read(&list, "generate some with `spelunk eval tasks --out DIR`")?;
    let tasks = read_tasks(&text).map_err(|error| Usage {
        message: format!("`{}`: {error}", list.display()),
        hint: "correct the line, or generate the tasks again with `spelunk eval tasks`".into(),
    })?;
    let folder = list.parent().unwrap_or(Path::new(".")).to_owned();
    Ok((folder, tasks))
}

/// The trials in a file; none if the file does not exist.
pub(super) fn load_trials(path: &Path) -> Result<Trials, Failure> {
    let text = read(path, "create some with `spelunk eval run`")?;
    Ok(read_trials(&text).map_err(|error| {
        Usage::new(format!("`{}`: {error}", path.display()), "remove the line, or choose another file")
    })?)
}

pub(super) fn read(path: &Path, hint: &str) -> Result<String, Failure> {
    let unreadable =
        |reason: String| Usage::new(format!("could not read `{}`: {reason}", path.display()), hint);
    let bytes = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(unreadable(format!("it is longer than {FILE_BYTES_MAX} bytes")).into());
    }
    Ok(fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?)
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    Ok(made.and_then(|()| fs::write(path, text)).map_err(|error| unwritable(path, &error))?)
}

/// The results file, open for appending.
pub(super) struct Results {
    path: PathBuf,
    file: fs::File,
}

impl Results {
    /// Opens the file after its last complete line; the rest was cut off by a crash.
    pub(super) fn open(path: &Path, bytes_whole: usize) -> Result<Self, Failure> {
        let open = || {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            let mut file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
            file.set_len(bytes_whole as u64)?;
            io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|error: io::Error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a line, which must end with a newline.
    pub(super) fn add(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.flush());
        Ok(written.map_err(|error| unwritable(&self.path, &error))?)
    }
}

pub(super) fn remove_runs(folder: &Path) -> Result<(), Failure> {
    Ok(fs::remove_dir_all(folder).map_err(|error| unwritable(folder, &error))?)
}

fn unwritable(path: &Path, error: &io::Error) -> Usage {
    Usage::new(
        format!("could not write `{}`: {error}", path.display()),
        "free some space, or choose another location with `--out`",
    )
}
