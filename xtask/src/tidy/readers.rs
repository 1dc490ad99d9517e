//! Every accepted limit and setting is read somewhere: one that nobody reads has no effect.

use super::code::without_tests;
use super::{Complaint, RepoFile};

const LIMITS: &str = "crates/spelunk-types/src/limits.rs";
const TABLE: &str = "crates/spelunk-app/src/config/table.rs";
/// The section of the table that is generated from the limits.
const OF_LIMITS: &str = "limits.";

/// A limit is read as `limits.NAME` or `limits().NAME`, outside the file that declares it and outside tests.
pub(crate) fn check_limits(files: &[RepoFile], limits: &[&str]) -> Vec<Complaint> {
    let sources: Vec<&str> = sources(files, LIMITS).collect();
    let unread = limits.iter().filter(|limit| !sources.iter().any(|text| reads(text, limit)));
    let message = |limit| format!("nothing reads `limits.{limit}`: give it a reader or remove it");
    unread.map(|limit| Complaint::at(LIMITS, 0, message(limit))).collect()
}

/// A setting is read by its key, outside the table that declares it and outside tests.
pub(crate) fn check_settings(files: &[RepoFile]) -> Vec<Complaint> {
    let Some(table) = files.iter().find(|file| file.path == TABLE) else {
        return vec![Complaint::at(TABLE, 0, "is missing: it declares every setting")];
    };
    let sources: Vec<&str> = sources(files, TABLE).collect();
    let mut complaints = Vec::new();
    for (idx, line) in without_tests(&table.text).lines().enumerate() {
        let quoted = line.split('"').skip(1).step_by(2);
        for key in quoted.filter(|text| is_key(text) && !text.starts_with(OF_LIMITS)) {
            if !sources.iter().any(|text| text.contains(&format!("\"{key}\""))) {
                let message = format!("nothing reads `{key}`: give it a reader or remove it");
                complaints.push(Complaint::at(TABLE, idx + 1, message));
            }
        }
    }
    complaints
}

/// The source of all crates, without tests and without one file.
fn sources<'a>(files: &'a [RepoFile], without: &'a str) -> impl Iterator<Item = &'a str> {
    let is_source = |file: &&RepoFile| {
        let path = file.path.as_str();
        file.is_rust() && path.starts_with("crates/") && path.contains("/src/") && !path.contains("/tests")
    };
    files
        .iter()
        .filter(is_source)
        .filter(move |file| file.path != without)
        .map(|file| without_tests(&file.text))
}

/// Whether `limits`, or a call of it, is followed by the name as a field.
fn reads(text: &str, limit: &str) -> bool {
    text.match_indices(limit).any(|(at, _)| {
        let after = text.get(at + limit.len()..).and_then(|after| after.chars().next());
        let before = text.get(..at).unwrap_or_default().trim_end();
        let Some(before) = before.strip_suffix('.').map(str::trim_end) else { return false };
        let owner = before.strip_suffix("()").unwrap_or(before);
        !after.is_some_and(is_word) && owner.ends_with("limits")
    })
}

/// `section.word`.
fn is_key(text: &str) -> bool {
    let is_lower = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    text.split_once('.').is_some_and(|(section, word)| is_lower(section) && is_lower(word))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::{file, told};

    #[test]
    fn a_limit_that_nothing_reads_is_found() {
        let files = [
            file(
                "crates/a/src/lib.rs",
                "let n = self.limits()\n    .read_max;\nlet m = limits.longer_max_ms;\n",
            ),
            file("crates/a/src/tests.rs", "limits.tested_max"),
            file(
                "crates/a/src/b.rs",
                "desk.other_max;\n#[cfg(test)]\nmod tests {\n    limits.other_max;\n}\n",
            ),
            file(LIMITS, "limits.declared_max"),
        ];
        let limits = ["read_max", "longer_max", "tested_max", "other_max", "declared_max"];
        let unread = ["longer_max", "tested_max", "other_max", "declared_max"]
            .map(|limit| format!("0: nothing reads `limits.{limit}`: give it a reader or remove it"));
        assert_eq!(told(&check_limits(&files, &limits)), unread);
    }

    #[test]
    fn a_setting_that_nothing_reads_is_found() {
        let files = [
            file(
                TABLE,
                "text(\"model.name\", \"\"),\ntext(\"model.idle\", \"a.b c\"),\n(\"limits.old\", \"\")\n",
            ),
            file("crates/spelunk-app/src/config/settings.rs", "text(&layer, \"model.name\")"),
        ];
        let unread = "2: nothing reads `model.idle`: give it a reader or remove it";
        assert_eq!(told(&check_settings(&files)), [unread]);
        assert_eq!(told(&check_settings(&[])), ["0: is missing: it declares every setting"]);
    }
}
