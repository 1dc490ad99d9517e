//! PostgreSQL databases as sources, with a real server: asked, cited, resumed, and the password kept out of everything.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use serde_json::Value;
use spelunk_testkit::{Fault, Gate, ModelServer, when};

use crate::scene::postgres::{Cluster, PASSWORD, USER, cluster};
use crate::scene::{NOTE, Ran, Scene, n_calls, to_all, wait_at, wait_for};
use crate::tools::writing;

pub(super) const SHOP: &str = "CREATE TABLE orders (id int PRIMARY KEY, customer text, status text, total numeric(10, 2));
    COMMENT ON TABLE orders IS 'What was ordered'; COMMENT ON COLUMN orders.total IS 'in euros';
    INSERT INTO orders VALUES (4711, 'Ann', 'cancelled', 12.5), (4712, 'Bob', 'paid', 7), (4713, 'Cid', 'paid', 9);
    CREATE SCHEMA sales; CREATE TABLE sales.\"Stock\" (shelf text, bin int, \"unit price\" real, PRIMARY KEY (shelf, bin));
    INSERT INTO sales.\"Stock\" VALUES ('A & B', 1, 2), ('It''s', 2, 3);
    CREATE VIEW paid AS SELECT * FROM orders WHERE status = 'paid';
    CREATE TABLE users (name text, password text); INSERT INTO users VALUES ('ann', 'Qx8!rN4kHb6yVc1T');";
const ASKED: &str = "Which customer cancelled?";

/// Asks about a database with the password in the environment.
pub(super) fn ask<'a>(
    scene: &'a Scene,
    server: &ModelServer,
    url: &'a str,
    more: &[&'a str],
) -> crate::scene::Call<'a> {
    let args = ["ask", ASKED, url].into_iter().chain(more.iter().copied());
    scene.spelunk(args).server(server).env("PGPASSWORD", PASSWORD)
}

/// What a cell printed or answered: the answer without its citations.
#[track_caller]
pub(super) fn answer_of(scene: &Scene, cluster: &Cluster, database: &str, cell: &str) -> String {
    let server = writing(&[cell]);
    let ran = ask(scene, &server, &cluster.url(database), &["--strategy", "repl"]).run();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout.trim_end().to_owned()
}

