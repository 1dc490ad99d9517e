use spelunk_context::Detector;

use super::*;
use crate::testing::view;

fn cuts_of(name: &str, text: &str) -> Vec<Cut> {
    let detected = Detector::default().detect(name, text);
    cut(text, name, &detected, &passage_limits(), 0)
}

#[test]
fn prose_is_cut_at_headings_and_says_which() {
    let section = |title: &str| format!("# {title}\n\n{}", "Some words on a line of text.\n".repeat(20));
    let text = [section("One"), section("Two"), section("Three")].concat();
    let found = cuts_of("a.md", &text);
    let shown: Vec<_> =
        found.iter().map(|cut| (cut.line_start, cut.line_end, cut.scope.as_deref())).collect();
    assert_eq!(shown, [(1, 22, Some("One")), (23, 44, Some("Two")), (45, 66, Some("Three"))]);
}

#[test]
fn passages_cover_everything_but_white_space_and_stay_small() {
    let code = "fn a() {\n    let x = 1;\n    x + 1\n}\n\n".repeat(200);
    for (name, text) in
        [("a.rs", code.as_str()), ("a.txt", &"word ".repeat(5000)), ("x.csv", &"a,b,c\n1,2,3\n".repeat(300))]
    {
        let found = cuts_of(name, text);
        assert!(found.iter().all(|cut| cut.span.len() <= 1440), "{name}");
        assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start), "{name}");
        let covered: usize = found.iter().map(|cut| cut.span.len()).sum();
        assert!(covered * 100 >= text.len() * 95, "{name}: {covered} of {}", text.len());
    }
    assert_eq!(cuts_of("blank.txt", "\n  \n\n"), []);
}

#[test]
fn the_windows_of_a_large_document_are_its_lines() {
    let mut text = String::new();
    let mut n_lines = 0_u64;
    while text.len() as u64 <= WHOLE_BYTES_MAX {
        n_lines += 1;
        text.push_str(&format!("{n_lines} {}\n", "x".repeat(usize::try_from(n_lines % 300).unwrap())));
    }
    let view = view(&[("large.txt", &text)]);
    let document = view.documents().next().unwrap();
    let large = LargeDocument::open(&view, document).unwrap();
    let (mut joined, mut expected_line) = (String::new(), 1);
    windows(&view, document, &mut |number, part, lines_before| {
        assert_eq!(lines_before + 1, expected_line);
        let begin: String = part.chars().take(20).collect();
        assert!(begin.starts_with(&format!("{expected_line} ")), "window {number}: {begin:?}");
        assert_eq!(large.window(number).unwrap(), part);
        expected_line += part.lines().count() as u64;
        joined.push_str(part);
        true
    })
    .unwrap();
    assert!(joined == text);
}

#[test]
fn a_large_document_of_one_line_is_not_lost() {
    let text = "word ".repeat(usize::try_from(WHOLE_BYTES_MAX).unwrap() / 5 + 1000);
    let view = view(&[("line.txt", &text)]);
    let mut bytes = 0;
    windows(&view, view.documents().next().unwrap(), &mut |_, part, _| {
        bytes += part.len();
        true
    })
    .unwrap();
    assert_eq!(bytes, text.len());
}
