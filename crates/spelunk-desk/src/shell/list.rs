//! `ls` with the columns of the GNU tool, which scripts split by number: the interpreter's own has fewer columns and
//! prints nothing if one name is missing. Links, owner and time, which a desk lacks, are constant.

use std::cmp::Reverse;

use bashkit::{Builtin, BuiltinContext, ExecResult, FileType, Metadata, async_trait};

/// The supported options. `-1` and `-t` change nothing: output is one name per line, and every file has the same time.
const OPTIONS: &str = "1aAdFhlprRSt";

/// The size limit of a listing: more than any script is shown, while `ls -R / / / …` could run forever.
const LISTING_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(super) struct List;

#[async_trait]
impl Builtin for List {
    async fn execute(&self, context: BuiltinContext<'_>) -> bashkit::Result<ExecResult> {
        let (options, names) = match read(context.args) {
            Ok(read) => read,
            Err(why) => return Ok(ExecResult::err(why, 2)),
        };
        let mut listing = Listing { options, text: String::new() };
        let mut complaints = String::new();
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for name in &names {
            match context.fs.stat(&context.cwd.join(name)).await {
                Ok(found) if is_directory(&found) && !listing.has('d') => directories.push(name.clone()),
                Ok(found) => files.push((name.clone(), found)),
                Err(error) => complaints.push_str(&complaint(name, &error)),
            }
        }
        listing.add(files);
        let is_headed = names.len() > 1 || listing.has('R');
        directories.sort_unstable();
        // The next directory is the last one in the list.
        if !listing.has('r') {
            directories.reverse();
        }
        while let Some(name) = directories.pop() {
            if listing.text.len() > LISTING_BYTES_MAX {
                complaints.push_str("ls: the listing is too long; name fewer directories\n");
                break;
            }
            let path = context.cwd.join(&name);
            let mut entries: Vec<(String, Metadata)> = match context.fs.read_dir(&path).await {
                Ok(entries) => entries.into_iter().map(|entry| (entry.name, entry.metadata)).collect(),
                Err(error) => {
                    complaints.push_str(&complaint(&name, &error));
                    continue;
                }
            };
            entries.retain(|(name, _)| !name.starts_with('.') || listing.has('a') || listing.has('A'));
            if is_headed {
                listing.head(&name);
            }
            let below = listing.sorted(entries);
            if listing.has('R') {
                let is_below = below.iter().rev().filter(|(_, found)| is_directory(found));
                directories
                    .extend(is_below.map(|(below, _)| format!("{}/{below}", name.trim_end_matches('/'))));
            }
            let mut shown = Vec::new();
            if listing.has('a') {
                for dots in [".", ".."] {
                    shown.push((dots.to_owned(), context.fs.stat(&path.join(dots)).await?));
                }
            }
            shown.extend(below);
            if listing.has('l') {
                listing.total(&shown);
            }
            listing.add(shown);
        }
        let exit_code = if complaints.is_empty() { 0 } else { 2 };
        let mut result = ExecResult::with_code(listing.text, exit_code);
        result.stderr = complaints.into();
        Ok(result)
    }
}

/// The option letters and the names; the current directory if no names are given.
fn read(words: &[String]) -> Result<(String, Vec<String>), String> {
    let (mut options, mut names) = (String::new(), Vec::new());
    let mut words = words.iter();
    for word in words.by_ref() {
        match word.strip_prefix('-') {
            Some("-") => break,
            Some(long) if long.starts_with("-color") => {}
            Some(letters) if !letters.is_empty() => match letters.chars().find(|c| !OPTIONS.contains(*c)) {
                None => options.push_str(letters),
                Some(_) => {
                    return Err(format!("ls: unsupported option `{word}`; supported are -{OPTIONS}\n"));
                }
            },
            Some(_) | None => names.push(word.clone()),
        }
    }
    names.extend(words.cloned());
    if names.is_empty() {
        names.push(".".to_owned());
    }
    Ok((options, names))
}

fn complaint(name: &str, error: &bashkit::Error) -> String {
    let why = error.to_string();
    format!("ls: cannot access '{name}': {}\n", why.strip_prefix("io error: ").unwrap_or(&why))
}

fn is_directory(found: &Metadata) -> bool {
    found.file_type == FileType::Directory
}

struct Listing {
    options: String,
    text: String,
}

impl Listing {
    fn has(&self, option: char) -> bool {
        self.options.contains(option)
    }

    fn head(&mut self, name: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&format!("{name}:\n"));
    }

    /// The total size in kilobytes: a desk has no blocks.
    fn total(&mut self, entries: &[(String, Metadata)]) {
        let n_kilobytes: u64 = entries.iter().map(|(_, found)| found.size.div_ceil(1024)).sum();
        let total = if self.has('h') { human(n_kilobytes * 1024) } else { n_kilobytes.to_string() };
        self.text.push_str(&format!("total {total}\n"));
    }

    fn sorted(&self, mut entries: Vec<(String, Metadata)>) -> Vec<(String, Metadata)> {
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        if self.has('S') {
            entries.sort_by_key(|(_, found)| Reverse(found.size));
        }
        if self.has('r') {
            entries.reverse();
        }
        entries
    }

    fn add(&mut self, entries: Vec<(String, Metadata)>) {
        let size = |found: &Metadata| if self.has('h') { human(found.size) } else { found.size.to_string() };
        let width = entries.iter().map(|(_, found)| size(found).len()).max().unwrap_or_default();
        let mut lines = String::new();
        for (name, found) in &self.sorted(entries) {
            if self.has('l') {
                let (mode, size) = (mode(found), size(found));
                lines.push_str(&format!("{mode} 1 model model {size:>width$} Jan  1 00:00 "));
            }
            lines.push_str(name);
            if is_directory(found) && (self.has('F') || self.has('p')) {
                lines.push('/');
            } else if found.mode & 0o100 != 0 && !is_directory(found) && self.has('F') {
                lines.push('*');
            }
            lines.push('\n');
        }
        self.text.push_str(&lines);
    }
}

/// `drwxr-xr-x`.
fn mode(found: &Metadata) -> String {
    let kind = if is_directory(found) { 'd' } else { '-' };
    let letter =
        |(idx, letter): (usize, char)| if found.mode & (0o400_u32 >> idx) == 0 { '-' } else { letter };
    std::iter::once(kind).chain("rwxrwxrwx".chars().enumerate().map(letter)).collect()
}

/// `977`, `1.5K`, `13K`: rounded up, as the GNU tool does.
fn human(bytes: u64) -> String {
    let (mut unit, mut letters) = (1_u64, " KMGT".chars());
    let mut letter = letters.next();
    while bytes.div_ceil(unit) >= 1024 {
        let Some(next) = letters.next() else { break };
        (unit, letter) = (unit * 1024, Some(next));
    }
    let Some(letter) = letter.filter(|_| unit > 1) else { return bytes.to_string() };
    let n_tenths = (bytes * 10).div_ceil(unit);
    if n_tenths < 100 {
        format!("{}.{}{letter}", n_tenths / 10, n_tenths % 10)
    } else {
        format!("{}{letter}", bytes.div_ceil(unit))
    }
}
