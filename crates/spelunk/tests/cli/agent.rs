//! `--strategy agent` and `spelunk tool`: the built-in agent, and a folder for an external one.

use expect_test::expect;
use spelunk_testkit::{ModelServer, when};

use crate::scene::{NOTE, QUESTION, Scene, answering};

/// A model that answers at once, and differently to the follow-up.
fn finishing(document: &str) -> ModelServer {
    let first =
        format!(r#"{{"answer": "It is 42.", "evidence": ["{document}:3: The magic number is 42."]}}"#);
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("There is another question"))
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
        1 file · 35 B worked on in 2 tool calls · 2 calls · 240 tokens · $0.00 · TIME · no citations · run SHORT
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
        start an agent in it: AGENTS.md explains how to work there
        --- exit 0
    "#]]);
    for name in [
        "AGENTS.md",
        ".claude/CLAUDE.md",
        ".claude/skills/rlm-scripting/SKILL.md",
        "state/job.json",
        "tools/README.md",
    ] {
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
        error: `../../etc/passwd` is not a valid path: `..` is not allowed; write the path relative to the folder

        hint: see `spelunk tool --help`, and AGENTS.md in this folder
        $ evidence --tag number --content It is 42. --source input/contexts/a.md:3
        evidence 1 recorded under `number`
        $ finish
        error: `output/answer.md` does not exist: write the answer there, then call Finish

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
            error: `cache/indexes/a.md_chunks.json` is a symbolic link or below one

            hint: remove the link: files must stay in the folder
            --- exit 2
        "#]]);
}

/// The steps of a job as people who know the file-based design write them.
const SCRIPTS: [(&str, &str); 3] = [
    (
        "001_scan.py",
        "#!/usr/bin/env python3\n\"\"\"Scan input and build index.\"\"\"\nfrom tools.chunking import Chunker\n\nchunker = Chunker()\nindex = chunker.build_index(\"input/prompt.md\", index_type=\"headings\")\nprint(f\"Found {len(index['entries'])} sections\")\n",
    ),
    (
        "002_extract.py",
        "from tools.llm_client import LLMClient\nfrom tools.chunking import chunk_prompt\n\nclient = LLMClient()\nchunks = chunk_prompt(max_tokens=2000)\n\nfor chunk in chunks:\n    result = client.call(\n        prompt=f\"Extract key facts:\\n\\n{chunk.content}\",\n        log_to_evidence=True,\n        evidence_tag=f\"facts_chunk_{chunk.index}\",\n    )\n    if result:\n        print(f\"Processed chunk {chunk.index}\")\n",
    ),
    (
        "003_synthesize.py",
        "import json\n\nevidence = []\nwith open(\"state/evidence.jsonl\") as f:\n    for line in f:\n        evidence.append(json.loads(line))\n\nwith open(\"output/answer.md\", \"w\") as f:\n    f.write(\"# Analysis Results\\n\\n\")\n    for item in evidence:\n        f.write(f\"- {item['content']}\\n\")\n\nprint(\"Answer written to output/answer.md\")\n",
    ),
];

#[test]
fn s2_05_the_folder_of_a_job_runs_scripts_with_its_own_tools() {
    let (scene, server) = (Scene::new(&NOTE), answering("The magic number is 42."));
    let question = "# Task\nName the number.\n\n## Notes\nThe magic number is 42.";
    scene.spelunk(["tool", "init", "job", "--question", question, "notes"]).run();
    for name in ["cache/llm", "cache/indexes", "scratch/tmp", "input/attachments", "tools/llm_client.py"] {
        assert!(scene.exists(&format!("job/{name}")), "{name}");
    }
    for (name, code) in SCRIPTS {
        scene.write(&format!("job/scratch/scripts/{name}"), code.as_bytes());
    }
    let steps = "cd job; PATH=\"$(dirname \"$0\"):$PATH\"; export PATH PYTHONPATH=.; for n in 1 2 3; do python3 scratch/scripts/00${n}_*.py; done";
    scene.after_shell(steps, ["tool", "finish"]).server(&server).run().check(&expect![[r#"
        Found 2 sections
        Processed chunk 0
        Answer written to output/answer.md
        # Analysis Results

        - The magic number is 42.
        --- stderr
        --- exit 0
    "#]]);
    let fact: serde_json::Value = serde_json::from_str(&scene.read("job/state/evidence.jsonl")).unwrap();
    assert_eq!(
        (fact["tag"].as_str(), fact["timestamp"].is_string()),
        (Some("facts_chunk_0"), true),
        "{fact}"
    );
    let metrics: serde_json::Value = serde_json::from_str(&scene.read("job/state/metrics.json")).unwrap();
    assert_eq!((&metrics["scripts_created"], &metrics["subcalls_made"]), (&3.into(), &1.into()), "{metrics}");
}

#[test]
fn s2_07_the_budgets_of_a_job_are_kept() {
    let (scene, server) = (Scene::new(&NOTE), answering("It is 42."));
    scene.spelunk(["tool", "init", "job", "--question", QUESTION, "notes"]).run();
    let query = |prompt: &str| {
        let call = scene.after_shell("cd job", ["tool", "query", prompt]).server(&server);
        call.env("SPELUNK_LIMITS_SCRIPT_CALLS_MAX", "2").run()
    };
    let codes = [query("one").code, query("one").code, query("two").code];
    assert_eq!(codes, [0, 0, 0], "the second was answered from the cache, which does not count");
    query("three").check(&expect![[r#"
        --- stderr
        error: 1 sub-model calls exceed the limit: 2 of 2 are used, 2 per script

        hint: put more text into each question, or write the next script under `scratch/scripts/`
        --- exit 2
    "#]]);
    // What the folder says about itself is not believed.
    scene.write("job/state/metrics.json", b"{}");
    scene.write("job/state/job.json", b"{\"config\": {\"max_subcalls_per_script\": 999}}");
    assert_eq!(query("three").code, 2);
    for n in 1..=2 {
        scene.write(&format!("job/scratch/scripts/00{n}_more.py"), b"print(1)\n");
    }
    assert_eq!([query("three").code, query("four").code, query("five").code], [0, 0, 2]);
}
