//! The report as one HTML file: no script, no external resources, light and dark.

use super::plot;
use super::tables::Table;
use crate::summary::Summary;

const STYLE: &str = include_str!("style.css");

pub(super) fn page(summary: &Summary, remarks: &[String], tables: &[Table]) -> String {
    let mut body = String::new();
    for remark in remarks {
        body.push_str(&format!("<p>{}</p>\n", escape(remark)));
    }
    if !summary.rows.is_empty() {
        body.push_str("<h2>Score against length</h2>\n");
        body.push_str(&plot::score_by_size(summary));
        body.push_str("<h2>Tokens per trial</h2>\n");
        body.push_str(&plot::tokens_by_way(summary));
    }
    for table in tables {
        body.push_str(&html_table(table));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Evaluation</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Evaluation</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn html_table(table: &Table) -> String {
    let mut text = format!(
        "<h2>{0}</h2>\n<div class=\"wide\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table>\n<thead><tr>",
        escape(&table.title)
    );
    for cell in &table.head {
        text.push_str(&format!("<th scope=\"col\">{}</th>", escape(cell)));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        let mut cells = row.iter();
        let head = cells.next().map(String::as_str).unwrap_or_default();
        text.push_str(&format!("<tr><th scope=\"row\">{}</th>", escape(head)));
        for cell in cells {
            text.push_str(&format!("<td>{}</td>", escape(cell)));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// Names come from files and must not become markup.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
