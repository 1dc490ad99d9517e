//! Coverage: what was read and what was not, part of every report.

use std::collections::BTreeMap;

use spelunk_types::ErrorCode;

/// How many failed tasks are listed individually. If there are more, they are counted by error.
const NAMED_MAX: usize = 20;

/// How many of those are named.
const NAMED_OF_MANY: usize = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ReportCoverage {
    pub documents: u64,
    /// Documents that were read and answered; for analysts, those read completely.
    pub documents_read: u64,
    /// Bytes that were shown to a model that answered.
    pub bytes_read: u64,
    pub tasks: u64,
    pub tasks_done: u64,
    /// Those without one: a label and the error.
    pub failed: Vec<(String, ErrorCode)>,
    /// Parts whose findings were recalled from earlier runs.
    pub units_recalled: u64,
    pub rejected: u64,
    /// Findings whose quote is not in the text that the analyst was shown.
    pub unverified: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    pub(crate) read: ReportCoverage,
    pub(crate) unreadable: Vec<String>,
    /// Parts skipped because nothing in them is related to the question.
    pub(crate) parts_passed_over: u64,
    pub(crate) unknown_names: u64,
}

impl Coverage {
    /// Why the report is incomplete, if it is.
    pub(crate) fn gap(&self) -> Option<ErrorCode> {
        self.read.failed.iter().map(|(_, code)| *code).min()
    }

    pub(crate) fn section(&self) -> String {
        let (documents, tasks) = (many(self.read.documents, "document"), many(self.read.tasks, "task"));
        let is_whole =
            self.read.documents_read == self.read.documents && self.read.tasks_done == self.read.tasks;
        let mut lines = vec![match (is_whole, self.read.tasks) {
            (true, 0) => format!("- {documents}, all covered by earlier runs"),
            (true, _) => format!("- {documents}, read in {tasks}"),
            (false, _) => {
                format!(
                    "- {} of {documents} read in full, in {} of {tasks}",
                    self.read.documents_read, self.read.tasks_done
                )
            }
        }];
        say(&mut lines, self.read.units_recalled, "Parts covered by earlier runs");
        say(
            &mut lines,
            self.read.rejected,
            "Unusable findings, such as findings about files that were not provided",
        );
        say(
            &mut lines,
            self.read.unverified,
            "Findings whose quote is not in the text shown, marked as unverified",
        );
        say(&mut lines, self.unknown_names, "References to findings that do not exist, removed");
        lines.extend(self.gaps());
        format!("## Coverage\n\n{}\n", lines.join("\n"))
    }

    /// What was not read. Does not depend on whether the rest was recalled.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let passed_over = "Parts skipped because they are not relevant to the question";
        say(&mut lines, self.parts_passed_over, passed_over);
        say(&mut lines, self.unreadable.len() as u64, "Documents that could not be read");
        say(&mut lines, self.read.failed.len() as u64, "Failed and not covered");
        if self.read.failed.len() <= NAMED_MAX {
            lines.extend(
                self.read.failed.iter().map(|(label, code)| format!("  - {label}: {}", code.meaning())),
            );
            return lines;
        }
        let mut by_code: BTreeMap<ErrorCode, Vec<&str>> = BTreeMap::new();
        for (label, code) in &self.read.failed {
            by_code.entry(*code).or_default().push(label);
        }
        lines.extend(by_code.into_iter().map(|(code, labels)| {
            let named = labels[..labels.len().min(NAMED_OF_MANY)].join(", ");
            let others = match labels.len().saturating_sub(NAMED_OF_MANY) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            format!("  - {named}{others}: {}", code.meaning())
        }));
        lines
    }
}

fn say(lines: &mut Vec<String>, n: u64, what: &str) {
    if n > 0 {
        lines.push(format!("- {what}: {n}"));
    }
}

pub(crate) fn many(n: u64, unit: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {unit}{s}")
}
