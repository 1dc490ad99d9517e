//! Links between pages: each points to an existing file and heading, and every page is part of the book.

use std::path::Path;

use super::{Complaint, RepoFile};

/// The contents of the book, with paths relative to the root of the repository.
pub(crate) const SUMMARY: &str = "book/SUMMARY.md";

/// A link from a page to a file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    line: usize,
    /// Relative to the root of the repository.
    pub(crate) path: String,
    heading: Option<String>,
}

/// Checks the links of the book, and that it contains every page of `docs/`.
pub(crate) fn check(files: &[RepoFile]) -> Vec<Complaint> {
    let Some(summary) = files.iter().find(|file| file.path == SUMMARY) else {
        return vec![Complaint::at(SUMMARY, 0, "is missing: it lists the pages of the book")];
    };
    let listed = links(summary, "");
    let is_listed = |path: &str| listed.iter().any(|link| link.path == path);
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("docs/") && is_page(&file.path)) {
        if !is_listed(&file.path) {
            complaints.push(Complaint::at(&file.path, 0, format!("is not in `{SUMMARY}`")));
        }
    }
    for link in &listed {
        complaints.extend(fault(files, link).map(|fault| Complaint::at(SUMMARY, link.line, fault)));
        for page in files.iter().filter(|file| file.path == link.path) {
            for link in links(page, folder_of(&page.path)) {
                let lost = (is_page(&link.path) && !is_listed(&link.path))
                    .then(|| format!("links to `{}`, which is not in `{SUMMARY}`", link.path));
                let fault = fault(files, &link).or(lost);
                complaints.extend(fault.map(|fault| Complaint::at(&page.path, link.line, fault)));
            }
        }
    }
    complaints
}

/// The links of a page to files, resolved relative to `folder`.
pub(crate) fn links(page: &RepoFile, folder: &str) -> Vec<Link> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (idx, line) in page.text.lines().enumerate() {
        is_code ^= line.trim_start().starts_with("```");
        for (at, _) in line.match_indices("](").filter(|_| !is_code) {
            let (before, rest) = line.split_at(at + 2);
            let Some((target, _)) = rest.split_once(')') else { continue };
            if before.matches('`').count() % 2 == 1 || target.contains("://") || target.starts_with("mailto:")
            {
                continue;
            }
            let (path, heading) =
                target.split_once('#').map_or((target, None), |(a, b)| (a, Some(b.to_owned())));
            let path = if path.is_empty() { page.path.clone() } else { joined(folder, path) };
            found.push(Link { line: idx + 1, path, heading });
        }
    }
    found
}

/// Why a link is broken.
fn fault(files: &[RepoFile], link: &Link) -> Option<String> {
    let Link { path, heading, .. } = link;
    let Some(file) = files.iter().find(|file| file.path == *path) else {
        let is_picture = Path::new(path).extension().is_some_and(|extension| extension == "png");
        return (!is_picture).then(|| format!("links to no file: `{path}`"));
    };
    let heading = heading.as_ref()?;
    let mut headings = file.text.lines().filter(|line| line.starts_with('#')).map(slug);
    (!headings.any(|slug| slug == *heading)).then(|| format!("`{path}` has no heading `#{heading}`"))
}

/// The anchor of a heading.
fn slug(line: &str) -> String {
    let words = line.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A link to a folder means its `README.md`.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    if path.ends_with('/') {
        parts.push("README.md");
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::{file, told};

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let page = "# A `b`: c\n[x](b.md#two-words) [y](../src/a.rs) `[z](no.md)` [w](https://a.test/b.md)\n\
                    ```\n[c](no.md)\n```\n[own](#a-b-c) [p](p.png)\n[f](sub/)\n";
        let wrong = "## Two words\n[a](a.md#three) [gone](gone.rs) [out](../OUT.md)\n";
        let mut files = vec![
            file(SUMMARY, "- [A](docs/a.md)\n- [B](docs/b.md)\n- [S](docs/sub/README.md)\n"),
            file("OUT.md", ""),
            file("docs/a.md", page),
            file("docs/b.md", "## Two words\n"),
            file("docs/sub/README.md", "[up](../a.md)\n"),
            file("src/a.rs", ""),
        ];
        assert_eq!(told(&check(&files)), [""; 0]);
        files.push(file("docs/new.md", ""));
        files[3] = file("docs/b.md", wrong);
        let expected = [
            "0: is not in `book/SUMMARY.md`",
            "2: `docs/a.md` has no heading `#three`",
            "2: links to no file: `docs/gone.rs`",
            "2: links to `OUT.md`, which is not in `book/SUMMARY.md`",
        ];
        assert_eq!(told(&check(&files)), expected);
        assert_eq!(told(&check(&[])), ["0: is missing: it lists the pages of the book"]);
    }
}
