//! The library as another program uses it: asking, follow-ups, watching, cancelling, resuming, and every error. The
//! binary under test is the worker; the test program itself is not.

mod event_page;
mod faces;
mod refusals;
mod tools;

use std::sync::Arc;

use expect_test::expect;
use futures_util::StreamExt as _;
use spelunk::contexts::{
    ContextId, ContextKind, Factory, Loader, NewContext, NewSource, combined, register_personal,
};
use spelunk::{
    Answer, Budget, Builder, EventKind, Evidence, Found, Message, Question, RunOutcome, Spelunk, Strategy,
};
use spelunk_testkit::{Gate, ModelServer, when};

use crate::scene::{NOTE, QUESTION, REPLY, Ran, Scene, answering, n_calls, to_all};

/// A builder with its own settings only, none of the machine's.
fn builder(scene: &Scene, server: &ModelServer) -> Builder {
    let builder = Spelunk::builder().isolated().directory(scene.path("")).variable("HOME", scene.home());
    builder.model("openai/scripted").base_url(server.base_url())
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(work)
}

fn note() -> Question {
    Question::new(QUESTION).path("notes").strategy(Strategy::Direct)
}

/// What does not differ between executions.
fn shown(answer: &Answer) -> String {
    let Answer { success, answer: text, citations, grounding, evidence, errors, outcome, warnings, .. } =
        answer;
    let metrics = &answer.metrics;
    let mut told = format!("success {success}: {text:?}\n{outcome:?} {grounding:?}\n");
    for citation in citations {
        told += &format!("cited {}:{} {:?}\n", citation.document, citation.line, citation.quote);
    }
    for row in evidence {
        told += &format!("evidence {row:?}\n");
    }
    for error in errors {
        told += &format!("error {} {:?} {}\n", error.frame, error.code, error.message);
    }
    told += &format!(
        "calls {} cached {} failed {} tokens {} documents {} tools {:?} resumed {} warnings {warnings:?}\n",
        metrics.calls,
        metrics.calls_cached,
        metrics.calls_failed,
        metrics.usage.tokens(),
        metrics.documents,
        metrics.tools,
        metrics.resumed,
    );
    told
}

#[test]
fn a_program_asks_and_is_told_everything() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let answer = block_on(async {
        let spelunk = builder(&scene, &server).build().unwrap();
        let answer = spelunk.ask(note()).await.unwrap();
        assert_eq!(spelunk.answer_of(&answer.run).await.unwrap(), answer);
        // A finished run is not asked again.
        assert_eq!(spelunk.resume(&answer.run).await.unwrap(), answer);
        answer
    });
    expect![[r#"
        success true: Some("The magic number is 42.")
        Answered Some(Cited)
        cited a.md:3 "The magic number is 42."
        evidence Citation { citation: Citation { document: "a.md", line: 3, quote: "The magic number is 42." }, found: Exact }
        calls 1 cached 0 failed 0 tokens 120 documents 1 tools {} resumed 0 warnings []
    "#]].assert_eq(&shown(&answer));
    assert_eq!((n_calls(&server), answer.run.as_str()), (1, scene.only_run().as_str()));
    // The command line sees the same run, including its files.
    let run = answer.run.as_str();
    assert_eq!(scene.read(&format!(".spelunk/runs/{run}/output/answer.md")), "The magic number is 42.\n");
    assert_eq!(scene.spelunk(["show", run]).run().code, 0);
}

#[test]
fn a_program_lists_runs_and_searches_without_a_model() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    block_on(async {
        let spelunk = builder(&scene, &server).build().unwrap();
        assert_eq!(spelunk.runs().await.unwrap(), [] as [serde_json::Value; 0]);
        let run = spelunk.ask(note()).await.unwrap().run;
        let rows = spelunk.runs().await.unwrap();
        let shown: Vec<_> = rows.iter().map(|row| (row["run"].as_str(), row["status"].as_str())).collect();
        assert_eq!(shown, [(Some(run.as_str()), Some("answered"))]);
        let found = spelunk.search("magic number".to_owned(), vec!["notes".into()], 5).await.unwrap();
        let hits: Vec<_> = found["hits"].as_array().unwrap().iter().map(|hit| &hit["document"]).collect();
        assert_eq!(hits, ["a.md"]);
    });
    assert_eq!(n_calls(&server), 1);
}

