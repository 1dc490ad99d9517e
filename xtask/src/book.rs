//! `cargo xtask book`: writes the sources of the documentation to `target/book`, as mdBook expects them. Pages and the
//! files they link to keep their paths, so no link changes. `mdbook build target/book` makes the site.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::tidy::links::{SUMMARY, links};
use crate::tidy::{RepoFile, say};

#[expect(clippy::disallowed_methods, reason = "chores write outputs of the build")]
pub(crate) fn run(root: &Path, files: &[RepoFile]) -> Result<(), String> {
    let place = root.join("target/book");
    if place.exists() {
        std::fs::remove_dir_all(&place)
            .map_err(|error| format!("could not remove `target/book`: {error}"))?;
    }
    let mut pairs: Vec<(PathBuf, PathBuf)> =
        contents(files).iter().map(|path| (root.join(path), place.join("src").join(path))).collect();
    pairs.push((root.join(SUMMARY), place.join("src/SUMMARY.md")));
    pairs.push((root.join("book/book.toml"), place.join("book.toml")));
    for (from, to) in &pairs {
        let copied =
            std::fs::create_dir_all(to.parent().unwrap_or(&place)).and_then(|()| std::fs::copy(from, to));
        copied.map_err(|error| format!("could not copy `{}`: {error}", from.display()))?;
    }
    say(&format!("{} files in target/book: `mdbook build target/book` makes the site", pairs.len()));
    Ok(())
}

/// The pages of the summary and the files they link to.
fn contents(files: &[RepoFile]) -> BTreeSet<String> {
    let page = |path: &str| files.iter().find(|file| file.path == path);
    let listed = page(SUMMARY).map(|summary| links(summary, "")).unwrap_or_default();
    let mut all: BTreeSet<String> = listed.into_iter().map(|link| link.path).collect();
    for page in all.clone().iter().filter_map(|path| page(path)) {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        all.extend(links(page, folder).into_iter().map(|link| link.path));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_has_its_pages_and_what_they_link_to() {
        let file = |path: &str, text: &str| RepoFile { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file(SUMMARY, "- [A](docs/a.md)\n"),
            file("docs/a.md", "[b](../src/b.rs) ![p](p.png)\n"),
            file("src/b.rs", "[c](c.rs)"),
        ];
        assert_eq!(contents(&files).into_iter().collect::<Vec<_>>(), ["docs/a.md", "docs/p.png", "src/b.rs"]);
    }
}
