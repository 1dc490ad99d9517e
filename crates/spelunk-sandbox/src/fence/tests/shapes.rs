//! Where code is.

use expect_test::expect;

use super::check;

#[test]
fn a_repl_fence_is_code_and_the_text_around_it_is_prose() {
    check(
        "Let me look.\n\n```repl\nprint(len(context))\n```\nThen we see.\n",
        &expect![[r#"
        cell at line 4: "print(len(context))"
        prose: "Let me look.\n\nThen we see."
    "#]],
    );
}

// Probe "```python fence: ignored, turn wasted".
#[test]
fn every_label_for_python_is_accepted() {
    check(
        "```python\na\n```\n```py\nb\n```\n```python3\nc\n```\n```Python\nd\n```\n``` REPL\ne\n```",
        &expect![[r#"
        cell at line 2: "a"
        cell at line 5: "b"
        cell at line 8: "c"
        cell at line 11: "d"
        cell at line 14: "e"
    "#]],
    );
    check(
        "```{python}\na = 1\n```\n```python title=\"x.py\"\nb = 1\n```\n",
        &expect![[r#"
        cell at line 2: "a = 1"
        cell at line 5: "b = 1"
    "#]],
    );
}

// Probe "second block in a reply: dropped".
#[test]
fn all_blocks_of_a_reply_are_taken_in_order() {
    check(
        "```repl\nx = 1\n```\nand\n~~~python\ny = 2\n~~~\nand\n```repl\nz = 3\n```",
        &expect![[r#"
        cell at line 2: "x = 1"
        cell at line 6: "y = 2"
        cell at line 10: "z = 3"
        prose: "and\nand"
    "#]],
    );
}

#[test]
fn other_languages_and_output_are_prose() {
    check(
        "```json\n{\"code\": \"x\"}\n```\n```bash\nls\n```\n```text\nprint(1)\n```\n```output\nprint(2)\n```\n",
        &expect![[r#"
        prose: "```json\n{\"code\": \"x\"}\n```\n```bash\nls\n```\n```text\nprint(1)\n```\n```output\nprint(2)\n```"
    "#]],
    );
}

#[test]
fn an_unlabelled_fence_is_code_if_it_is_a_program() {
    check(
        "```\nprint(1)\n```\n",
        &expect![[r#"
        cell at line 2: "print(1)"
    "#]],
    );
    check(
        "```\nfor x in y:\n    total += x\n```\n",
        &expect![[r#"
        cell at line 2: "for x in y:\n    total += x"
    "#]],
    );
    check(
        "```\nthis is output\n```\n",
        &expect![[r#"
        prose: "```\nthis is output\n```"
    "#]],
    );
}

#[test]
fn data_and_words_in_an_unlabelled_fence_are_not_a_program() {
    check(
        "```\n{\"a\": [1, -2.5, true], \"b\": null}\n```\n",
        &expect![[r#"
        prose: "```\n{\"a\": [1, -2.5, true], \"b\": null}\n```"
    "#]],
    );
    check(
        "```\nAnswer: 42\n```\n",
        &expect![[r#"
        prose: "```\nAnswer: 42\n```"
    "#]],
    );
    check(
        "```\nParis, France\n```\n",
        &expect![[r#"
        prose: "```\nParis, France\n```"
    "#]],
    );
    check(
        "```\nParis\n```\n",
        &expect![[r#"
            prose: "```\nParis\n```"
        "#]],
    );
    check(
        "```\ntrue\n```\n",
        &expect![[r#"
            prose: "```\ntrue\n```"
        "#]],
    );
    check(
        "```\n# What is in it?\nresults\n```\n",
        &expect![[r##"
            cell at line 2: "# What is in it?\nresults"
        "##]],
    );
}

// Probe "fence containing ``` in a string: cut"; dspy#9801.
#[test]
fn a_fence_within_a_string_does_not_close_the_block() {
    check(
        "```python\nprompt = \"\"\"Answer like this:\n```json\n{}\n```\nand nothing else.\"\"\"\nprint(llm_query(prompt))\n```\nDone.",
        &expect![[r#"
            cell at line 2: "prompt = \"\"\"Answer like this:\n```json\n{}\n```\nand nothing else.\"\"\"\nprint(llm_query(prompt))"
            prose: "Done."
        "#]],
    );
    check(
        "```repl\np = f'''\n```\n{x}\n```\n'''\nq = rf\"\"\"\n```\n{{}}\n```\"\"\"\n```\n",
        &expect![[r#"
            cell at line 2: "p = f'''\n```\n{x}\n```\n'''\nq = rf\"\"\"\n```\n{{}}\n```\"\"\""
        "#]],
    );
    check(
        "```repl\ns = 'a\\\n```\\\nb'\nprint(s)\n```\n",
        &expect![[r#"
        cell at line 2: "s = 'a\\\n```\\\nb'\nprint(s)"
    "#]],
    );
}

#[test]
fn a_fence_in_a_comment_or_beside_code_does_not_close_the_block() {
    check(
        "```repl\n# ``` is a fence, ''' is not open\nx = '```'\n```\nprose",
        &expect![[r##"
        cell at line 2: "# ``` is a fence, ''' is not open\nx = '```'"
        prose: "prose"
    "##]],
    );
}

#[test]
fn quotes_that_are_no_strings_do_not_keep_a_block_open() {
    check(
        "```repl\n# it's \"\"\" here\nx = 'it\\'s'\ny = 'not closed\n```\nit's prose '''",
        &expect![[r##"
        cell at line 2: "# it's \"\"\" here\nx = 'it\\'s'\ny = 'not closed"
        prose: "it's prose '''"
    "##]],
    );
    check(
        "```repl\nx = f'{y\n```\nprose }' \n```\n",
        &expect![[r#"
        cell at line 2: "x = f'{y"
        prose: "prose }' \n```"
    "#]],
    );
}

#[test]
fn a_string_that_is_never_closed_ends_at_the_first_fence() {
    check(
        "```repl\nx = '''abc\n```\nSorry.\n```repl\ny = 1\n```\n",
        &expect![[r#"
        cell at line 2: "x = '''abc"
        cell at line 6: "y = 1"
        prose: "Sorry."
    "#]],
    );
}

#[test]
fn nested_fences_close_by_their_length_and_their_character() {
    check(
        "````python\nx = 1\n```\ny = 2\n````\n",
        &expect![[r#"
        cell at line 2: "x = 1\n```\ny = 2"
    "#]],
    );
    check(
        "~~~python\nx = 1\n```\n~~~\n",
        &expect![[r#"
        cell at line 2: "x = 1\n```"
    "#]],
    );
    check(
        "```python\nx = 1\n`````\nprose",
        &expect![[r#"
        cell at line 2: "x = 1"
        prose: "prose"
    "#]],
    );
}

#[test]
fn a_block_that_its_author_forgot_to_close_ends_where_the_next_begins() {
    check(
        "```repl\nx = 1\n\n```repl\ny = 2\n```\n",
        &expect![[r#"
        cell at line 2: "x = 1\n"
        cell at line 5: "y = 2"
    "#]],
    );
}

#[test]
fn a_reply_that_was_cut_says_so() {
    check(
        "Look:\n```repl\nx = 1\nprint(",
        &expect![[r#"
        cell at line 3, cut: "x = 1\nprint("
        prose: "Look:"
    "#]],
    );
    check(
        "```repl\nx = 1\n``",
        &expect![[r#"
        cell at line 2, cut: "x = 1\n``"
    "#]],
    );
    check("```repl\n", &expect![[""]]);
    check(
        "```\nprint(1)",
        &expect![[r#"
        cell at line 2, cut: "print(1)"
    "#]],
    );
    check(
        "<python>\nprint(1)",
        &expect![[r#"
        cell at line 2, cut: "print(1)"
    "#]],
    );
}

#[test]
fn a_fence_in_a_list_loses_its_indentation() {
    check(
        "1. First:\n   ```python\n   if x:\n       print(1)\n   ```\n2. Then",
        &expect![[r#"
        cell at line 3: "if x:\n    print(1)"
        prose: "1. First:\n2. Then"
    "#]],
    );
    check(
        "- ```python\n  print(1)\n  ```\n",
        &expect![[r#"
        cell at line 2: "print(1)"
    "#]],
    );
    check(
        "    ```python\nif x:\n    print(1)\n    ```\n",
        &expect![[r#"
        cell at line 2: "if x:\n    print(1)"
    "#]],
    );
    check(
        "\t```python\n\tif x:\n\t\tprint(1)\n\t```\n",
        &expect![[r#"
        cell at line 2: "if x:\n\tprint(1)"
    "#]],
    );
}

#[test]
fn windows_line_ends_are_understood() {
    check(
        "Hi\r\n```python\r\nx = 1\r\nprint(x)\r\n```\r\nbye\r\n",
        &expect![[r#"
        cell at line 3: "x = 1\nprint(x)"
        prose: "Hi\r\nbye"
    "#]],
    );
}

#[test]
fn inline_code_is_not_a_block() {
    check(
        "Use ```print(1)``` or `x`.\n```print(2)```\n",
        &expect![[r#"
        prose: "Use ```print(1)``` or `x`.\n```print(2)```"
    "#]],
    );
}

#[test]
fn code_between_tags_is_taken() {
    check(
        "<python>\nprint(1)\n</python>\n<repl>print(2)</repl> ok",
        &expect![[r#"
        cell at line 2: "print(1)"
        cell at line 4: "print(2)"
        prose: "ok"
    "#]],
    );
    check(
        "<python>\ns = '</python>'\nprint(s)\n</python>\n",
        &expect![[r#"
        cell at line 2: "s = '</python>'\nprint(s)"
    "#]],
    );
    check(
        "<python>\n```python\nprint(1)\n```\n</python>\n",
        &expect![[r#"
        cell at line 3: "print(1)"
        prose: "</python>"
    "#]],
    );
    check(
        "the <python> tag</python>",
        &expect![[r#"
        prose: "the <python> tag</python>"
    "#]],
    );
}

#[test]
fn tool_calls_are_taken() {
    check(
        "{\"code\": \"x = 1\\nprint(x)\"}",
        &expect![[r#"
        cell at line 1: "x = 1\nprint(x)"
    "#]],
    );
    check(
        "I run:\n{\"name\": \"python\", \"arguments\": {\"code\": \"print(1)\"}}\nok",
        &expect![[r#"
        cell at line 2: "print(1)"
        prose: "I run:\n\nok"
    "#]],
    );
    check(
        "<tool_call>\n{\"name\": \"repl\", \"arguments\": \"{\\\"code\\\": \\\"print(1)\\\"}\"}\n</tool_call>\n<tool_call>{\"code\": \"2+f(x)\"}</tool_call>",
        &expect![[r#"
            cell at line 1: "print(1)"
            cell at line 4: "2+f(x)"
        "#]],
    );
    check(
        "{\"type\": \"function\", \"function\": {\"name\": \"execute\", \"parameters\": {\"code\": \"f()\"}}}",
        &expect![[r#"
            cell at line 1: "f()"
        "#]],
    );
}

#[test]
fn objects_that_are_no_calls_are_prose() {
    check(
        "{\"code\": \"E42\", \"message\": \"broken\"}",
        &expect![[r#"
        prose: "{\"code\": \"E42\", \"message\": \"broken\"}"
    "#]],
    );
    check(
        "{\"name\": \"bash\", \"arguments\": {\"code\": \"ls\"}}",
        &expect![[r#"
        prose: "{\"name\": \"bash\", \"arguments\": {\"code\": \"ls\"}}"
    "#]],
    );
    check(
        "{\"name\": \"python\", \"arguments\": {\"cmd\": \"ls\"}}",
        &expect![[r#"
        prose: "{\"name\": \"python\", \"arguments\": {\"cmd\": \"ls\"}}"
    "#]],
    );
    check(
        "<tool_call>{\"name\": \"python\", \"argu",
        &expect![[r#"
        prose: "<tool_call>{\"name\": \"python\", \"argu"
    "#]],
    );
}

#[test]
fn thinking_is_not_run() {
    check(
        "<think>\n```repl\nboom()\n```\nFINAL(no)\n</think>\n```repl\nx()\n```",
        &expect![[r#"
        cell at line 8: "x()"
    "#]],
    );
    check(
        "<think>short</think>```repl\nx()\n```",
        &expect![[r#"
        cell at line 2: "x()"
    "#]],
    );
    check("<think>\n```repl\nboom()\n```\n", &expect![[""]]);
    check(
        "I try\n```repl\nboom()\n```\nFINAL(no)\n</think>\n```repl\nx()\n```",
        &expect![[r#"
        cell at line 8: "x()"
    "#]],
    );
}

#[test]
fn thinking_tags_in_code_are_code() {
    check(
        "```repl\nx = r.split('''\n</think>\n''')[-1]\n```\nFINAL(yes)",
        &expect![[r#"
        cell at line 2: "x = r.split('''\n</think>\n''')[-1]"
        final: "yes"
    "#]],
    );
}

#[test]
fn a_fence_at_the_end_of_a_sentence_is_code() {
    check(
        "Let me look at the context to start.```repl\nprint(context[:100])\n```\nDone: ```python\nx = 1\n```\n",
        &expect![[r#"
            cell at line 2: "print(context[:100])"
            cell at line 5: "x = 1"
            prose: "Let me look at the context to start.\nDone:"
        "#]],
    );
    check(
        "A block begins with ```repl\nand that is all.\n",
        &expect![[r#"
            prose: "A block begins with ```repl\nand that is all."
        "#]],
    );
    check(
        "A span ```x``` and then ```repl\ny = 1\n```\n",
        &expect![[r#"
            cell at line 2: "y = 1"
            prose: "A span ```x``` and then"
        "#]],
    );
}

#[test]
fn code_after_a_fence_that_was_not_closed_is_code() {
    check(
        "```\nThe output was 3\n\n```repl\ny = 2\n```\n",
        &expect![[r#"
            cell at line 5: "y = 2"
            prose: "```\nThe output was 3"
        "#]],
    );
}

#[test]
fn a_code_tag_is_code_if_it_is_a_program() {
    check(
        "<code>\nx = 1\nprint(x)\n</code>\nand\n<code>context</code> is a string.\n<code>Paris</code>\n<code>open",
        &expect![[r#"
            cell at line 2: "x = 1\nprint(x)"
            prose: "and\n<code>context</code> is a string.\n<code>Paris</code>\n<code>open"
        "#]],
    );
    check(
        "<code>\n```python\nx = 1\n```\n</code>\n",
        &expect![[r#"
            cell at line 3: "x = 1"
            prose: "</code>"
        "#]],
    );
}
