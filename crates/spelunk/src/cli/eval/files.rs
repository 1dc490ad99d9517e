//! The files of an evaluation: tasks, results and reports, where the user says they are.
#![expect(clippy::disallowed_methods, reason = "the binary reads and writes what the user names")]

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use spelunk_app::failure::{Failure, Usage};
use spelunk_eval::{FILE_BYTES_MAX, Sink, Task, Trials, read_tasks, read_trials};

/// The list of tasks within their folder.
pub(super) const TASKS_FILE: &str = "tasks.jsonl";

/// Files below a folder.
pub(super) struct DiskSink {
    root: PathBuf,
    current: Option<BufWriter<fs::File>>,
}

impl DiskSink {
    /// A folder that holds no tasks yet.
    pub(super) fn new(root: &Path) -> Result<Self, Failure> {
        if root.join(TASKS_FILE).exists() {
            return Err(Usage {
                message: format!("`{}` holds tasks already", root.display()),
                hint: "name another folder with `--out`, or remove that one".into(),
            }
            .into());
        }
        fs::create_dir_all(root).map_err(|error| unwritable(root, &error))?;
        Ok(Self { root: root.to_owned(), current: None })
    }

    /// Writes what is left, and the list of the tasks: last, so that a list is never ahead of its files.
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
            None => Err(io::Error::other("no file was begun")),
        }
    }
}

/// The tasks of a folder, or of the file that lists them; and the folder.
pub(super) fn load_tasks(path: &Path) -> Result<(PathBuf, Vec<Task>), Failure> {
    let list = if path.is_dir() { path.join(TASKS_FILE) } else { path.to_owned() };
    let text = read(&list, "make some with `spelunk eval tasks --out DIR`")?;
    let tasks = read_tasks(&text).map_err(|error| Usage {
        message: format!("`{}`: {error}", list.display()),
        hint: "correct the line, or make the tasks anew with `spelunk eval tasks`".into(),
    })?;
    let folder = list.parent().unwrap_or(Path::new(".")).to_owned();
    Ok((folder, tasks))
}

/// The trials of a file; none where there is no such file.
pub(super) fn load_trials(path: &Path) -> Result<Trials, Failure> {
    let text = read(path, "make some with `spelunk eval run`")?;
    Ok(read_trials(&text).map_err(|error| Usage {
        message: format!("`{}`: {error}", path.display()),
        hint: "remove the line, or name another file".into(),
    })?)
}

/// Reads a file that the user named.
pub(super) fn read(path: &Path, hint: &str) -> Result<String, Failure> {
    let unreadable = |reason: String| Usage {
        message: format!("could not read `{}`: {reason}", path.display()),
        hint: hint.to_owned(),
    };
    let bytes = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(unreadable(format!("it is longer than {FILE_BYTES_MAX} bytes")).into());
    }
    Ok(fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?)
}

/// Writes a file that the user named.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    Ok(made.and_then(|()| fs::write(path, text)).map_err(|error| unwritable(path, &error))?)
}

/// The results, to which lines are added.
pub(super) struct Results {
    path: PathBuf,
    file: fs::File,
}

impl Results {
    /// Opens the file behind its last whole line; what follows it was cut off by a crash.
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

    /// Adds a line that has its newline.
    pub(super) fn add(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.flush());
        Ok(written.map_err(|error| unwritable(&self.path, &error))?)
    }
}

/// Removes the runs of an evaluation.
pub(super) fn remove_runs(folder: &Path) -> Result<(), Failure> {
    Ok(fs::remove_dir_all(folder).map_err(|error| unwritable(folder, &error))?)
}

fn unwritable(path: &Path, error: &io::Error) -> Usage {
    Usage {
        message: format!("could not write `{}`: {error}", path.display()),
        hint: "make room, or name another place with `--out`".into(),
    }
}
