//! Flags that select the files to read, shared by every command that reads files, and the scan itself.

use std::io::Read;
use std::path::Path;

use clap::Args;
use spelunk_app::render::answer::left_out;
use spelunk_app::render::progress::Progress;
use spelunk_app::sources::{context_source, contexts, is_server_url, redacted, scan_status, skipped, source};
use spelunk_app::units::bytes;
use spelunk_context::{Corpus, Needles, ScanOptions, SecretFiles, SourceInput};
use spelunk_types::{FileOrder, Limits};

use super::{App, Failure, Usage, no_such};

const STDIN_BYTES_MAX: u64 = 1_000_000_000;

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the command line")]
pub(crate) struct ScanFlags {
    /// Read only files that match, such as `*.rs`, even if they are skipped by default
    #[arg(long, value_name = "GLOB", help_heading = "File selection")]
    include: Vec<String>,
    /// Skip files that match
    #[arg(long, value_name = "GLOB", help_heading = "File selection")]
    exclude: Vec<String>,
    /// Do not descend into subdirectories
    #[arg(long, help_heading = "File selection")]
    no_recursive: bool,
    /// Also read files that `.gitignore` excludes
    #[arg(long, help_heading = "File selection")]
    no_gitignore: bool,
    /// Read at most this many files; 0 means no limit
    #[arg(long, value_name = "N", help_heading = "File selection")]
    files_max: Option<u64>,
    /// How `--files-max` chooses files: by size, path or priority
    #[arg(long, value_name = "ORDER", help_heading = "File selection")]
    order: Option<String>,
    /// Convert HTML to Markdown
    #[arg(long, help_heading = "File selection")]
    extract_html: bool,
    /// Read files that look like secrets, including hidden ones, and do not redact secrets in text
    #[arg(long, help_heading = "File selection")]
    allow_secrets: bool,
    /// Like `--allow-secrets`, but only for files that match
    #[arg(long, value_name = "GLOB", help_heading = "File selection")]
    allow_secret: Vec<String>,
}

impl ScanFlags {
    pub(crate) fn is_unset(&self) -> bool {
        let has_word = self.files_max.is_some() || self.order.is_some();
        let has_glob = !(self.include.is_empty() && self.exclude.is_empty() && self.allow_secret.is_empty());
        let has_switch = self.no_recursive || self.no_gitignore || self.extract_html || self.allow_secrets;
        !(has_word || has_glob || has_switch)
    }

    /// The scan options from the flags, else from the settings.
    pub(crate) fn options(&self, limits: &Limits) -> Result<ScanOptions, Failure> {
        let order = match &self.order {
            None => FileOrder::default(),
            Some(word) => {
                let found = FileOrder::ALL.into_iter().find(|order| order.name() == word);
                found.ok_or_else(|| no_such("order", word, &FileOrder::ALL.map(FileOrder::name)))?
            }
        };
        Ok(ScanOptions {
            allow_secrets: self.allow_secrets,
            allow_secret_globs: self.allow_secret.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            recursive: !self.no_recursive,
            gitignore: !self.no_gitignore,
            files_max: self.files_max.unwrap_or(limits.files_max),
            order,
            extract_html: self.extract_html,
            types: Vec::new(),
            plain: false,
        })
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct TypeFlags {
    /// Split by tokens, regardless of file type
    #[arg(long)]
    pub(crate) plain: bool,
    /// Treat matching files as a built-in or user-defined type, such as `*.inc=source_code`
    #[arg(long = "type", value_name = "GLOB=TYPE")]
    pub(crate) types: Vec<String>,
}

impl TypeFlags {
    pub(crate) fn is_unset(&self) -> bool {
        !self.plain && self.types.is_empty()
    }
}

/// The sources named on the command line; the current directory if there are none.
pub(crate) fn inputs(app: &App, paths: &[String]) -> Result<Vec<SourceInput>, Failure> {
    let here = [".".to_owned()];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    let input = |path: &String| match path.as_str() {
        "-" => Ok(SourceInput::Text { name: "stdin".into(), bytes: read_stdin()? }),
        url if is_server_url(url) => Ok(source(app, Path::new(url))),
        // Shown in part: a URL may contain a password.
        url if url.contains("://") && !app.current_dir.join(url).exists() => {
            let scheme = url.split("://").next().unwrap_or_default();
            let message = format!("`{scheme}://…` cannot be read: such an address is not supported");
            let hint = "download it first; a database is `postgres://USER@HOST/DATABASE`, a bucket `s3://BUCKET/PREFIX`";
            Err(Usage::new(message, hint).into())
        }
        // If no file has this name, a context may, such as `temporal:calendar`.
        id if !app.current_dir.join(id).exists() => {
            Ok(context(app, id).unwrap_or_else(|_| source(app, Path::new(id))))
        }
        typed => Ok(source(app, Path::new(typed))),
    };
    paths.iter().map(input).collect()
}

pub(crate) fn context(app: &App, id: &str) -> Result<SourceInput, Failure> {
    context_source(&contexts(app, SecretFiles::Refused)?, id, &|path| Ok(path.to_path_buf()))
}

pub(crate) fn read_stdin() -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(STDIN_BYTES_MAX + 1).read_to_end(&mut text);
    let refused = |message: String| Usage::new(message, "write it to a file and pass that file instead");
    read.map_err(|error| refused(format!("could not read standard input: {error}")))?;
    if text.len() as u64 > STDIN_BYTES_MAX {
        return Err(refused(format!("standard input is longer than {}", bytes(STDIN_BYTES_MAX))).into());
    }
    if text.trim_ascii().is_empty() {
        return Err(Usage::new("standard input is empty", "pipe a text into it").into());
    }
    Ok(text)
}

pub(crate) fn scan(app: &App, inputs: &[SourceInput], options: &ScanOptions) -> Result<Corpus, Failure> {
    Ok(scan_for(app, None, inputs, options)?.as_text()?)
}

/// The same for a question, where a source may be an image, or for a search for these words.
pub(crate) fn scan_for(
    app: &App,
    needles: Option<Needles>,
    inputs: &[SourceInput],
    options: &ScanOptions,
) -> Result<Corpus, Failure> {
    let mut progress = Progress::new(app.quiet);
    let corpus =
        Corpus::scan_for(needles, inputs, options, &mut |scan| progress.draw(|| scan_status(&scan)))?;
    progress.clear();
    Ok(corpus)
}

/// Reports skipped files and redacted secrets.
pub(crate) fn say_left_out(app: &App, corpus: &Corpus) {
    for remark in left_out(&skipped(corpus), &redacted(corpus)) {
        app.say(&remark);
    }
}
