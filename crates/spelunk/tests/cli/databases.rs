//! SQLite databases as sources: asked alone and beside text, cited by row, and resumed after the data changed.

use expect_test::expect;
use rusqlite::Connection;
use serde_json::Value;
use spelunk_testkit::{Fault, Gate, ModelServer, when};

use crate::scene::{NOTE, Scene, n_calls, to_all, wait_at, wait_for};
use crate::tools::writing;

const SHOP: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, status TEXT, total INT);
    INSERT INTO orders VALUES (4711, 'Ann', 'cancelled', 12), (4712, 'Bob', 'paid', 7), (4713, 'Cid', 'paid', 9), (4714, 'Dee', 'paid', 5);";
const ASKED: &str = "Which customer cancelled?";

fn shop() -> Scene {
    let scene = Scene::new(&NOTE);
    change(&scene, SHOP);
    scene
}

fn change(scene: &Scene, sql: &str) {
    Connection::open(scene.path("shop.db")).unwrap().execute_batch(sql).unwrap();
}

/// The results of queries that the run has recorded.
fn n_recorded(scene: &Scene, what: &str) -> usize {
    let recorded = |event: &&Value| {
        event["type"] == "value.observed" && event["what"].as_str().unwrap().starts_with(what)
    };
    scene.journal(&scene.only_run()).iter().filter(recorded).count()
}

