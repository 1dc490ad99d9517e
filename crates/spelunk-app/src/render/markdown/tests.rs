use expect_test::expect;
use proptest::prelude::*;

use super::*;

const TEXT: &str = "\
## Summary

Two **things** must `change`
before this.

- one
  - two **bold `code` bold**
1. first
12. second

> said

| a | b |
|---|:-:|
| 1 | 2 |

```rust
# not a heading
```
---
#hashtag, ** alone and ` alone
";

#[test]
fn a_text_is_read_into_its_parts() {
    expect![[r##"
        Heading { level: 2, text: "Summary" }
        Paragraph("Two **things** must `change` before this.")
        Item { depth: 0, marker: None, text: "one" }
        Item { depth: 1, marker: None, text: "two **bold `code` bold**" }
        Item { depth: 0, marker: Some("1."), text: "first" }
        Item { depth: 0, marker: Some("12."), text: "second" }
        Quote("said")
        Table([["a", "b"], ["1", "2"]])
        Code(["# not a heading"])
        Rule
        Paragraph("#hashtag, ** alone and ` alone")
    "##]]
    .assert_eq(&blocks(TEXT).iter().map(|block| format!("{block:?}\n")).collect::<Vec<_>>().concat());
}

#[test]
fn a_terminal_sees_headings_bold_and_code() {
    expect![[r##"
        ESC[1;4mSummaryESC[0m

        Two ESC[1mthingsESC[0m must ESC[36mchangeESC[0m before this.

        • one
          • two ESC[1mbold ESC[0mESC[36mcodeESC[0mESC[1m boldESC[0m
        1. first
        12. second

        ESC[2m│ESC[0m said

        a  b
        1  2

            ESC[36m# not a headingESC[0m

        ────────

        #hashtag, ** alone and ` alone
    "##]]
    .assert_eq(&for_terminal(TEXT).replace('\u{1b}', "ESC"));
}

#[test]
fn a_fence_without_an_end_is_code_to_the_end() {
    assert_eq!(blocks("```\na"), [Block::Code(vec!["a".to_owned()])]);
}

proptest! {
    #[test]
    fn no_text_is_lost_from_a_line(text in "[a-c*` ]{0,40}") {
        let shown: String = spans(&text).into_iter().map(|span| span.text).collect();
        let words = |text: &str| text.chars().filter(|c| !"*`".contains(*c)).collect::<String>();
        prop_assert_eq!(words(&shown), words(&text));
    }

    #[test]
    fn any_text_can_be_read(text in "\\PC*(\n\\PC*){0,6}") {
        drop(for_terminal(&text));
    }
}