#[test]
fn a_postgres_database_is_asked_with_sql_and_its_rows_are_cited() {
    let Some(cluster) = cluster() else { return };
    cluster.database("asked", SHOP);
    let scene = Scene::new(&NOTE);
    let sql = "```sql\nSELECT customer, total FROM orders o WHERE status = 'cancelled';\n```";
    let server = ModelServer::start_blocking([to_all().reply(sql).usage(100, 20)]);
    ask(&scene, &server, &cluster.url("asked"), &["notes"]).run().check(&expect![[r#"
        customer: Ann, total: 12.5

        Computed over the tables: SELECT customer, total FROM orders o WHERE status = 'cancelled';.
          asked:orders?id=4711  id: 4711, customer: Ann, status: cancelled, total: 12.5
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        2 files · 464 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let requests = server.requests();
    let sent: Value = serde_json::from_str(&requests.last().unwrap().body).unwrap();
    let told = sent["messages"][1]["content"].as_str().unwrap();
    expect![[r#"
        CREATE TABLE orders ( -- 3 rows from PostgreSQL asked, each is asked:orders?id=…: What was ordered
          id integer, -- one of: 4711, 4712, 4713
          customer text, -- one of: Ann, Bob, Cid
          status text, -- one of: cancelled, paid
          total numeric(10,2), -- total, in euros: one of: 12.50, 7.00, 9.00
        );
        CREATE TABLE paid ( -- rows from PostgreSQL asked
          id integer, -- any value
          customer text, -- any value
          status text, -- any value
          total numeric(10,2), -- any value
        );
        CREATE TABLE users ( -- 1 rows from PostgreSQL asked
          name text, -- one of: ann
          password text, -- one of: [secret:assigned-secret]
        );
        CREATE TABLE sales."Stock" ( -- 2 rows from PostgreSQL asked, each is asked:sales.Stock?shelf=…&bin=…
          shelf text, -- one of: A & B, It's
          bin integer, -- one of: 1, 2
          "unit price" real, -- one of: 2, 3
        );
        -- There are also documents, which no query reads. If the question is about what they say, reply NONE.

        Question: Which customer cancelled?"#]]
    .assert_eq(told);
    let events: Vec<String> = scene
        .journal(&scene.only_run())
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    expect!["run.started source.scanned source.scanned frame.opened value.observed call.started call.settled value.observed passages.chosen value.observed citation.checked frame.closed run.finished"].assert_eq(&events.join(" "));
    let started = &scene.journal(&scene.only_run())[0];
    assert_eq!(started["sources"][0]["is"], "database", "{started}");
}

/// Reads rows and a note, and cites both; of the citations of rows, two are invented.
const BOTH: &str = "rows = query_rows(\"SELECT customer, total FROM orders WHERE id = 4711\")\n\
    FINAL(str(rows) + ' ' + context['notes/a.md'][-4:-2], cite=['code:orders?id=4711: cancelled', \
    'code:orders?id=4712: cancelled', 'code:orders?id=1: paid', 'code:sales.Stock?shelf=It%27s&bin=2: 3', \
    'notes/a.md:3: The magic number is 42.'])";

#[test]
fn code_reads_postgres_beside_text_and_cites_rows_that_exist() {
    let Some(cluster) = cluster() else { return };
    cluster.database("code", SHOP);
    let (scene, server) = (Scene::new(&NOTE), writing(&["print(tables())", BOTH]));
    ask(&scene, &server, &cluster.url("code"), &["notes", "--strategy", "repl"]).run().check(&expect![[r#"
            [{'customer': 'Ann', 'total': 12.5}] 42
              notes/a.md:3                         The magic number is 42.
              code:orders?id=4711                  cancelled
              code:sales.Stock?shelf=It%27s&bin=2  3
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            2 citations not found in the sources and left out
            2 files · 463 B explored in 2 cells · 2 calls · 240 tokens · $0.00 · TIME · run SHORT
            --- exit 0
        "#]]);
    let sent = server.requests().iter().map(|request| request.body.clone()).collect::<String>();
    assert!(sent.contains("each is code:sales.Stock?shelf=…&bin=…"), "{sent}");
    assert!(!sent.contains("Qx8!rN4kHb6yVc1T"), "a secret of a row was sent: {sent}");
}

#[test]
fn an_agent_queries_databases_in_its_scripts() {
    let Some(cluster) = cluster() else { return };
    cluster.database("agents", SHOP);
    let scene = Scene::new(&NOTE);
    let code = "rows = query_rows(\"SELECT customer FROM orders WHERE status = 'cancelled'\")\nprint('found', rows[0]['customer'])";
    let script = serde_json::json!({ "name": "look", "code": code }).to_string();
    let finish = r#"{"answer": "Ann", "evidence": ["agents:orders?id=4711: cancelled", "agents:orders?id=4712: cancelled"]}"#;
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("found Ann")).reply("").tool_call("Finish", finish).usage(100, 20),
        to_all().reply("").tool_call("RunScript", &script).usage(100, 20),
    ]);
    ask(&scene, &server, &cluster.url("agents"), &["--strategy", "agent"]).run().check(&expect![[r#"
        Ann
          agents:orders?id=4711  cancelled
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 citation not found in the sources and left out
        1 file · 430 B worked on in 2 tool calls · 2 calls · 240 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn the_password_of_a_database_is_nowhere() {
    let Some(cluster) = cluster() else { return };
    cluster.database("secretive", SHOP);
    let scene = Scene::new(&NOTE);
    let with_password = cluster.url("secretive").replace(USER, &format!("{USER}:{PASSWORD}"));
    let server = writing(&["FINAL(query_rows('SELECT count(*) AS n FROM orders')[0]['n'])"]);
    let pass = scene.home().join(".pgpass");
    let line = format!("# mine\n127.0.0.1:{}:*:{USER}:{PASSWORD}\n", cluster.port);
    std::fs::write(&pass, line).unwrap();
    std::fs::set_permissions(&pass, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut shown = String::new();
    let mut add = |ran: Ran, code: i32| {
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
        shown += &ran.stdout;
        shown += &ran.stderr;
    };
    let strategy = ["--strategy", "repl"];
    let url = cluster.url("secretive");
    for (source, variable) in [(with_password.as_str(), None), (&url, Some(PASSWORD)), (&url, None)] {
        let args = ["ask", ASKED, source, "--json"].into_iter().chain(strategy);
        let call = scene.spelunk(args).server(&server);
        add(variable.into_iter().fold(call, |call, value| call.env("PGPASSWORD", value)).run(), 0);
    }
    std::fs::remove_file(pass).unwrap();
    add(
        scene.spelunk(["ask", ASKED, &with_password.replace("/secretive", "/none")]).server(&server).run(),
        1,
    );
    add(scene.spelunk(["ask", ASKED, &with_password.replace("postgres:", "postgress:")]).run(), 2);
    add(scene.spelunk(["ask", ASKED, &format!("{with_password}?sslmode=maybe")]).run(), 1);
    add(scene.spelunk(["run", "list"]).run(), 0);
    for run in scene.runs() {
        add(scene.spelunk(["show", &run, "--json"]).run(), 0);
        add(scene.spelunk(["show", &run]).run(), 0);
    }
    assert!(!shown.contains(PASSWORD), "{shown}");
    assert!(shown.contains(&cluster.url("none")), "{shown}");
    assert!(server.requests().iter().all(|request| !request.body.contains(PASSWORD)));
    let n_files = files_without(scene.root(), PASSWORD);
    assert!(n_files > 20, "{n_files}");
}

/// How many files there are; none may contain the word.
fn files_without(dir: &Path, word: &str) -> usize {
    let mut n_files = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            n_files += files_without(&path, word);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains(word), "{}", path.display());
            n_files += 1;
        }
    }
    n_files
}

#[test]
fn a_killed_run_keeps_what_postgres_said_although_it_changed_since() {
    let Some(cluster) = cluster() else { return };
    cluster.database("killed", SHOP);
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let query = "query_rows(\"SELECT total FROM orders WHERE id = 4713\")[0]['total']";
    let first = format!("```repl\nwas = {query}\nprint(was)\n```");
    let second = format!(
        "```repl\nnow = {query}\nFINAL(f'{{was}} then {{now}}', cite=['killed:orders?id=4713: paid'])\n```"
    );
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("\n\n19 turns left."))
            .fault(Fault::StallBeforeHeaders)
            .reply(second)
            .usage(100, 20)
            .gate(&gate),
        to_all().reply(first).usage(100, 20),
    ]);
    let url = cluster.url("killed");
    let mut child = ask(&scene, &server, &url, &["notes", "--strategy", "repl"]).start();
    wait_for("the second call", || (n_calls(&server) == 2).then_some(()));
    wait_at(&gate, &server);
    child.kill().unwrap();
    child.wait().unwrap();
    cluster
        .psql("killed", "UPDATE orders SET total = 100 WHERE id = 4713; INSERT INTO orders VALUES (1)")
        .unwrap();
    gate.open();
    // The password was not kept.
    let without = scene.spelunk(["resume"]).server(&server).run();
    assert_eq!(without.code, 1, "{}{}", without.stdout, without.stderr);
    assert!(without.stderr.contains("PGPASSWORD"), "{}", without.stderr);
    let ran = scene.spelunk(["resume"]).server(&server).env("PGPASSWORD", PASSWORD).run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "9.0 then 100.0\n  killed:orders?id=4713  paid\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(n_calls(&server), 3);
}

#[test]
fn ctrl_c_cancels_the_query_on_the_server() {
    let Some(cluster) = cluster() else { return };
    cluster.database("interrupted", SHOP);
    let scene = Scene::new(&NOTE);
    let slow = "```sql\nSELECT count(*) FROM orders, generate_series(1, 2000000000) AS n\n```";
    let server = ModelServer::start_blocking([to_all().reply(slow).usage(100, 20)]);
    let url = cluster.url("interrupted");
    let child = ask(&scene, &server, &url, &[]).start();
    let active = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'interrupted' AND state = 'active'";
    let n_active = || cluster.psql("postgres", active).unwrap();
    wait_for("the query", || {
        let running = format!("{active} AND query LIKE '%generate_series%'");
        (cluster.psql("postgres", &running).unwrap() == "1").then_some(())
    });
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ran = Ran::of(&scene, child.wait_with_output().unwrap());
    assert_eq!(ran.code, 130, "{}{}", ran.stdout, ran.stderr);
    wait_for("the end of the query", || (n_active() == "0").then_some(()));
}
