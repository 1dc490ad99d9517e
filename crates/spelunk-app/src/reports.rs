//! Reports of runs: their formats, and the source excerpts they quote.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use spelunk_context::{Corpus, Reader, View, check_citations};
use spelunk_engine::RunReport;
use spelunk_journal::Workspace;
use spelunk_types::{Citation, Found, RunId, SourceSpec, truncate};

use crate::app::App;
use crate::config::choice;
use crate::failure::{Failure, Result};
use crate::render::progress::Progress;
use crate::render::report::html::html;
use crate::render::report::json::json;
use crate::render::report::markdown::markdown;
use crate::render::report::sarif::sarif;
use crate::render::report::{Excerpt, Excerpts, LINES_AROUND, LINES_MARKED_MAX, ReportData};
use crate::render::viewer::{Exported, exported};
use crate::sources::scan_status;

const EXCERPTS_MAX: usize = 5_000;
const LINE_CHARS_MAX: usize = 500;

choice! {
    pub Format {
        Markdown = "md",
        Html = "html",
        Sarif = "sarif",
        Json = "json",
    }
}

impl Format {
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.to_ascii_lowercase();
        let is = |end: &str| name.strip_suffix(end).is_some();
        match () {
            () if is(".sarif") || is(".sarif.json") => Some(Self::Sarif),
            () if is(".json") => Some(Self::Json),
            () if is(".html") || is(".htm") => Some(Self::Html),
            () if is(".md") || is(".markdown") => Some(Self::Markdown),
            () => None,
        }
    }
}

pub fn render_report(app: &App, workspace: &Workspace, run: &RunId, format: Format) -> Result<String> {
    let report = RunReport::read(workspace, run)?;
    let excerpts = if needs_sources(format) { excerpts(app, &report) } else { Excerpts::default() };
    Ok(report_text(app, &report, &excerpts, format))
}

/// The viewer with this run as one file, and the number of texts that were left out.
pub fn render_page(app: &App, workspace: &Workspace, run: &RunId) -> Result<(String, u64)> {
    let report = RunReport::read(workspace, run)?;
    let (report, excerpts, detector) = (&report, &excerpts(app, &report), &app.settings.detector());
    Ok(exported(&Exported { workspace, run, report, excerpts, detector })?)
}

pub fn needs_sources(format: Format) -> bool {
    matches!(format, Format::Html | Format::Sarif)
}

pub fn report_text(app: &App, report: &RunReport, excerpts: &Excerpts, format: Format) -> String {
    let base = base(app, &report.view.sources);
    let data = ReportData { report, excerpts, base: &base };
    match format {
        Format::Markdown => markdown(report),
        Format::Html => html(&data),
        Format::Sarif => sarif(&data),
        Format::Json => json(report),
    }
}

/// Documents are named relative to their directory source; code hosts need paths relative to the current one.
fn base(app: &App, sources: &[SourceSpec]) -> String {
    let [SourceSpec::Path { path, name: None }] = sources else { return String::new() };
    let path = Path::new(path);
    let inner = path.strip_prefix(&app.current_dir).ok().filter(|_| path.is_dir());
    let parts = inner.into_iter().flat_map(Path::components).filter_map(|part| match part {
        std::path::Component::Normal(part) => part.to_str(),
        std::path::Component::CurDir
        | std::path::Component::ParentDir
        | std::path::Component::RootDir
        | std::path::Component::Prefix(_) => None,
    });
    parts.map(|part| format!("{part}/")).collect::<Vec<_>>().concat()
}

/// Reads the lines around every finding and citation, if the sources are unchanged.
pub fn excerpts(app: &App, report: &RunReport) -> Excerpts {
    let places = places(report);
    if places.is_empty() {
        return Excerpts::default();
    }
    let mut progress = Progress::new(app.quiet);
    let corpus = app.looking_engine(report.scan.clone()).and_then(|engine| {
        Ok(engine.open_corpus(&report.view.sources, &mut |scan| progress.draw(|| scan_status(&scan)))?)
    });
    progress.clear();
    match corpus {
        Ok(corpus) => of_corpus(report, places, corpus),
        Err(Failure(error)) => {
            let remark = Some(format!("the sources could not be read again: {error}"));
            Excerpts { remark, ..Excerpts::default() }
        }
    }
}

fn of_corpus(report: &RunReport, mut places: Vec<CitedLines>, corpus: Corpus) -> Excerpts {
    let is_same = report.corpus_digest.as_ref() == Some(corpus.digest());
    let view = View::of(Arc::new(corpus));
    let n_before = places.len();
    if !is_same {
        // A line number alone proves nothing, because the file may have changed.
        let claims: Vec<Citation> = places.iter().map(|place| place.citation.clone()).collect();
        let looked_up = check_citations(&view, &claims);
        let mut is_there = looked_up.iter().map(|(_, found)| *found == Found::Exact);
        places.retain(|place| is_there.next().unwrap_or_default() && !place.citation.quote.is_empty());
    }
    let mut by_file: BTreeMap<&str, Vec<&CitedLines>> = BTreeMap::new();
    for place in &places {
        by_file.entry(&place.citation.document).or_default().push(place);
    }
    let mut by_place = BTreeMap::new();
    for (file, places) in by_file {
        let Some(document) = view.find(file) else { continue };
        let Ok(reader) = Reader::of_document(&view, document) else { continue };
        for place in places {
            let excerpt = read_around(&reader, place);
            by_place.extend(excerpt.map(|excerpt| ((file.to_owned(), place.citation.line), excerpt)));
        }
    }
    let remark = (!is_same)
        .then(|| format!("the sources have changed since; {} of {n_before} locations remain", places.len()));
    Excerpts { by_place, remark }
}

fn read_around(reader: &Reader, place: &CitedLines) -> Option<Excerpt> {
    let line = place.citation.line;
    let last = place.line_end.clamp(line, line.saturating_add(LINES_MARKED_MAX - 1));
    let first_shown = line.saturating_sub(LINES_AROUND).max(1);
    let lines = reader.lines(first_shown..=last.saturating_add(LINES_AROUND)).ok()?;
    let lines = lines.into_iter().map(|line| truncate(&line, LINE_CHARS_MAX).to_owned()).collect();
    Some(Excerpt { first: first_shown, lines, marked: (line, last) })
}

struct CitedLines {
    /// Its quote may be empty.
    citation: Citation,
    line_end: u64,
}

fn places(report: &RunReport) -> Vec<CitedLines> {
    let mut places = Vec::new();
    for merged in &report.findings {
        for location in &merged.places {
            let Some(line) = location.line_start.filter(|line| *line > 0) else { continue };
            // Only the finding's own location was quoted.
            let is_own = *location == merged.finding.location;
            let quote = if is_own { merged.finding.evidence.clone() } else { String::new() };
            let citation = Citation { document: location.file.clone(), line, quote };
            places.push(CitedLines { citation, line_end: location.line_end.unwrap_or(line) });
        }
    }
    for citation in report.answer.iter().flat_map(|answer| &answer.citations) {
        let line = citation.line.max(1);
        places.push(CitedLines { citation: Citation { line, ..citation.clone() }, line_end: line });
    }
    places.truncate(EXCERPTS_MAX);
    places
}
