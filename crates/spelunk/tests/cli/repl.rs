//! The recursive loop from the command line, with its cells in a real worker process; and the same session for people.

use expect_test::expect;
use spelunk_testkit::{ModelServer, when};

use crate::scene::{NOTE, QUESTION, Scene};

/// A model that looks, asks a sub-model, and answers with what `grep` found.
fn explorer() -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("SUB:")).reply("forty-two").usage(10, 1),
        when(|prompt| prompt.contains("turns left"))
            .reply("```repl\nFINAL(f'It is {said}.', cite=hits)\n```")
            .usage(200, 10),
        when(|prompt| prompt.contains("Question:"))
            .reply("```repl\nhits = grep('magic')\nsaid = llm_query('SUB: ' + hits[0]['text'])\nprint(hits, said)\n```")
            .usage(100, 20),
    ])
}

#[test]
fn a_model_explores_with_code_and_cites_what_it_found() {
    let (scene, server) = (Scene::new(&NOTE), explorer());
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--strategy", "repl"]).server(&server);
    ask.run().check(&expect![[""]]);
    scene.spelunk(["show", "--cell", "0:0"]).run().check(&expect![[""]]);
    scene.spelunk(["show", "--cell", "0:7"]).run().check(&expect![[""]]);
    scene.spelunk(["show"]).run().check(&expect![[""]]);
    assert_eq!(server.unexpected(), []);
}

#[test]
fn a_text_that_does_not_fit_one_call_is_explored_without_being_told_to() {
    let long = format!("The magic number is 42.\n{}", "Nothing of interest here.\n".repeat(3_000));
    let (scene, server) = (Scene::new(&[("notes/a.md", &long)]), explorer());
    scene.ask(&server).run().check(&expect![[""]]);
}

#[test]
fn an_answer_that_is_cut_short_is_partial_and_exits_with_3() {
    let scene = Scene::new(&NOTE);
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("No more code will run")).reply("Perhaps 42.").usage(100, 5),
        when(|prompt| prompt.contains("Question:")).reply("```repl\nprint(context)\n```").usage(100, 5),
    ]);
    let args = ["ask", QUESTION, "notes", "--strategy", "repl", "--set", "limits.turns_max=1"];
    scene.spelunk(args).server(&server).run().check(&expect![[""]]);
    scene.spelunk(["resume"]).server(&server).run().check(&expect![[""]]);
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
    ask("schema.json").run().check(&expect![[""]]);
    ask("wrong.json").run().check(&expect![[""]]);
    ask("missing.json").run().check(&expect![[""]]);
}

#[test]
fn a_sandbox_that_there_is_not_is_refused() {
    let (scene, server) = (Scene::new(&NOTE), explorer());
    let args = ["ask", QUESTION, "notes", "--strategy", "repl", "--sandbox", "jail"];
    scene.spelunk(args).server(&server).run().check(&expect![[""]]);
}

#[test]
fn a_person_has_the_same_session() {
    let scene = Scene::new(&NOTE);
    let typed = "len(context)\nfor line in context.splitlines():\n    if 'magic' in line:\n        print(line)\n\nprint(grep('magic')[0]['line'])\n1 / 0\nllm_query('hello')\nSHOW_VARS()\n";
    let repl = scene.spelunk(["repl", "notes/a.md", "--model", "none"]);
    repl.stdin(typed).run().check(&expect![[""]]);
}
