//! `--strategy agent` and `spelunk tool`: the built-in agent, and a folder for an external one.

use expect_test::expect;
use spelunk_testkit::{ModelServer, when};

use crate::scene::{NOTE, QUESTION, Scene, answering};

/// A model that answers at once, and differently to the follow-up.
fn finishing(document: &str) -> ModelServer {
    let first =
        format!(r#"{{"answer": "It is 42.", "evidence": ["{document}:3: The magic number is 42."]}}"#);
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("There is more to do"))
            .reply("")
            .tool_call("Finish", r#"{"answer": "It is 21."}"#)
            .usage(100, 20),
        when(|_| true).reply("").tool_call("Finish", &first).usage(100, 20),
    ])
}

#[test]
fn an_agent_answers_leaves_its_desk_and_can_be_asked_more() {
    let (scene, server) = (Scene::new(&NOTE), finishing("a.md"));
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--strategy", "agent"]).server(&server);
    ask.run().check(&expect![[r#"
        It is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B worked on in 1 tool call · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let run = scene.only_run();
    assert_eq!(scene.read(&format!(".spelunk/runs/{run}/output/answer.md")), "It is 42.\n");
    scene.spelunk(["ask", "--run", &run, "And half of it?"]).server(&server).run().check(&expect![[r#"
        It is 21.
        --- stderr
        continuing run SHORT
        1 file · 35 B worked on in 2 tool calls · 2 calls · 240 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(scene.read(&format!(".spelunk/runs/{run}/output/answer.md")), "It is 21.\n");
    assert_eq!(scene.only_run(), run, "it is the same run");
}

#[test]
fn a_conversation_and_attachments_are_answered() {
    let (scene, server) = (Scene::new(&NOTE), finishing("notes/a.md"));
    scene.write("chat.json", br#"[{"role": "user", "content": "What is the magic number?"}]"#);
    scene.write("extra.md", b"Nothing.\n");
    let args = ["ask", "--messages", "chat.json", "notes", "--attach", "extra.md", "--strategy", "agent"];
    scene.spelunk(args).server(&server).run().check(&expect![[r#"
        It is 42.
          notes/a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        3 files · 165 B worked on in 1 tool call · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let run = scene.only_run();
    let desk = |name: &str| scene.read(&format!(".spelunk/runs/{run}/input/{name}"));
    assert_eq!(desk("attachments/extra.md"), "Nothing.\n");
    assert_eq!(desk("prompt.md"), "## user\nWhat is the magic number?\n");
    assert!(desk("messages.json").contains("\"role\": \"user\""));
    scene.write("chat.json", b"{}");
    scene.spelunk(["ask", "--messages", "chat.json"]).server(&server).run().check(&expect![[r#"
        --- stderr
        error: `chat.json` is not a conversation: it is neither a list of messages nor an object with `messages`

        hint: write it as `[{"role": "user", "content": "..."}]`
        --- exit 2
    "#]]);
}

#[test]
fn a_folder_for_an_agent_outside_has_instructions_and_tools() {
    let (scene, server) = (Scene::new(&NOTE), answering("It is 42."));
    scene.spelunk(["tool", "init", "job", "--question", QUESTION, "notes"]).run().check(&expect![[r#"
        DIR/work/job
        --- stderr
        point an agent at it: AGENTS.md says how to work there
        --- exit 0
    "#]]);
    for name in ["AGENTS.md", "CLAUDE.md", ".claude/skills/spelunk-desk/SKILL.md", "state/job.json"] {
        assert!(scene.exists(&format!("job/{name}")), "{name}");
    }
    let commands: [&[&str]; 6] = [
        &["glob", "input/**"],
        &["grep", "MAGIC", "--ignore-case"],
        &["read", "input/contexts/a.md", "--offset", "3", "--limit", "1"],
        &["read", "../../etc/passwd"],
        &["evidence", "--tag", "number", "--content", "It is 42.", "--source", "input/contexts/a.md:3"],
        &["finish"],
    ];
    let mut said = String::new();
    for command in commands {
        let args = std::iter::once("tool").chain(command.iter().copied());
        let ran = scene.after_shell("cd job", args).run();
        said += &format!("$ {}\n{}{}", command.join(" "), ran.stdout, ran.stderr);
    }
    expect![[r#"
        $ glob input/**
        input/contexts/a.md
        input/prompt.md
        [2 files]
        $ grep MAGIC --ignore-case
        input/contexts/a.md (1 match)
             3: The magic number is 42.
        input/prompt.md (1 match)
             1: What is the magic number?
        [2 matches in 2 files]
        $ read input/contexts/a.md --offset 3 --limit 1
             3	The magic number is 42.
        [lines 3-3 of 3]
        $ read ../../etc/passwd
        error: `../../etc/passwd` is no path on the desk: `..` is not allowed; write the path from the top of the desk

        hint: see `spelunk tool --help`, and AGENTS.md in this folder
        $ evidence --tag number --content It is 42. --source input/contexts/a.md:3
        evidence 1 recorded under `number`
        $ finish
        error: there is no `output/answer.md`: write the answer there, then call Finish

        hint: write the answer to `output/answer.md`, then call `spelunk tool finish` again
    "#]].assert_eq(&said);
    scene.write("job/output/answer.md", b"It is 42.\n");
    scene.after_shell("cd job", ["tool", "finish"]).run().check(&expect![[r#"
        It is 42.
        --- stderr
        --- exit 0
    "#]]);
    let query = ["tool", "query", "What is it?", "--path", "input/contexts/a.md"];
    scene.after_shell("cd job", query).server(&server).run().check(&expect![[r#"
        It is 42.
        --- stderr
        --- exit 0
    "#]]);
    scene
        .after_shell(
            "ln -s /etc/hostname job/scratch/link; rm -r job/cache; ln -s /tmp job/cache; cd job",
            ["tool", "chunk", "input/contexts/a.md"],
        )
        .run()
        .check(&expect![[r#"
            --- stderr
            error: `cache/indexes/a.md_chunks.json` is a link or is reached through one

            hint: remove the link: files stay in the folder
            --- exit 2
        "#]]);
}