/// A model that records a fact, answers, and gives another answer to the follow-up.
fn agent() -> ModelServer {
    let fact = r#"{"tag": "number", "content": "It is 42.", "source": "input/contexts/a.md:3"}"#;
    let first = r#"{"answer": "It is 42.", "evidence": ["a.md:3: The magic number is 42."]}"#;
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("There is another question"))
            .reply("")
            .tool_call("Finish", r#"{"answer": "It is 21."}"#)
            .usage(100, 20),
        when(|prompt| prompt.contains("evidence 1 recorded"))
            .reply("")
            .tool_call("Finish", first)
            .usage(100, 20),
        when(|_| true).reply("").tool_call("Evidence", fact).usage(100, 20),
    ])
}

#[test]
fn an_agent_keeps_facts_and_is_asked_more() {
    let (scene, server) = (Scene::new(&NOTE), agent());
    let (first, second) = block_on(async {
        let spelunk = builder(&scene, &server).worker(env!("CARGO_BIN_EXE_spelunk")).build().unwrap();
        let first = spelunk.ask(note().strategy(Strategy::Agent)).await.unwrap();
        let second = spelunk.ask_more(&first.run, "And half of it?").await.unwrap();
        (first, second)
    });
    expect![[r#"
        success true: Some("It is 42.")
        Answered Some(Cited)
        cited a.md:3 "The magic number is 42."
        evidence Citation { citation: Citation { document: "a.md", line: 3, quote: "The magic number is 42." }, found: Exact }
        evidence Fact { tag: "number", content: "It is 42.", source: Some("input/contexts/a.md:3"), metadata: Null }
        calls 2 cached 0 failed 0 tokens 240 documents 1 tools {"Evidence": 1, "Finish": 1} resumed 0 warnings []
    "#]].assert_eq(&shown(&first));
    expect![[r#"
        success true: Some("It is 21.")
        Answered Some(Uncited)
        evidence Citation { citation: Citation { document: "a.md", line: 3, quote: "The magic number is 42." }, found: Exact }
        evidence Citation { citation: Citation { document: "a.md", line: 3, quote: "It is 42." }, found: Missing }
        evidence Fact { tag: "number", content: "It is 42.", source: Some("input/contexts/a.md:3"), metadata: Null }
        calls 3 cached 0 failed 0 tokens 360 documents 1 tools {"Evidence": 1, "Finish": 2} resumed 1 warnings ["a quote in the answer is not in the sources"]
    "#]].assert_eq(&shown(&second));
    assert_eq!((&first.run, first.run.as_str()), (&second.run, scene.only_run().as_str()));
    assert!(matches!(
        &first.evidence[..],
        [Evidence::Citation { found: Found::Exact, .. }, Evidence::Fact { .. }]
    ));
}

#[test]
fn code_runs_in_a_worker_that_was_named() {
    let server = ModelServer::start_blocking([to_all().reply("```repl\nFINAL(6 * 7)\n```").usage(100, 20)]);
    let scene = Scene::new(&NOTE);
    let answer = block_on(async {
        let spelunk = builder(&scene, &server).worker(env!("CARGO_BIN_EXE_spelunk")).build().unwrap();
        spelunk.ask(note().strategy(Strategy::Repl)).await.unwrap()
    });
    assert_eq!((answer.answer.as_deref(), answer.metrics.cells > 0), (Some("42"), true));
}

/// The example, as `cargo test` builds it next to the tests: a program that embeds the library and is its own worker.
fn example() -> std::path::PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/ask");
    assert!(program.is_file(), "`{}` is missing: run `cargo test` without `--test`", program.display());
    program
}

#[test]
fn a_program_that_says_so_is_its_own_worker() {
    let cell = "```repl\nFINAL('It is 42.', cite=grep('magic'))\n```";
    let server = ModelServer::start_blocking([to_all().reply(cell).usage(100, 20)]);
    let scene = Scene::new(&NOTE);
    let mut program = std::process::Command::new(example());
    program.args([QUESTION, "notes"]).current_dir(scene.path("")).env_clear().env("HOME", scene.home());
    program.env("OPENAI_BASE_URL", server.base_url()).env("SPELUNK_ASK_STRATEGY", "repl");
    let ran = Ran::of(&scene, program.output().unwrap());
    ran.check(&expect![[r#"
        It is 42.
          a.md:3  The magic number is 42.
        --- stderr
        asking openai/scripted (0#0)
        1 calls, 120 tokens, run SHORT
        --- exit 0
    "#]]);
    let mut helpless = std::process::Command::new(example());
    helpless.current_dir(scene.path("")).env_clear();
    assert_eq!(Ran::of(&scene, helpless.output().unwrap()).code, 2);
}

#[test]
fn a_conversation_texts_and_attachments_are_answered_from() {
    let (scene, server) = (Scene::new(&NOTE), answering("It is 42."));
    let question =
        Question::messages([Message::user("Hello."), Message::assistant("Hi."), Message::user(QUESTION)])
            .system("Be brief.")
            .text("given", "The number is 41.\n")
            .attach("../../etc/passwd", "one\n")
            .attach("passwd", "two\n")
            .strategy(Strategy::Direct);
    let answer = block_on(async { builder(&scene, &server).build().unwrap().ask(question).await.unwrap() });
    assert!(answer.success);
    let started = scene.journal(answer.run.as_str())[0].clone();
    let names: Vec<&str> = started["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| source["name"].as_str().unwrap())
        .collect();
    expect![[r###"
        ## system
        Be brief.

        ## user
        Hello.

        ## assistant
        Hi.

        ## user
        What is the magic number?

        ["given", "attachments/passwd", "attachments/passwd-2", "messages.json"]"###]]
    .assert_eq(&format!("{}\n{names:?}", started["question"]["text"].as_str().unwrap()));
    assert!(server.requests()[0].body.contains("The number is 41."));
}

#[test]
fn a_run_is_watched_stopped_and_gone_on_with() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY).usage(100, 20)]);
    block_on(async {
        let spelunk = builder(&scene, &server).build().unwrap();
        let mut running = spelunk.start(note()).await.unwrap();
        let run = running.run().clone();
        let mut kinds = Vec::new();
        {
            let mut events = std::pin::pin!(running.events());
            while let Some(event) = events.next().await {
                let kind = event.unwrap().kind;
                kinds.push(kind.name());
                if matches!(kind, EventKind::CallStarted { .. }) {
                    break;
                }
            }
        }
        assert_eq!((kinds[0], kinds.last()), ("run.started", Some(&"call.started")));
        running.cancel();
        let stopped = running.answer().await.unwrap();
        assert_eq!((stopped.success, stopped.answer, stopped.outcome), (false, None, RunOutcome::Cancelled));
        gate.open();
        let answer = spelunk.resume(&run).await.unwrap();
        assert_eq!((answer.success, answer.metrics.resumed, &answer.run), (true, 1, &run));
    });
}

#[test]
fn what_is_dropped_stays_where_it_is() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY).usage(100, 20)]);
    let run = block_on(async {
        let running = builder(&scene, &server).build().unwrap().start(note()).await.unwrap();
        running.run().clone()
    });
    gate.open();
    let ran = scene.spelunk(["resume", run.as_str()]).server(&server).run();
    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("The magic number is 42.")), "{}", ran.stderr);
}

