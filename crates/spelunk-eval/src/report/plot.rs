//! Plots, written as SVG by hand: score against length for each way of answering, and tokens per
//! trial. Colour is never the only cue: lines differ in their dashes, and each has a label.

use std::collections::BTreeSet;

use crate::size_name;
use crate::stats::quantile;
use crate::summary::{Row, Summary};

use super::html::escape;
use super::tables::number;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 44.0;
const ROW_HEIGHT: f64 = 34.0;
const DASHES: [&str; 5] = ["", "7 4", "2 3", "10 3 2 3", "1 4"];
/// Colours that work on both backgrounds; the style sheet defines them.
const N_COLOURS: usize = 6;

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn length(tokens: u64) -> f64 {
    tokens as f64
}

pub(super) fn score_by_size(summary: &Summary) -> String {
    let sizes: BTreeSet<u64> = summary.rows.iter().flat_map(|row| row.by_size.keys().copied()).collect();
    let axis = Log::of(sizes.iter().map(|size| length(*size)), WIDTH);
    let y = |score: f64| TOP + (1.0 - score) * (HEIGHT - TOP - BOTTOM);
    let mut body = String::new();
    for tenth in [0, 25, 50, 75, 100] {
        let at = y(f64::from(tenth) / 100.0);
        body.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{:.2}</text>",
            WIDTH - RIGHT, LEFT - 8.0, at + 4.0, f64::from(tenth) / 100.0
        ));
    }
    for size in &sizes {
        let x = axis.at(length(*size));
        let text = size_name(*size);
        body.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{text}</text>",
            HEIGHT - 22.0
        ));
    }
    body.push_str(&format!("<text x=\"{LEFT}\" y=\"{:.0}\">tokens of text</text>", HEIGHT - 4.0));
    let mut labels = label_places(summary, &y);
    for (idx, row) in summary.rows.iter().enumerate() {
        body.push_str(&line(row, idx, &axis, &y, labels.remove(0)));
    }
    svg("score-by-size", "Score against length", &described(summary), HEIGHT, &body)
}

/// Labels at the ends of lines, moved apart if they would overlap.
fn label_places(summary: &Summary, y: &dyn Fn(f64) -> f64) -> Vec<f64> {
    let end = |row: &Row| row.by_size.values().next_back().map_or(0.0, |figures| figures.score.mean);
    let mut order: Vec<(usize, f64)> = summary.rows.iter().map(|row| y(end(row))).enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut last = f64::NEG_INFINITY;
    for (_, at) in &mut order {
        *at = at.max(last + 15.0);
        last = *at;
    }
    order.sort_by_key(|(idx, _)| *idx);
    order.into_iter().map(|(_, at)| at).collect()
}

/// The offset between lines at the same length, so that their whiskers can be told apart.
const APART: f64 = 4.0;

fn line(row: &Row, idx: usize, axis: &Log, y: &dyn Fn(f64) -> f64, label_at: f64) -> String {
    let (colour, dash) = (idx % N_COLOURS, DASHES.get(idx % DASHES.len()).copied().unwrap_or_default());
    let shift = APART * f64::from(u32::try_from(idx % N_COLOURS).unwrap_or_default());
    let x_of = |size: u64| axis.at(length(size)) + shift;
    let mut text = format!("<g class=\"c{colour}\">");
    let points: Vec<String> = row
        .by_size
        .iter()
        .map(|(size, figures)| format!("{:.1},{:.1}", x_of(*size), y(figures.score.mean)))
        .collect();
    text.push_str(&format!("<polyline points=\"{}\" stroke-dasharray=\"{dash}\"/>", points.join(" ")));
    for (size, figures) in &row.by_size {
        let (x, score) = (x_of(*size), &figures.score);
        text.push_str(&format!(
            "<line class=\"whisker\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/><circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"4\"><title>{}, {}: {:.2} [{:.2}, {:.2}], n={}</title></circle>",
            y(score.low), y(score.high), y(score.mean), escape(&row.way.name()), size_name(*size), score.mean, score.low,
            score.high, figures.n
        ));
    }
    let x = WIDTH - RIGHT + 12.0;
    text.push_str(&format!(
        "<text class=\"name\" x=\"{x:.0}\" y=\"{:.1}\">{}</text></g>",
        label_at + 4.0,
        escape(&name(row))
    ));
    text
}

