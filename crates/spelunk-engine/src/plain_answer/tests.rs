//! What is an answer, and what only looks like one.

use super::NoAnswer::{Call, Code, Empty};
use super::*;

const QUESTION: &str = "What is the magic number?";

#[test]
fn code_calls_and_nothing_are_no_answer() {
    let hostile = [
        ("", Empty),
        (" \n\t\n", Empty),
        ("\u{200b}\u{feff} \u{2060}\u{ad}", Empty),
        ("<think>\nIt may be 42.\n</think>\n", Empty),
        ("<think>It is 42", Empty),
        ("<thinking>hm</thinking>", Empty),
        ("```evidence\na.md:1: The magic number is 42.\n```", Empty),
        ("```\n```", Empty),
        ("***", Empty),
        ("---\n\n#", Empty),
        ("```python\nprint(context[:500])\n```", Code),
        ("```repl\nprint(1)\n```\n\n```repl\nprint(2)\n```", Code),
        ("```\nprint(len(context))\n```", Code),
        ("~~~py\nx = 1\n~~~", Code),
        ("```bash\ngrep -rn magic .\n```", Code),
        ("```js\nconsole.log(1)\n```", Code),
        ("```python\nprint(context", Code),
        ("print(context[:500])", Code),
        ("x = grep('magic')\nprint(x)", Code),
        ("Let me look:\n\n```repl\nprint(context)\n```", Code),
        ("Let me look.\n```python\nprint(context)\n```\n", Code),
        ("I'll search the text for it first.\n\n```sh\ngrep magic a.md\n```", Code),
        ("Sure! Here is the code:\n```python\nprint(context)\n```", Code),
        ("Searching:\n```python\nprint(context)\n```", Code),
        ("To find the number, I need to look. Let’s print it:\n```\nprint(context)\n```", Code),
        ("<think>\nhm\n</think>\n```python\nprint(context)\n```", Code),
        ("<python>print(context)</python>", Code),
        ("FINAL(x)", Code),
        ("FINAL_VAR(answer)", Code),
        ("FINAL(\"42\")\nFINAL(\"43\")", Code),
        ("I will answer now.\nFINAL(answer)", Code),
        ("{\"code\": \"print(context)\"}", Code),
        ("<tool_call>\n{\"name\": \"python\", \"arguments\": {\"code\": \"print(1)\"}}\n</tool_call>", Code),
        ("<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"path\": \"a.md\"}}\n</tool_call>", Call),
        ("<tool_call>{\"name\": \"Read\"", Call),
        ("I will read it. <tool_call>{\"name\": \"Read\"}</tool_call>", Call),
        ("<function=Read><parameter=path>a.md</parameter></function>", Call),
        ("<function_calls>\n<invoke name=\"Read\">\n</invoke>\n</function_calls>", Call),
        ("<invoke name=\"Read\"></invoke>", Call),
        ("<|tool_call_begin|>Read<|tool_call_end|>", Call),
        ("[TOOL_CALLS][{\"name\": \"Read\", \"arguments\": {}}]", Call),
        ("{\"name\": \"Read\", \"arguments\": {\"path\": \"a.md\"}}", Call),
        ("{\"name\": \"Read\", \"parameters\": {\"path\": \"a.md\"}}", Call),
        ("[{\"name\": \"Read\", \"arguments\": \"{}\"}]", Call),
        ("{\"tool_calls\": [{\"id\": \"1\"}]}", Call),
        ("{\"type\": \"tool_use\", \"name\": \"Read\", \"input\": {\"path\": \"a.md\"}}", Call),
        ("```json\n{\"name\": \"Read\", \"arguments\": {\"path\": \"a.md\"}}\n```", Call),
        ("```tool\n{\"name\": \"Finish\"}\n```", Call),
        ("```tool_code\nsearch('magic')\n```", Call),
        ("Let me look:\n{\"name\": \"Read\", \"arguments\": {}}", Call),
        ("The number is in a.md.\n\n<tool_call>{\"name\": \"Read\"}</tool_call>", Call),
    ];
    for (text, expected) in hostile {
        assert_eq!(fault(text, CodeAlone::for_question(QUESTION)), Some(expected), "{text}");
        let asked = fault(text, CodeAlone::IsAnswer);
        assert_eq!(asked.is_some(), expected != Code || is_for_session(text), "asked for code: {text}");
    }
}