#[test]
fn a_budget_that_runs_out_is_an_answer_without_success() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let budget = Budget { calls_max: Some(0), ..Budget::default() };
    let answer = block_on(async {
        builder(&scene, &server).build().unwrap().ask(note().budget(budget)).await.unwrap()
    });
    expect![[r#"
        success false: None
        Partial { stopped_by: CallsExhausted } None
        error 0 CallsExhausted The run has reached its call limit.
        calls 0 cached 0 failed 0 tokens 0 documents 1 tools {} resumed 0 warnings []
    "#]]
    .assert_eq(&shown(&answer));
    assert_eq!(n_calls(&server), 0);
}

#[test]
fn settings_come_from_the_project_unless_it_is_isolated() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.write("spelunk.toml", b"[limits]\ncalls_max = 0\n");
    block_on(async {
        let isolated = builder(&scene, &server).build().unwrap();
        assert!(isolated.ask(note()).await.unwrap().success);
        let set = builder(&scene, &server).set("limits.calls_max", "0").build().unwrap();
        assert!(!set.ask(note().path("spelunk.toml")).await.unwrap().success);
        let project = Spelunk::builder().directory(scene.path("")).variable("HOME", scene.home());
        let project = project.model("openai/scripted").base_url(server.base_url()).build().unwrap();
        assert!(!project.ask(note().path("spelunk.toml")).await.unwrap().success);
    });
}

