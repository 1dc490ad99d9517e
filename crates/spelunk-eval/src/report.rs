//! The report: figures as tables shared by Markdown and HTML, and two plots. The same results give the same bytes, so
//! that reports of two commits can be compared.

mod html;
mod plot;
mod tables;

use crate::Difference;
use crate::summary::Summary;
use tables::{Table, tables};

/// The content of a report.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The figures.
    pub summary: Summary,
    /// What readers should know first, such as why the evaluation ended early.
    pub remarks: Vec<String>,
}

impl Report {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = "# Evaluation\n".to_owned();
        for remark in self.all_remarks() {
            text.push_str(&format!("\n{remark}\n"));
        }
        for table in tables(&self.summary) {
            text.push_str(&markdown_table(&table));
        }
        text
    }

    /// As one HTML file, with plots.
    pub fn html(&self) -> String {
        html::page(&self.summary, &self.all_remarks(), &tables(&self.summary))
    }

    fn all_remarks(&self) -> Vec<String> {
        let mut remarks = self.remarks.clone();
        if self.summary.n_outages > 0 {
            remarks.push(format!(
                "Excluded because the model was unavailable: {} trials.",
                self.summary.n_outages
            ));
        }
        if self.summary.n_unscored > 0 {
            remarks.push(format!(
                "Excluded because they have no score: {} trials. Pass the tasks with `--tasks` to score them.",
                self.summary.n_unscored
            ));
        }
        remarks
    }
}

/// Differences as Markdown.
pub fn differences_markdown(differences: &[Difference]) -> String {
    let mut table = Table::new(
        "What changed",
        &["how", "pairs", "before", "after", "difference [95 %]", "tokens", "won", "lost"],
    );
    for difference in differences {
        let score = &difference.score;
        table.rows.push(vec![
            difference.label.clone(),
            difference.n.to_string(),
            format!("{:.3}", difference.before),
            format!("{:.3}", difference.after),
            format!("{:+.3} [{:+.3}, {:+.3}]", score.mean, score.low, score.high),
            difference.tokens_factor.map(|factor| format!("×{factor:.2}")).unwrap_or_default(),
            difference.won.to_string(),
            difference.lost.to_string(),
        ]);
    }
    markdown_table(&table)
}

fn markdown_table(table: &Table) -> String {
    let row = |cells: &[String]| {
        format!("| {} |\n", cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | "))
    };
    let mut text = format!("\n## {}\n\n{}", table.title, row(&table.head));
    text.push_str(&format!("|{}\n", "---|".repeat(table.head.len())));
    for cells in &table.rows {
        text.push_str(&row(cells));
    }
    text
}

/// Names come from files and must not end a table cell or a line.
fn escape(cell: &str) -> String {
    cell.replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests;
