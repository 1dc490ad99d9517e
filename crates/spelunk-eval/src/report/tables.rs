//! The tables of a report.

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::quantile;
use crate::summary::{Figures, Row, Summary};
use crate::{Failure, Kind, Outcome, size_name};

pub(super) struct Table {
    pub(super) title: String,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(title: &str, head: &[&str]) -> Self {
        let head = head.iter().map(|cell| (*cell).to_owned()).collect();
        Self { title: title.to_owned(), head, rows: Vec::new() }
    }
}

/// All tables that have rows.
pub(super) fn tables(summary: &Summary) -> Vec<Table> {
    let all = summary.rows.iter().map(|row| (row, Vec::new(), &row.all));
    let groups = |of: fn(&Row) -> &BTreeMap<Vec<String>, Figures>| {
        let rows = summary.rows.iter();
        rows.flat_map(move |row| of(row).iter().map(move |(group, figures)| (row, group.clone(), figures)))
    };
    let mut tables =
        vec![overall(summary), outcomes("Outcomes", &[], all), by_size(summary), by_kind(summary)];
    let by_variant = outcomes("Outcomes by variant", &["kind", "variant"], groups(|row| &row.by_variant));
    let by_language = outcomes("Outcomes by language", &["language"], groups(|row| &row.by_language));
    tables.extend([by_variant, by_language].into_iter().filter(|table| !table.rows.is_empty()));
    tables.push(failures(summary));
    tables
}

/// How many answers have each outcome, for groups named by these columns.
fn outcomes<'a>(
    title: &str,
    columns: &[&str],
    groups: impl Iterator<Item = (&'a Row, Vec<String>, &'a Figures)>,
) -> Table {
    let names: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
    let head = [&["how", "model"], columns, &["trials", "score"], &names, &["tokens, median"]].concat();
    let mut table = Table::new(title, &head);
    for (row, group, figures) in groups {
        let count =
            |outcome: &Outcome| figures.outcomes.get(outcome).copied().unwrap_or_default().to_string();
        let mut cells = vec![row.way.name(), row.way.model.clone()];
        cells.extend(group);
        cells.extend([figures.n.to_string(), format!("{:.2}", figures.score.mean)]);
        cells.extend(Outcome::ALL.iter().map(count));
        cells.push(number(quantile(&figures.tokens, 500)));
        table.rows.push(cells);
    }
    table
}

fn overall(summary: &Summary) -> Table {
    let mut table = Table::new(
        "Overall",
        &[
            "how",
            "model",
            "trials",
            "score [95 %]",
            "all right [95 %]",
            "tokens, median",
            "tokens, p95",
            "calls, mean",
            "time, median",
            "tokens per right answer",
            "cost per right answer",
            "numbers off, median",
        ],
    );
    for Row { way, all, .. } in &summary.rows {
        table.rows.push(vec![
            way.name(),
            way.model.clone(),
            all.n.to_string(),
            format!("{:.3} [{:.3}, {:.3}]", all.score.mean, all.score.low, all.score.high),
            format!(
                "{:.0} % [{:.0}, {:.0}]",
                all.right.mean * 100.0,
                all.right.low * 100.0,
                all.right.high * 100.0
            ),
            number(quantile(&all.tokens, 500)),
            number(quantile(&all.tokens, 950)),
            format!("{:.1}", all.calls),
            format!("{:.1} s", all.wall_ms / 1000.0),
            all.tokens_per_right().map_or("–".to_owned(), number),
            all.microusd_per_right().map_or("–".to_owned(), |cost| format!("${:.4}", cost / 1e6)),
            all.off.map_or("–".to_owned(), |off| format!("{:.1} %", off * 100.0)),
        ]);
    }
    table
}

fn by_size(summary: &Summary) -> Table {
    let sizes: BTreeSet<u64> = summary.rows.iter().flat_map(|row| row.by_size.keys().copied()).collect();
    let sizes: Vec<u64> = sizes.into_iter().collect();
    table(summary, "Score by size", &sizes, |size| size_name(*size), |row, size| score(row.by_size.get(size)))
}

fn by_kind(summary: &Summary) -> Table {
    let has = |kind: &&str| summary.rows.iter().any(|row| row.by_kind.contains_key(*kind));
    let kinds: Vec<&str> = Kind::ALL.map(Kind::name).into_iter().filter(has).collect();
    let cell = |row: &Row, kind: &&str| score(row.by_kind.get(*kind));
    table(summary, "Score by kind", &kinds, |kind| (*kind).to_owned(), cell)
}

fn failures(summary: &Summary) -> Table {
    let cell = |row: &Row, failure: &Failure| {
        row.all.failures.get(failure.name()).copied().unwrap_or_default().to_string()
    };
    table(summary, "Failures", &Failure::ALL, |failure| failure.name().to_owned(), cell)
}

/// A row for each way of answering, and a column for each of these.
fn table<C>(
    summary: &Summary,
    title: &str,
    columns: &[C],
    name: impl Fn(&C) -> String,
    cell: impl Fn(&Row, &C) -> String,
) -> Table {
    let mut table = Table::new(title, &["how", "model"]);
    table.head.extend(columns.iter().map(name));
    for row in &summary.rows {
        let cells = columns.iter().map(|column| cell(row, column));
        table.rows.push([row.way.name(), row.way.model.clone()].into_iter().chain(cells).collect());
    }
    table
}

fn score(figures: Option<&Figures>) -> String {
    figures.map_or("–".to_owned(), |figures| format!("{:.2} (n={})", figures.score.mean, figures.n))
}

/// A number of tokens, in thousands if it is large.
pub(super) fn number(value: f64) -> String {
    match value {
        value if value >= 1_000_000.0 => format!("{:.2}M", value / 1_000_000.0),
        value if value >= 1000.0 => format!("{:.1}k", value / 1000.0),
        value => format!("{value:.0}"),
    }
}