#[test]
fn a_run_that_a_limit_stopped_continues_where_the_program_allows_more() {
    let gate = Gate::new();
    gate.open();
    let (scene, server) = (Scene::new(&NOTE), crate::kill::raised::explorer(&gate));
    let question = || {
        let budget = Budget { calls_max: Some(2), ..Budget::default() };
        Question::new(QUESTION).path("notes").strategy(Strategy::Repl).budget(budget)
    };
    let worker = env!("CARGO_BIN_EXE_spelunk");
    block_on(async {
        let strict = builder(&scene, &server).worker(worker).set("limits.calls_max", "2").build().unwrap();
        let stopped = strict.ask(question()).await.unwrap();
        assert_eq!(stopped.answer.as_deref(), Some("I saw a part."));
        let refused = strict.resume(&stopped.run).await.unwrap_err();
        let short = stopped.run.short();
        let words =
            format!("run `{short}` has a partial answer: call limit reached (2), and the limit is now 2");
        assert_eq!(refused.to_string(), words);
        let generous = builder(&scene, &server).worker(worker).build().unwrap();
        let whole = generous.resume(&stopped.run).await.unwrap();
        assert_eq!((whole.answer.as_deref(), whole.outcome.clone()), (Some("42"), RunOutcome::Answered));
        assert_eq!((whole.errors.len(), whole.metrics.calls, n_calls(&server)), (0, 3, 3));
    });
}

#[test]
fn s4_14_a_program_registers_explores_and_loads_contexts_of_files_functions_and_addresses() {
    let files =
        [("me/foundation/profile.yaml", "name: Ada\n"), ("me/projects/house/contacts.yaml", "mason: 12\n")];
    let (scene, server) = (Scene::new(&files), answering(REPLY));
    let spelunk = builder(&scene, &server).build().unwrap();
    let navigator = spelunk.contexts().unwrap();
    let store = navigator.store();
    assert_eq!(register_personal(store, &scene.path("me")).unwrap().registered.len(), 2);
    let now: Loader = Arc::new(|| Ok("It is noon.\n".to_owned()));
    Factory::new(store).temporal_loader("now", "The time", Arc::clone(&now)).unwrap();
    let page = NewSource::Uri("https://example.org/page".to_owned());
    let page = NewContext::new(ContextId::new("page").unwrap(), ContextKind::Web, page);
    store.register(page).unwrap();
    let unread = navigator.load("page").unwrap_err();
    assert_eq!(
        unread.to_string(),
        "no loader `https://example.org/page` is registered in this process, so `page` cannot be read"
    );
    store.add_loader("https://example.org/page", Arc::new(|| Ok("A page.\n".to_owned())));
    assert_eq!(&*navigator.load("page").unwrap().text, "A page.\n");
    assert_eq!(navigator.peek("temporal:now", 1).unwrap().peek.to_string(), "It is noon.");
    let combined = combined(store, Some("house"), &["temporal:now".to_owned()]).unwrap();
    assert_eq!(combined["project"]["contacts"]["mason"], 12);
    assert_eq!(combined["working"]["temporal:now"], "It is noon.\n");
    assert!(store.memory().cache_bytes > 0 && store.evict_to(0) > 0 && store.memory().cache_bytes == 0);
    store.save().unwrap();
    // Another interface sees what was registered and looked at.
    let logged = scene.spelunk(["context", "log"]).run().stdout;
    assert!(logged.contains("peek   temporal:now 1\n"), "{logged}");
    assert_eq!(scene.spelunk(["context", "load", "identity:profile"]).run().stdout, "name: Ada\n");
}