fn name(row: &Row) -> String {
    // The model is added if there is room: a report may contain several models.
    format!("{} {}", row.way.name(), row.way.model).chars().take(24).collect()
}

fn described(summary: &Summary) -> String {
    let row = |row: &Row| {
        let figures = row.by_size.iter();
        let parts =
            figures.map(|(size, figures)| format!("{:.2} at {}", figures.score.mean, size_name(*size)));
        format!("{}: {}", row.way.name(), parts.collect::<Vec<_>>().join(", "))
    };
    summary.rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// Tokens per trial: the middle half as a bar, the median as a line, all trials as dots.
pub(super) fn tokens_by_way(summary: &Summary) -> String {
    let all = summary.rows.iter().flat_map(|row| row.all.tokens.iter().copied());
    let axis = Log::of(all.map(|tokens| tokens.max(1.0)), WIDTH);
    #[expect(clippy::cast_precision_loss, reason = "rows are few")]
    let height = TOP + ROW_HEIGHT * summary.rows.len() as f64 + BOTTOM;
    let mut body = String::new();
    for tick in axis.ticks() {
        let x = axis.at(tick);
        body.push_str(&format!(
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.0}\"/><text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            height - BOTTOM, height - 22.0, number(tick)
        ));
    }
    body.push_str(&format!(
        "<text x=\"{LEFT}\" y=\"{:.0}\">tokens per trial, input and output</text>",
        height - 4.0
    ));
    let mut top = TOP;
    for (idx, row) in summary.rows.iter().enumerate() {
        body.push_str(&spread(row, idx, &axis, top + ROW_HEIGHT / 2.0));
        top += ROW_HEIGHT;
    }
    let said: Vec<String> = summary
        .rows
        .iter()
        .map(|row| format!("{}: median {}", row.way.name(), number(quantile(&row.all.tokens, 500))))
        .collect();
    svg("tokens-by-way", "Tokens per trial", &said.join("; "), height, &body)
}

fn spread(row: &Row, idx: usize, axis: &Log, middle: f64) -> String {
    let at = |permille| axis.at(quantile(&row.all.tokens, permille).max(1.0));
    let mut text = format!("<g class=\"c{}\">", idx % N_COLOURS);
    for tokens in row.all.tokens.iter().take(400) {
        text.push_str(&format!(
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"3\"/>",
            axis.at(tokens.max(1.0))
        ));
    }
    text.push_str(&format!(
        "<rect class=\"box\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"16\"/><line class=\"median\" x1=\"{m:.1}\" x2=\"{m:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/><text class=\"name\" x=\"{:.0}\" y=\"{:.1}\">{}</text></g>",
        at(250), middle - 8.0, (at(750) - at(250)).max(1.0), middle - 11.0, middle + 11.0,
        WIDTH - RIGHT + 12.0, middle + 4.0, escape(&name(row)), m = at(500)
    ));
    text
}

fn svg(id: &str, title: &str, description: &str, height: f64, body: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{}</desc>{body}</svg>\n",
        escape(description)
    )
}

struct Log {
    low: f64,
    high: f64,
    end: f64,
}

impl Log {
    fn of(values: impl Iterator<Item = f64>, width: f64) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite() && *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low.is_finite() { (low.ln(), high.ln()) } else { (0.0, 1.0) };
        // A single size goes in the middle.
        let (low, high) = if high - low < 0.01 { (low - 0.5, high + 0.5) } else { (low, high) };
        Self { low, high, end: width - RIGHT }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(1e-9).ln() - self.low) / (self.high - self.low);
        LEFT + 14.0 + share.clamp(0.0, 1.0) * (self.end - LEFT - 28.0)
    }

    /// Powers of ten within it.
    fn ticks(&self) -> Vec<f64> {
        (0..12)
            .map(|power| 10_f64.powi(power))
            .filter(|tick| (self.low..=self.high).contains(&tick.ln()))
            .collect()
    }
}
