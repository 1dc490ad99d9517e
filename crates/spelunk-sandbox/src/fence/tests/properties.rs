//! Properties of every reply.

use proptest::prelude::*;

use super::find_cells;

/// Lines that do not begin with a fence, of characters that are special to Markdown, Python or the protocol.
fn line() -> impl Strategy<Value = String> {
    "[a-z0-9 '\"\\\\#(){}\\[\\]<>/:=,.é`~-]{0,12}".prop_filter("a fence line", |line| {
        let text = line.trim_start();
        !text.starts_with("```") && !text.starts_with("~~~")
    })
}

/// Code of at least one character.
fn code() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 1..8)
        .prop_map(|lines| lines.join("\n"))
        .prop_filter("blank", |code| !code.trim().is_empty())
}

/// Code whose end any Python tokenizer considers outside of strings.
fn closed_code() -> impl Strategy<Value = String> {
    let statement = prop_oneof![
        "v[0-9]{1,3} = [1-9]{1,3}",
        "v[0-9]{1,3} = '''[a-z`\n]{0,9}'''",
        "print\\(v[0-9]{1,3}\\)",
        "# [a-z'\"`]{0,9}",
        "v[0-9]{1,3} = f\"\"\"\n```\n[{]v[0-9]{1,3}[}]\n```\n\"\"\"",
    ];
    let last = "use\\(v[0-9]{1,3}\\)";
    (prop::collection::vec(statement, 0..5), last).prop_map(|(mut statements, last)| {
        statements.push(last);
        statements.join("\n")
    })
}

fn fence() -> impl Strategy<Value = String> {
    prop_oneof!["`{3,6}", "~{3,6}"]
}

fn label() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["repl", "python", "py", "python3", "Python", " repl"])
}

/// Replies made of what the scan reacts to.
fn reply() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "```",
            "~~~",
            "````",
            "repl",
            "python",
            "\n",
            "\r\n",
            " ",
            "\t",
            "'''",
            "\"\"\"",
            "f'''",
            "{",
            "}",
            "'",
            "\"",
            "\\",
            "<think>",
            "</think>",
            "<python>",
            "</python>",
            "<tool_call>",
            "</tool_call>",
            "{\"code\": \"x\"}",
            "FINAL(",
            "FINAL_VAR(",
            ")",
            "(",
            "`",
            "x = 1",
            "- ",
            "1. ",
            "é",
            "𝒳",
            "\u{feff}",
            "\0",
            "lambda",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn code_survives_being_wrapped_in_any_fence(code in code(), fence in fence(), label in label()) {
        let found = find_cells(&format!("{fence}{label}\n{code}\n{fence}\n"));
        let codes: Vec<_> = found.cells.iter().map(|cell| (cell.code.as_str(), cell.line, cell.is_cut)).collect();
        prop_assert_eq!(codes, vec![(code.as_str(), 2, false)]);
    }

    #[test]
    fn a_program_survives_being_wrapped_in_a_fence_without_a_label(code in closed_code(), fence in fence()) {
        let found = find_cells(&format!("{fence}\n{code}\n{fence}\n"));
        let codes: Vec<_> = found.cells.iter().map(|cell| cell.code.as_str()).collect();
        prop_assert_eq!(codes, vec![code.as_str()]);
    }

    #[test]
    fn blocks_keep_their_order(blocks in prop::collection::vec((closed_code(), fence(), label()), 0..9)) {
        let reply = blocks
            .iter()
            .map(|(code, fence, label)| format!("it's\n{fence}{label}\n{code}\n{fence}\n"))
            .collect::<Vec<_>>()
            .concat();
        let found = find_cells(&reply);
        let expected: Vec<_> = blocks.iter().map(|(code, ..)| code.as_str()).collect();
        let codes: Vec<_> = found.cells.iter().map(|cell| cell.code.as_str()).collect();
        prop_assert_eq!(codes, expected);
        prop_assert_eq!(found.prose, vec!["it's"; blocks.len()].join("\n"));
    }

    #[test]
    fn indented_code_loses_exactly_the_indentation_of_its_fence(code in closed_code(), indent in 0_usize..9) {
        let margin = " ".repeat(indent);
        let lines = code.lines().map(|line| format!("{margin}{line}\n")).collect::<Vec<_>>().concat();
        let found = find_cells(&format!("{margin}```repl\n{lines}{margin}```\n"));
        prop_assert_eq!(&found.cells[0].code, &code);
    }

    #[test]
    fn no_reply_panics(reply in reply()) {
        let found = find_cells(&reply);
        prop_assert!(found.cells.iter().all(|cell| !cell.code.trim().is_empty()));
        prop_assert!(found.prose.len() <= reply.len());
    }
}
