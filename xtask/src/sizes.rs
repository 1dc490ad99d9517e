//! `cargo xtask sizes`: lines of source by crate.

use std::collections::BTreeMap;

use crate::tidy::{RepoFile, say, source_lines};

pub(crate) fn run(files: &[RepoFile]) {
    let lines = lines_by_crate(files);
    let mut largest_first: Vec<_> = lines.iter().collect();
    largest_first.sort_by_key(|(_, n_lines)| std::cmp::Reverse(**n_lines));
    say("lines of source, tests not counted");
    for (name, n_lines) in largest_first {
        say(&format!("{n_lines:>8}  {name}"));
    }
    say(&format!("{:>8}  all", lines.values().sum::<usize>()));
}

fn lines_by_crate(files: &[RepoFile]) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for file in files {
        let Some((directory, _)) = file.path.split_once("/src/") else { continue };
        let name = directory.rsplit('/').next().unwrap_or(directory);
        *lines.entry(name.to_owned()).or_default() += source_lines(file);
    }
    lines.retain(|_, n_lines| *n_lines > 0);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_crate_and_without_tests() {
        let file = |path: &str, text: &str| RepoFile { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file("crates/a/src/lib.rs", "//! A.\n\nmod b;\n"),
            file("crates/a/src/b.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n}\n"),
            file("crates/a/src/b/tests.rs", "fn g() {}\n"),
            file("crates/a/tests/main.rs", "mod c;\n"),
            file("fuzz/src/lib.rs", "//! F.\n"),
            file("docs/a.md", "text\n"),
        ];
        assert_eq!(lines_by_crate(&files), BTreeMap::from([("a".to_owned(), 4), ("fuzz".to_owned(), 1)]));
    }
}
