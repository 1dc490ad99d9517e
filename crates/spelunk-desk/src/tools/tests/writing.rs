//! Write, Edit, Evidence and Buffer.

use super::*;

#[test]
fn write_makes_replaces_and_adds() {
    let mut desk = desk();
    check(
        &mut desk,
        "Write",
        &json!({"path": "output/answer.md", "content": "one\n"}),
        &expect![[r#"
        wrote 4 bytes (1 line) to `output/answer.md`
        changed: output/answer.md
    "#]],
    );
    check(
        &mut desk,
        "Write",
        &json!({"path": "output/answer.md", "content": "two", "append": true}),
        &expect![[r#"
            added 3 bytes (1 line) to `output/answer.md`
            changed: output/answer.md
        "#]],
    );
    assert_eq!(desk.text(&path("output/answer.md")).unwrap(), "one\ntwo");
    check(
        &mut desk,
        "Write",
        &json!({"path": "state/job.json", "content": "{}"}),
        &expect![[r#"
        error: `state/job.json` is read-only; write under `scratch/`, `output/`, `cache/indexes/` or to `state/notes.md`
    "#]],
    );
    check(
        &mut desk,
        "Write",
        &json!({"path": "../x", "content": "{}"}),
        &expect![[r#"
        error: `../x` is not a valid path: `..` is not allowed; write the path relative to the folder
    "#]],
    );
    check(
        &mut desk,
        "Write",
        &json!({"path": "state/evidence.jsonl", "content": "{}"}),
        &expect![[r#"
        error: `state/evidence.jsonl` can only be appended to with the Evidence tool
    "#]],
    );
    check(
        &mut desk,
        "Write",
        &json!({"path": "/", "content": ""}),
        &expect![[r#"
        error: `/` is read-only; write under `scratch/`, `output/`, `cache/indexes/` or to `state/notes.md`
    "#]],
    );
}

#[test]
fn edit_needs_the_exact_text_once() {
    let mut desk = desk();
    check(
        &mut desk,
        "Edit",
        &json!({"path": "scratch/words.txt", "old": "fig", "new": "date"}),
        &expect![[r#"
            edited `scratch/words.txt` in 1 place, line 4
            changed: scratch/words.txt
        "#]],
    );
    assert_eq!(desk.text(&path("scratch/words.txt")).unwrap(), "pear\napple\nPear\ndate\n");
    check(
        &mut desk,
        "Edit",
        &json!({"path": "scratch/words.txt", "old": "ear\n", "new": "each\n"}),
        &expect![[r#"
            error: `ear\n` occurs 2 times in `scratch/words.txt`, on lines 1, 3; include more of the text around it, or set `all`
        "#]],
    );
    check(
        &mut desk,
        "Edit",
        &json!({"path": "scratch/words.txt", "old": "ear", "new": "each", "all": true}),
        &expect![[r#"
            edited `scratch/words.txt` in 2 places, line 1
            changed: scratch/words.txt
        "#]],
    );
    check(
        &mut desk,
        "Edit",
        &json!({"path": "scratch/words.txt", "old": "kiwi", "new": "x"}),
        &expect![[r#"
            error: `kiwi` was not found in `scratch/words.txt`; Read the file and copy the text exactly
        "#]],
    );
    check(
        &mut desk,
        "Edit",
        &json!({"path": "scratch/words.txt", "old": "", "new": "x"}),
        &expect![[r#"
        error: invalid arguments for Edit: `old` is empty; use Write to create a file
    "#]],
    );
    check(
        &mut desk,
        "Edit",
        &json!({"path": "scratch/words.txt", "old": "x", "new": "x"}),
        &expect![[r#"
            error: invalid arguments for Edit: `old` and `new` are the same
        "#]],
    );
    check(
        &mut desk,
        "Edit",
        &json!({"path": "input/prompt.md", "old": "needle", "new": "x"}),
        &expect![[r#"
            error: `input/prompt.md` is read-only; write under `scratch/`, `output/`, `cache/indexes/` or to `state/notes.md`
        "#]],
    );
    check(
        &mut desk,
        "Edit",
        &json!({"path": "scratch/none", "old": "needle", "new": "x"}),
        &expect![[r#"
            error: `scratch/none` does not exist
        "#]],
    );
}

#[test]
fn edit_shows_a_near_miss() {
    let mut desk = desk();
    desk.put(&path("scratch/a.py"), "def f():\n    return  1\n\n\ndef g():\n    pass\n").unwrap();
    let arguments = json!({"path": "scratch/a.py", "old": "  return 1\n\ndef", "new": "x"});
    check(
        &mut desk,
        "Edit",
        &arguments,
        &expect![[r#"
        error: `  return 1\n\ndef` was not found in `scratch/a.py`; this is similar, with different spaces, letters or lines:
             2	    return  1
             3	
             4	
    "#]],
    );
}

#[test]
fn an_edit_cannot_blow_up_a_file() {
    let mut desk = desk();
    desk.put(&path("scratch/x"), "x".repeat(1_000_000)).unwrap();
    let arguments = json!({"path": "scratch/x", "old": "x", "new": "y".repeat(1_000_000), "all": true});
    check(
        &mut desk,
        "Edit",
        &arguments,
        &expect![[r#"
        error: `scratch/x` would have 1000001000000 bytes; the maximum per file is 16777216; split it into several files
    "#]],
    );
}

#[test]
fn evidence_is_numbered_and_only_grows() {
    let mut desk = desk();
    let arguments = json!({"tag": "name", "content": "Anna\nlives", "source": "input/prompt.md:3"});
    check(
        &mut desk,
        "Evidence",
        &arguments,
        &expect![[r#"
        evidence 1 recorded under `name`
        changed: state/evidence.jsonl
    "#]],
    );
    let arguments = json!({"tag": "age", "content": "7", "metadata": {"unit": "years"}});
    check(
        &mut desk,
        "Evidence",
        &arguments,
        &expect![[r#"
        evidence 2 recorded under `age`
        changed: state/evidence.jsonl
    "#]],
    );
    expect![[r#"
        {"sequence":1,"tag":"name","content":"Anna\nlives","metadata":null,"source":"input/prompt.md:3"}
        {"sequence":2,"tag":"age","content":"7","metadata":{"unit":"years"},"source":null}
    "#]]
    .assert_eq(&desk.text(&path("state/evidence.jsonl")).unwrap());
    check(
        &mut desk,
        "Evidence",
        &json!({"tag": " ", "content": "x"}),
        &expect![[r#"
        error: invalid arguments for Evidence: `tag` must have 1 to 100 characters
    "#]],
    );
    check(
        &mut desk,
        "Evidence",
        &json!({"tag": "t", "content": "x".repeat(70_000)}),
        &expect![[r#"
        error: invalid arguments for Evidence: `content` has 70000 bytes; the maximum is 65536; write a file and name it in `source`
    "#]],
    );
}

#[test]
fn a_buffer_grows_beyond_one_reply_and_becomes_a_file() {
    let mut desk = desk();
    let calls = [
        json!({"action": "list"}),
        json!({"action": "append", "name": "report", "text": "# Part 1\n\"é\""}),
        json!({"action": "append", "label": "report", "text": "# Part 2"}),
        json!({"action": "append", "name": "report", "text": "draft"}),
        json!({"action": "pop", "name": "report"}),
        json!({"action": "read", "name": "report", "first": 2}),
        json!({"action": "list"}),
        json!({"action": "assemble", "name": "report", "path": "output/answer.md", "join": "\n\n"}),
        json!({"action": "clear", "name": "report"}),
        json!({"action": "read", "name": "report"}),
        json!({"action": "append", "name": "../x", "text": "y"}),
        json!({"action": "assemble", "name": "report", "path": "state/job.json"}),
    ];
    check_all(
        &mut desk,
        "Buffer",
        &calls,
        &expect![[r##"
            Buffer {"action":"list"}
            [there are no buffers]
            changed: 
            Buffer {"action":"append","name":"report","text":"# Part 1\n\"é\""}
            buffer `report` has 1 part, 12 characters
            changed: state/buffers/report.jsonl
            Buffer {"action":"append","label":"report","text":"# Part 2"}
            buffer `report` has 2 parts, 20 characters
            changed: state/buffers/report.jsonl
            Buffer {"action":"append","name":"report","text":"draft"}
            buffer `report` has 3 parts, 25 characters
            changed: state/buffers/report.jsonl
            Buffer {"action":"pop","name":"report"}
            draft
            [removed from buffer `report`, which has 2 parts left]
            changed: state/buffers/report.jsonl
            Buffer {"action":"read","first":2,"name":"report"}
            # Part 2
            [parts 2-2 of 2 in buffer `report`]
            changed: 
            Buffer {"action":"list"}
            report: 2 parts, 20 characters; begins with: # Part 1\n"é"
            changed: 
            Buffer {"action":"assemble","join":"\n\n","name":"report","path":"output/answer.md"}
            wrote 2 parts of buffer `report` to `output/answer.md`, 24 bytes
            changed: output/answer.md
            Buffer {"action":"clear","name":"report"}
            buffer `report` was removed
            changed: state/buffers/report.jsonl
            Buffer {"action":"read","name":"report"}
            error: there is no buffer `report`; append to one first
            Buffer {"action":"append","name":"../x","text":"y"}
            error: invalid arguments for Buffer: `name` must have 1 to 64 letters, digits, `-` or `_`
            Buffer {"action":"assemble","name":"report","path":"state/job.json"}
            error: there is no buffer `report`; append to one first
        "##]],
    );
    assert_eq!(desk.text(&path("output/answer.md")).unwrap(), "# Part 1\n\"é\"\n\n# Part 2\n");
}

#[test]
fn a_buffer_has_a_thousand_parts_at_most() {
    let mut desk = desk();
    for _ in 0..1000 {
        run_tool(&mut desk, "Buffer", &json!({"action": "append", "name": "b", "text": "x"})).unwrap();
    }
    check(
        &mut desk,
        "Buffer",
        &json!({"action": "append", "name": "b", "text": "x"}),
        &expect![[r#"
        error: buffer `b`, in parts, can have at most 1000; it would have 1001
    "#]],
    );
}
