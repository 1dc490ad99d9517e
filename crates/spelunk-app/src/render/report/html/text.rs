//! Text in HTML: escaped and, if a model wrote it, with a small subset of formatting.

use super::Anchors;
use crate::render::markdown::{Block, blocks, spans};
use crate::units::is_bidi_control;

/// Plain text: HTML is escaped, control characters and bidirectional controls are removed.
pub(super) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => shown += "&amp;",
            '<' => shown += "&lt;",
            '>' => shown += "&gt;",
            '"' => shown += "&quot;",
            '\'' => shown += "&#39;",
            '\n' | '\t' => shown.push(c),
            // These characters can make code look like other code.
            c if is_bidi_control(c) => shown.push('\u{fffd}'),
            c if c.is_control() => {}
            c => shown.push(c),
        }
    }
    shown
}

/// Text written by a model. Locations that the page shows become links.
pub(super) fn prose(text: &str, anchors: &Anchors) -> String {
    let mut html = String::new();
    let mut in_list = false;
    for block in blocks(text) {
        let is_item = matches!(block, Block::Item { .. });
        if in_list != is_item {
            html += if is_item { "<ul class=\"list\">\n" } else { "</ul>\n" };
            in_list = is_item;
        }
        html += &match block {
            Block::Heading { level, text } => {
                // The page has one level-one heading: the question.
                let level = level.clamp(2, 5);
                format!("<h{level}>{}</h{level}>\n", inline(&text, anchors))
            }
            Block::Paragraph(text) => format!("<p>{}</p>\n", inline(&text, anchors)),
            Block::Item { depth, marker, text } => {
                let marker = escaped(marker.as_deref().unwrap_or("•"));
                let text = inline(&text, anchors);
                format!("<li class=\"d{depth}\"><span class=\"m\">{marker}</span><span>{text}</span></li>\n")
            }
            Block::Quote(text) => format!("<blockquote>{}</blockquote>\n", inline(&text, anchors)),
            Block::Code(lines) => format!("<pre class=\"code\">{}</pre>\n", escaped(&lines.join("\n"))),
            Block::Table(rows) => table(&rows, anchors),
            Block::Rule => "<hr>\n".to_owned(),
        };
    }
    if in_list {
        html += "</ul>\n";
    }
    html
}

fn table(rows: &[Vec<String>], anchors: &Anchors) -> String {
    let mut html = "<div class=\"scroll\"><table>\n".to_owned();
    for (idx, row) in rows.iter().enumerate() {
        let tag = if idx == 0 { "th" } else { "td" };
        html += "<tr>";
        for cell in row {
            html += &format!("<{tag}>{}</{tag}>", inline(cell, anchors));
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n"
}

fn inline(text: &str, anchors: &Anchors) -> String {
    let mut html = String::new();
    for span in spans(text) {
        let shown = linked(&span.text, anchors);
        let shown = if span.is_code { format!("<code>{shown}</code>") } else { shown };
        html += &if span.is_bold { format!("<strong>{shown}</strong>") } else { shown };
    }
    html
}

/// Text in which `file:line` links to where that line is shown.
fn linked(text: &str, anchors: &Anchors) -> String {
    let is_border = |c: char| c.is_whitespace() || "(),;[]".contains(c);
    let mut html = String::new();
    for piece in text.split_inclusive(is_border) {
        let word = piece.trim_end_matches(is_border).trim_end_matches(['.', ':']);
        let rest = piece.get(word.len()..).unwrap_or_default();
        match anchors.get(word) {
            Some(anchor) => {
                html += &format!("<a href=\"#{anchor}\">{}</a>{}", escaped(word), escaped(rest));
            }
            None => html += &escaped(piece),
        }
    }
    html
}