#[test]
fn words_data_and_words_with_code_are_answers() {
    let good = [
        "42",
        "42.",
        "No.",
        "✓",
        "π",
        "四十二",
        "/etc/hosts",
        "-1",
        "Let me be clear: it is 42.",
        "I will never know; the text does not say it.",
        "The text does not say it.",
        "max_retries = 3",
        "`cargo test`",
        "The number is `42`.\n\n```evidence\na.md:1: The magic number is 42.\n```",
        "It is 42:\n\n```toml\nmagic = 42\n```",
        "The server listens on 8080:\n```sh\ncurl localhost:8080\n```",
        "```\n42\n```",
        "```text\nThe magic number is 42.\n```",
        "```json\n{\"magic\": 42}\n```",
        "{\"magic\": 42}",
        "{\"name\": \"Ada\", \"age\": 36}",
        "[\"a\", \"b\"]",
        "- a\n- b",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "# Report\n\n## Summary\n\nAll is well.\n\n```python\nprint(1)\n```\n",
        "It calls tools with `<tool_call>` and ends with `FINAL(x)`.",
        "A call looks so:\n\n<tool_call>{\"name\": \"Read\"}</tool_call>\n\nIts result is shown to the model.",
        "<b>42</b>",
        "ß ä 😀",
    ];
    for text in good {
        assert_eq!(fault(text, CodeAlone::for_question(QUESTION)), None, "{text}");
    }
}

#[test]
fn code_alone_answers_a_question_that_asks_for_code() {
    let asking = [
        "Write a shell command that counts the lines.",
        "Give me a Python script that reads these files.",
        "How do I install it?",
        "Which command starts the server?",
        "Show the SQL query behind the report.",
        "Write a one-liner for that.",
        "Show the definition of `main`.",
    ];
    let good = [
        "```sh\nwc -l *.md\n```",
        "Here is the command:\n\n```sh\nwc -l *.md\n```",
        "```python\nprint(1)\n```",
    ];
    for question in asking {
        for text in good {
            assert_eq!(fault(text, CodeAlone::for_question(question)), None, "{question} {text}");
        }
        for text in [
            "```repl\nprint(1)\n```",
            "```python\nFINAL(x)\n```",
            "FINAL(x)",
            "{\"name\": \"a\", \"arguments\": {}}",
        ] {
            assert!(fault(text, CodeAlone::for_question(question)).is_some(), "{question} {text}");
        }
    }
    let other = [
        "Who wrote the code?",
        "What is the magic number?",
        "Which function reads the file?",
        "How many commands are there?",
        "Who is it? Give the answer as JSON and write it on one line.",
        "",
    ];
    for question in other {
        assert_eq!(CodeAlone::for_question(question), CodeAlone::IsNone, "{question}");
    }
}

#[test]
fn a_reply_that_only_calls_is_a_call() {
    let call = spelunk_model::ToolCall {
        id: "1".into(),
        name: "Read".into(),
        arguments: "{}".into(),
        signature: None,
    };
    let stop = spelunk_types::StopReason::ToolUse;
    let reply = Reply {
        text: String::new(),
        stop,
        usage: None,
        tool_calls: vec![call],
        answered_by: None,
        certainty_permille: None,
    };
    assert_eq!(fault_of(&reply, CodeAlone::IsNone), Some(Call));
    assert_eq!(fault_of(&Reply { text: "It is 42.".into(), ..reply }, CodeAlone::IsNone), None);
}

proptest::proptest! {
    /// Replies are hostile: any text is classified, and what is refused for a question that asks for code is refused
    /// for every question.
    #[test]
    fn any_text_is_judged(text in "(```[a-z]{0,6}\n|~~~|<tool_call>|</tool_call>|FINAL\\(|\\{\"name\": |[\\[\\]{}\", a-z\n`]|\\PC){0,40}") {
        let (asked, plain) = (fault(&text, CodeAlone::IsAnswer), fault(&text, CodeAlone::IsNone));
        proptest::prop_assert!(asked.is_none() || asked == plain, "{asked:?} {plain:?}");
    }
}
