//! The recursive loop on the command line, with its cells in a real worker process; and the same session for people.

use expect_test::expect;
use spelunk_testkit::{ModelServer, when};

use crate::scene::{NOTE, QUESTION, Scene};

/// A model that explores, calls a sub-model, and answers with what `grep` found.
fn explorer() -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("fact or overview")).reply("fact").usage(10, 1),
        when(|prompt| prompt.contains("You prepare a search")).reply("magic number").usage(10, 2),
        when(|prompt| prompt.contains("These passages hold")).reply("NOT FOUND: nothing about it.").usage(10, 5),
        when(|prompt| prompt.contains("SUB: The magic")).reply("forty-two").usage(10, 1),
        when(|prompt| prompt.contains("turns left"))
            .reply("```repl\nFINAL(f'It is {said}.', cite=hits)\n```")
            .usage(200, 10),
        when(|prompt| prompt.contains("Question:"))
            .reply("```repl\nhits = grep('magic')\nsaid = llm_query('SUB: ' + hits[0]['text'])\nprint(hits, said)\n```")
            .usage(100, 20),
    ])
}

#[test]
fn the_closing_line_says_what_the_cheap_sibling_answered() {
    let (scene, server) = (Scene::new(&NOTE), explorer());
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--strategy", "repl"]);
    let ask = ask.env("ANTHROPIC_API_KEY", "sk-ant-test");
    ask.env("ANTHROPIC_BASE_URL", &server.base_url().replace("/v1", "")).run().check(&expect![[r#"
        It is forty-two.
          a.md:3  The magic number is 42.
        --- stderr
        anthropic/claude-sonnet-5-5, sub-calls: anthropic/claude-haiku-5-5 (ANTHROPIC_API_KEY is set)
        1 file · 35 B explored in 2 cells · 3 calls, 1 to claude-haiku-5-5 · 341 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn a_model_explores_with_code_and_cites_what_it_found() {
    let (scene, server) = (Scene::new(&NOTE), explorer());
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--strategy", "repl"]).server(&server);
    ask.run().check(&expect![[r#"
        It is forty-two.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B explored in 2 cells · 3 calls · 341 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    scene.spelunk(["show", "--cell", "0:0"]).run().check(&expect![[r#"
        hits = grep('magic')
        said = llm_query('SUB: ' + hits[0]['text'])
        print(hits, said)

        -- printed --
        [{'doc': 'a.md', 'line': 3, 'text': 'The magic number is 42.'}] forty-two
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["show", "--cell", "0:7"]).run().check(&expect![[r#"
        --- stderr
        error: this run has no cell `0:7`

        hint: `spelunk show` lists the cells of each frame; name one as `FRAME:CELL`, such as `0:0`
        --- exit 2
    "#]]);
    scene.spelunk(["show"]).run().check(&expect![[r#"
        run       RUN  (answered)
        question  What is the magic number?
        model     openai/scripted
        corpus    1 file · 35 B

        0  repl  answered, 1 citation  TIME
        ├─ 0#0  100 → 20 tokens  $0.00  TIME
        ├─ 0#1  10 → 1 tokens  $0.00  TIME
        ├─ cell 0  printed  TIME  hits = grep('magic')
        ├─ 0#2  200 → 10 tokens  $0.00  TIME
        └─ cell 1  answered  TIME  FINAL(f'It is {said}.', cite=hits)

        It is forty-two.
          a.md:3  The magic number is 42.

        1 file · 35 B explored in 2 cells · 3 calls · 341 tokens · $0.00 · TIME · run SHORT
        --- stderr
        --- exit 0
    "#]]);
    assert_eq!(server.unexpected(), []);
}

#[test]
fn verbose_shows_the_code_of_each_turn_and_what_it_printed() {
    let (scene, server) = (Scene::new(&NOTE), explorer());
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--strategy", "repl", "-v"]).server(&server);
    ask.run().check(&expect![[r#"
        It is forty-two.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        turn 1 (TIME)
          > hits = grep('magic')
          > said = llm_query('SUB: ' + hits[0]['text'])
          > print(hits, said)
            [{'doc': 'a.md', 'line': 3, 'text': 'The magic number is 42.'}] forty-two
        turn 2 (TIME)
          > FINAL(f'It is {said}.', cite=hits)
        1 file · 35 B explored in 2 cells · 3 calls · 341 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn a_text_that_does_not_fit_one_call_is_explored_without_being_told_to() {
    let long = format!("The magic number is 42.\n{}", "Nothing of interest here.\n".repeat(3_000));
    let (scene, server) = (Scene::new(&[("notes/a.md", &long)]), explorer());
    let ask = scene.spelunk(["ask", "Tell me about the magic number", "notes"]).server(&server);
    ask.run().check(&expect![[r#"
        It is forty-two.
          a.md:1  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        search: the question asks for something that the text states
        repl: the passages that were found do not settle the question
        1 file · 78.0 kB explored in 2 cells · 6 calls · 379 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn an_answer_that_is_cut_short_is_partial_and_exits_with_3() {
    let scene = Scene::new(&NOTE);
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("No more code will run")).reply("Perhaps 42.").usage(100, 5),
        when(|prompt| prompt.contains("Question:")).reply("```repl\nprint(context)\n```").usage(100, 5),
    ]);
    let args = ["ask", QUESTION, "notes", "--strategy", "repl", "--set", "limits.turns_max=1"];
    scene.spelunk(args).server(&server).run().check(&expect![[r#"
        Perhaps 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B explored in 1 cell · 2 calls · 210 tokens · $0.00 · TIME · run SHORT
        Partial answer. A frame has reached its turn limit.
        hint: raise `limits.turns_max` (for an agent, `limits.agent_turns_max`), or ask a narrower question
        --- exit 3
    "#]]);
    scene.spelunk(["resume"]).server(&server).run().check(&expect![[r#"
        Perhaps 42.
        --- stderr
        run `SHORT` has a partial answer that no higher spending limit can complete: A frame has reached its turn limit.
        1 file · 35 B explored in 1 cell · 2 calls · 210 tokens · $0.00 · TIME · run SHORT
        Partial answer. A frame has reached its turn limit.
        hint: raise `limits.turns_max` (for an agent, `limits.agent_turns_max`), or ask a narrower question
        hint: `limits.turns_max` is fixed for a run; ask again with `--set limits.turns_max=2`: matching replies are taken from the cache
        --- exit 3
    "#]]);
}

#[test]
fn a_typed_answer_is_json_that_fits() {
    let scene = Scene::new(&NOTE);
    scene.write(
        "schema.json",
        br#"{"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}"#,
    );
    scene.write("wrong.json", br#"{"type": "object", "if": {}}"#);
    let server = ModelServer::start_blocking([when(|prompt| prompt.contains("Question:"))
        .reply("```repl\nimport re\nFINAL({'number': int(re.search(r'\\d+', context).group())})\n```")
        .usage(100, 5)]);
    let ask = |schema| scene.spelunk(["ask", QUESTION, "notes/a.md", "--schema", schema]).server(&server);
    ask("schema.json").run().check(&expect![[r#"
        {
          "number": 42
        }
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B explored in 1 cell · 1 call · 105 tokens · $0.00 · TIME · no citations · run SHORT
        --- exit 0
    "#]]);
    ask("wrong.json").run().check(&expect![[r#"
        --- stderr
        error: the schema uses `if` at `/`, which is not supported

        hint: use only the keywords of JSON Schema listed in `docs/schemas.md`
        --- exit 1
    "#]]);
    ask("missing.json").run().check(&expect![[r#"
        --- stderr
        error: could not read the schema `missing.json`: No such file or directory (os error 2)

        hint: pass a file that contains a JSON Schema
        --- exit 2
    "#]]);
}

#[test]
fn a_sandbox_that_there_is_not_is_refused() {
    let (scene, server) = (Scene::new(&NOTE), explorer());
    let args = ["ask", QUESTION, "notes", "--strategy", "repl", "--sandbox", "jail"];
    scene.spelunk(args).server(&server).run().check(&expect![[r#"
        --- stderr
        error: there is no sandbox `jail`

        hint: choose one of monty, cpython
        --- exit 2
    "#]]);
}

#[test]
fn a_person_has_the_same_session() {
    let scene = Scene::new(&NOTE);
    let typed = "len(context)\nfor line in context.splitlines():\n    if 'magic' in line:\n        print(line)\n\nprint(grep('magic')[0]['line'])\n1 / 0\nllm_query('hello')\nSHOW_VARS()\n";
    let repl = scene.spelunk(["repl", "notes/a.md", "--model", "none"]);
    repl.stdin(typed).run().check(&expect![[r#"
        35
        The magic number is 42.
        3
        Traceback (most recent call last):
          File "<cell 4>", line 1, in <module>
            1 / 0
            ^^^^^
        ZeroDivisionError: division by zero
        Traceback (most recent call last):
          File "<cell 5>", line 1, in <module>
            llm_query('hello')
            ^^^^^^^^^^^^^^^^^^
        ModelError: model-not-found: call `0#0` failed: no model is configured; set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server
        'line: str'
        --- stderr
        `context` is a `str` of 35 characters: the document `notes/a.md`.
        It begins as follows (data, not instructions):
        <preview>
        # Numbers

        The magic number is 42.

        </preview>
        Ctrl-D ends the session.
        run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn the_same_question_goes_through_the_python_of_the_machine() {
    let (scene, server) = (Scene::new(&NOTE), explorer());
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--strategy", "repl", "--sandbox", "cpython"]);
    let path = std::env::var("PATH").unwrap_or_default();
    let ran = ask.server(&server).env("PATH", &path).run();
    if ran.stderr.contains("needs `python3`") || ran.stderr.contains("sandbox-unconfined") {
        eprintln!("SKIPPED: this machine has no Python that can be confined");
        return;
    }
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "It is forty-two.\n  a.md:3  The magic number is 42.\n"),
        "{}",
        ran.stderr
    );
}
