use super::*;

#[test]
fn prose_is_embedded_without_its_listings_and_marks() {
    let text = "Use the **fast** `mode` when you have little time.\n\n    $ run --fast\n\n.. code:: x\n";
    let words = meaning_text(ContentType::Prose, Some("Modes"), text);
    assert_eq!(
        words.split_whitespace().collect::<Vec<_>>().join(" "),
        "Modes Use the fast mode when you have little time."
    );
    let listing = meaning_text(ContentType::Prose, None, "Run:\n\n    $ run --fast\n");
    assert_eq!(listing.split_whitespace().collect::<Vec<_>>(), ["Run", "run", "fast"]);
    let code = meaning_text(ContentType::SourceCode, None, "    let x = read_file(path);\n");
    assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["let", "x", "read", "file", "path"]);
}
