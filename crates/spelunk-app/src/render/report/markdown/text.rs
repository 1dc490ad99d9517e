//! Text in Markdown: HTML, links and images that a model or a document wrote become text. Code stays as it is where all
//! Markdown parsers agree that it is code; where they may not, it is escaped too.

/// An answer: paragraphs, lists, tables and code.
pub(super) fn prose(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    // A fence within a list or a quote ends where the list does, so nothing after it is certainly code.
    let (mut knows_fences, mut knows_spans) = (true, true);
    for line in text.lines() {
        if let Some(mark) = fence {
            shown += line;
            fence = fence.filter(|_| !closes(line, mark));
        } else {
            let bare = line.trim_start_matches(|c: char| {
                c.is_whitespace() || c.is_ascii_digit() || ">-*+.):".contains(c)
            });
            let mark = ['`', '~'].map(|c| run(bare, c)).into_iter().find(|mark| mark.len() >= 3);
            fence = mark.filter(|mark| knows_fences && bare.len() == line.len() && is_info(bare, mark));
            knows_fences &= mark.is_none() || fence.is_some();
            knows_spans |= line.bytes().all(|b| b == b' ' || b == b'\t');
            knows_spans &= knows_fences;
            shown += &if fence.is_some() { line.to_owned() } else { inline(line, &mut knows_spans) };
        }
        shown.push('\n');
    }
    shown + fence.unwrap_or_default()
}

pub(super) fn line(text: &str) -> String {
    inline(text, &mut true)
}

/// A name, which has no formatting.
pub(super) fn name(text: &str) -> String {
    escaped(text).replace('`', "&#96;")
}

/// The marker that a text begins with.
fn run(text: &str, c: char) -> &str {
    text.get(..text.len() - text.trim_start_matches(c).len()).unwrap_or_default()
}

/// Whether a word or nothing follows the marker that opens a code block.
fn is_info(line: &str, mark: &str) -> bool {
    line.chars().skip(mark.len()).all(|c| c.is_ascii_alphanumeric() || " -_+.#".contains(c))
}

fn closes(line: &str, mark: &str) -> bool {
    let bare = line.trim_start_matches(' ');
    let rest = bare.trim_start_matches(mark.get(..1).unwrap_or_default());
    line.len() - bare.len() < 4 && bare.len() - rest.len() >= mark.len() && rest.trim().is_empty()
}

/// Keeps code between backticks. After a backtick that may belong to another one elsewhere in the paragraph, or to the
/// address of a link, nothing is certainly code.
fn inline(line: &str, knows_spans: &mut bool) -> String {
    let (mut shown, mut rest) = (String::new(), line);
    while let Some((before, code, after)) = code(rest) {
        let word = before.rsplit([' ', '\t']).next().unwrap_or_default();
        *knows_spans &= !word.contains(|c: char| c.is_alphanumeric() || c == '\\');
        // A bar would end the cell of a table, and with it the code.
        if !*knows_spans || code.contains('|') {
            break;
        }
        shown += &escaped(before);
        shown += code;
        rest = after;
    }
    *knows_spans &= !rest.contains('`');
    shown + &escaped(rest)
}

/// The text before the first backtick, the code with its marks, and the rest; `None` if the mark is not closed.
fn code(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find('`')?;
    let (before, from) = text.split_at(start);
    let mark = run(from, '`');
    let mut end = mark.len();
    loop {
        end += from.get(end..)?.find('`')?;
        let closing = run(from.get(end..)?, '`');
        end += closing.len();
        if closing == mark {
            let (code, after) = from.split_at(end);
            return Some((before, code, after));
        }
    }
}

/// No tags, and no links or images: each has a bracket followed by one of these characters.
fn escaped(text: &str) -> String {
    let ends = [("](", "&#93;("), ("][", "&#93;["), ("]:", "&#93;:")];
    ends.iter().fold(text.replace('<', "&lt;"), |text, (end, shown)| text.replace(end, shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_links_and_images_become_text() {
        for (written, shown) in [
            ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>\n"),
            ("![x](http://evil/?d=1)", "![x&#93;(http://evil/?d=1)\n"),
            ("\\![x](http://evil)", "\\![x&#93;(http://evil)\n"),
            ("[x](javascript:alert(1))", "[x&#93;(javascript:alert(1))\n"),
            ("![x][y]\n\n[y]: http://evil", "![x&#93;[y]\n\n[y&#93;: http://evil\n"),
            ("<http://evil>", "&lt;http://evil>\n"),
            ("As [F3] says, 1 > 0.", "As [F3] says, 1 > 0.\n"),
        ] {
            assert_eq!(prose(written), shown);
        }
        assert_eq!(name("`<img src=x>.md"), "&#96;&lt;img src=x>.md");
    }

    #[test]
    fn code_stays_as_it_is() {
        for code in [
            "Use `Vec<u8>` and ``a`<b>``, or (`<br>`).\n",
            "```html\n<b>\n![x](y)\n``\n```\n",
            "~~~\n<b>\n```\n~~~~\n",
        ] {
            assert_eq!(prose(code), code);
        }
        assert_eq!(prose("```\n<b>"), "```\n<b>\n```", "a code block ends with the answer");
        assert_eq!(prose("```\n<b>\n```\n<b>"), "```\n<b>\n```\n&lt;b>\n");
    }

    /// Each of these is code for a parser that is too simple.
    #[test]
    fn what_only_looks_like_code_is_escaped() {
        for hidden in [
            "a ` b\nc ` IMG ` d",
            "`` IMG ` a `",
            "\\` IMG `",
            "| ` | IMG | ` |",
            "https://a/` IMG `",
            "https://a/\u{a0}` IMG `",
            "a ` b\n\u{a0}\nc ` IMG ` d",
            "- ```\n  code\n  ```\n  IMG",
            "> ~~~\n\n```\nIMG",
            "a\n    ```\n    IMG",
            "``` a`b\nIMG",
            "~~~ IMG",
            "- a\n  ```\nIMG\n```\nIMG",
        ] {
            let shown = prose(&hidden.replace("IMG", "![x](y)<b>"));
            assert_eq!((shown.contains("](y)"), shown.contains("<b>")), (false, false), "{shown}");
        }
    }
}