#[test]
fn a_database_is_asked_with_sql_and_its_rows_are_cited() {
    let scene = shop();
    let sql = "```sql\nSELECT customer FROM shop.orders WHERE status = 'cancelled'\n```";
    let server = ModelServer::start_blocking([to_all().reply(sql).usage(100, 20)]);
    scene.spelunk(["ask", ASKED, "shop.db"]).server(&server).run().check(&expect![[r#"
        Ann

        Computed over the tables: SELECT customer FROM shop.orders WHERE status = 'cancelled'.
          shop.db:orders?id=4711  id: 4711, customer: Ann, status: cancelled, total: 12
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 197 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let sent = server.requests().iter().map(|request| request.body.clone()).collect::<String>();
    assert!(sent.contains("each is shop.db:orders?id=…"), "{sent}");
    let json = scene.spelunk(["ask", ASKED, "shop.db", "--json"]).server(&server).run().stdout;
    let answer: Value = serde_json::from_str(&json).unwrap();
    expect![[r#"
        [
          {
            "document": "shop.db:orders?id=4711",
            "line": 0,
            "quote": "id: 4711, customer: Ann, status: cancelled, total: 12"
          }
        ]
    "#]]
    .assert_eq(&format!("{:#}\n", answer["citations"]));
    assert!(!scene.exists("shop.db-wal") && !scene.exists("shop.db-journal"));
}

#[test]
fn a_query_comes_first_and_a_question_for_text_goes_on() {
    let scene = shop();
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("which no query reads")).reply("NONE").usage(100, 1),
        to_all().reply("The magic number is 42.\n\n```evidence\nnotes/a.md:3: The magic number is 42.\n```"),
    ]);
    let ran = scene.spelunk(["ask", "What is the magic number?", "shop.db", "notes"]).server(&server).run();
    assert!(ran.stdout.starts_with("The magic number is 42."), "{}{}", ran.stdout, ran.stderr);
}

/// Reads a row and a note, and cites both; of the citations of rows, the last is invented.
const BOTH: &str = "rows = query_rows(\"SELECT customer FROM shop.orders WHERE id = 4711\")\n\
    FINAL(rows[0]['customer'] + ' ' + context['notes/a.md'][-4:-2], cite=['shop.db:orders?id=4711: cancelled', \
    'shop.orders?id=4712: paid', 'shop.db:orders?id=4713: cancelled', 'notes/a.md:3: The magic number is 42.'])";

#[test]
fn code_reads_databases_beside_text_and_cites_rows_that_exist() {
    let (scene, server) = (shop(), writing(&["print(tables())", BOTH]));
    let ran = scene.spelunk(["ask", ASKED, "shop.db", "notes", "--strategy", "repl"]).server(&server).run();
    ran.check(&expect![[r#"
        Ann 42
          notes/a.md:3            The magic number is 42.
          shop.db:orders?id=4711  cancelled
          shop.db:orders?id=4712  paid
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 citation not found in the sources and left out
        2 files · 232 B explored in 2 cells · 2 calls · 240 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!((n_recorded(&scene, "tables"), n_recorded(&scene, "query_rows")), (1, 1));
}

#[test]
fn a_killed_run_keeps_what_a_database_said_although_it_changed_since() {
    let scene = shop();
    let gate = Gate::new();
    let first = "```repl\nwas = query_rows(\"SELECT total FROM shop.orders WHERE id = 4714\")[0]['total']\nprint(was)\n```";
    let second = "```repl\nnow = query_rows(\"SELECT total FROM shop.orders WHERE id = 4714\")[0]['total']\nFINAL(f'{was} then {now}', cite=['shop.db:orders?id=4714: paid'])\n```";
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("\n\n19 turns left."))
            .fault(Fault::StallBeforeHeaders)
            .reply(second)
            .usage(100, 20)
            .gate(&gate),
        to_all().reply(first).usage(100, 20),
    ]);
    let mut child =
        scene.spelunk(["ask", ASKED, "shop.db", "notes", "--strategy", "repl"]).server(&server).start();
    wait_for("the second call", || (n_calls(&server) == 2).then_some(()));
    wait_at(&gate, &server);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(n_recorded(&scene, "query_rows"), 1);
    change(
        &scene,
        "UPDATE orders SET total = 100 WHERE id = 4714; INSERT INTO orders VALUES (9999, 'Dan', 'paid', 1);",
    );
    gate.open();
    let ran = scene.spelunk(["resume"]).server(&server).run();
    assert_eq!(
        (ran.code, ran.stdout.lines().next()),
        (0, Some("5 then 100")),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(n_calls(&server), 3);
}

#[test]
fn a_run_killed_in_a_query_asks_it_again() {
    let scene = shop();
    let slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500000) \
        SELECT customer FROM shop.orders WHERE id + 2495288 = (SELECT max(i) FROM n)";
    let server = ModelServer::start_blocking([to_all().reply(format!("```sql\n{slow}\n```")).usage(100, 20)]);
    let mut child = scene
        .spelunk(["ask", ASKED, "shop.db", "--set", "limits.query_ms_max=600000"])
        .server(&server)
        .start();
    wait_for("the reply", || {
        let run = scene.runs().pop()?;
        scene.journal(&run).iter().any(|event| event["type"] == "call.settled").then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((n_recorded(&scene, "tables"), n_recorded(&scene, "query")), (1, 0));
    let ran = scene.spelunk(["resume", "--set", "limits.query_ms_max=600000"]).server(&server).run();
    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("Bob")), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn a_query_that_takes_too_long_is_ended_by_the_clock_and_the_model_is_told() {
    let scene = shop();
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n, shop.orders";
    let cell =
        format!("try:\n    query_rows({endless:?})\nexcept Exception as error:\n    FINAL(str(error))");
    let server = writing(&[&cell]);
    let args = ["ask", ASKED, "shop.db", "--strategy", "repl", "--set", "limits.query_ms_max=300"];
    let began = std::time::Instant::now();
    let ran = scene.spelunk(args).server(&server).run();
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert_eq!(
        ran.stdout,
        "the query takes longer than 300 ms (`limits.query_ms_max`): read fewer rows, or join on equal columns\n",
        "{}",
        ran.stderr
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_query_that_would_take_minutes() {
    let scene = shop();
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n, shop.orders";
    let server = ModelServer::start_blocking([to_all().reply(format!("```sql\n{endless}\n```"))]);
    let args = ["ask", ASKED, "shop.db", "--set", "limits.query_ms_max=600000"];
    let child = scene.spelunk(args).server(&server).start();
    wait_for("the reply", || {
        let run = scene.runs().pop()?;
        scene.journal(&run).iter().any(|event| event["type"] == "call.settled").then_some(())
    });
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let began = std::time::Instant::now();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert_eq!(n_recorded(&scene, "query"), 0);
}

#[test]
fn a_database_whose_tables_changed_is_another_source() {
    let scene = shop();
    let gate = Gate::new();
    let server = ModelServer::start_blocking([to_all()
        .fault(Fault::StallBeforeHeaders)
        .reply("NONE")
        .usage(100, 20)
        .gate(&gate)]);
    let mut child = scene.spelunk(["ask", ASKED, "shop.db"]).server(&server).start();
    wait_at(&gate, &server);
    child.kill().unwrap();
    child.wait().unwrap();
    change(&scene, "ALTER TABLE orders ADD COLUMN city TEXT");
    scene.spelunk(["resume"]).server(&server).run().check(&expect![[r#"
        --- stderr
        error: the text of run `SHORT` has changed since it was started

        hint: ask again about the new text: matching replies are taken from the cache
        --- exit 1
    "#]]);
}

#[test]
fn other_commands_read_the_description_of_a_database() {
    let scene = shop();
    scene.spelunk(["search", "customer", "shop.db"]).run().check(&expect![[r#"
        shop.db:3  similarity 0.15
            CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, status TEXT, total INT)
        --- stderr
        1 passage · 1 document searched by words and meaning
        --- exit 0
    "#]]);
    scene.spelunk(["context", "add", "shop.db"]).run().check(&expect![[r#"
        --- stderr
        error: could not read the context `shop`
          caused by: `DIR/work/shop.db` is not text: it is a binary file

        hint: extract its text first and pass that file
        --- exit 1
    "#]]);
    scene.write("broken.db", b"SQLite format 3\0 and then nothing of use");
    scene.spelunk(["ask", ASKED, "broken.db"]).run().check(&expect![[r#"
        --- stderr
        error: could not extract text from `broken.db`
          caused by: it is damaged: file is not a database

        hint: check that it opens in another program, or convert it to text first
        --- exit 1
    "#]]);
}
