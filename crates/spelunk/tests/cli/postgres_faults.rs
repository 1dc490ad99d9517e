//! PostgreSQL databases that cannot be used, statements that may not run, limits, TLS, and clients that may not name
//! one.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Instant;

use expect_test::expect;
use spelunk_testkit::{Gate, ModelServer};

use super::postgres::{SHOP, answer_of, ask};
use crate::scene::postgres::{PASSWORD, cluster, free_port};
use crate::scene::{NOTE, Ran, Scene, answering, n_calls, to_all, wait_at};

/// Tries statements one by one and answers with what came of them.
fn trying(statements: &[&str]) -> String {
    let listed: Vec<String> = statements.iter().map(|sql| format!("{sql:?}")).collect();
    format!(
        "said = []\nfor sql in [{}]:\n    try:\n        said.append(str(query_rows(sql))[:100])\n    except Exception as error:\n        \
         said.append(str(error))\nFINAL('\\n'.join(said))",
        listed.join(", ")
    )
}

#[test]
fn statements_only_read_one_database() {
    let Some(cluster) = cluster() else { return };
    cluster.database("reading", SHOP);
    cluster
        .psql(
            "reading",
            "CREATE FUNCTION sneaky() RETURNS int LANGUAGE sql AS 'DELETE FROM orders RETURNING 1'",
        )
        .unwrap();
    let scene = Scene::new(&NOTE);
    let said = answer_of(
        &scene,
        &cluster,
        "reading",
        &trying(&[
            "DELETE FROM orders",
            "SELECT 1; DELETE FROM orders",
            "SELECT 1) AS x; DELETE FROM orders; SELECT (1",
            "WITH gone AS (DELETE FROM orders RETURNING 1) SELECT * FROM gone",
            "SELECT sneaky() FROM orders",
            "SELECT set_config('transaction_read_only', 'off', false)",
            "SELECT U&\"\\0070g_sleep\"(1)",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT E'\\'', pg_sleep(1) --'",
            "COPY orders TO PROGRAM 'id'",
            "SELECT total, 1.0 / 3, 12345678901234567890.5, true, ARRAY[1, 2], NULL, 'x' || repeat('y', 3) FROM orders WHERE id = 4711 -- so",
            "SELECT count(*) FROM nothing",
            "SELECT $1::int FROM orders",
        ]),
    );
    expect![[r#"
        only SELECT statements over the tables are allowed
        cannot insert multiple commands into a prepared statement
        syntax error at or near ")"
        WITH clause containing a data-modifying statement must be at the top level
        cannot execute DELETE in a read-only transaction
        `set_config` is not allowed: only SELECT statements over the tables are
        `U&` is not allowed: only SELECT statements over the tables are
        `pg_read_file` is not allowed: only SELECT statements over the tables are
        `pg_sleep` is not allowed: only SELECT statements over the tables are
        only SELECT statements over the tables are allowed
        [{'?column?': 'xyyy', 'array': '{1,2}', 'total': 12.5}]
        relation "nothing" does not exist
        write values instead of parameters such as `$1`"#]]
    .assert_eq(&said);
    assert_eq!(cluster.psql("reading", "SELECT count(*) FROM orders").unwrap(), "3");
}

#[test]
fn results_are_bounded_in_rows_bytes_and_time_and_by_what_the_account_may_read() {
    let Some(cluster) = cluster() else { return };
    cluster.database("bounded", SHOP);
    cluster
        .psql(
            "bounded",
            "CREATE TABLE hidden (id int); CREATE ROLE bob LOGIN PASSWORD 'bobs'; GRANT SELECT ON orders TO bob",
        )
        .unwrap();
    let scene = Scene::new(&NOTE);
    let cell = trying(&[
        "SELECT count(*) FROM orders",
        "SELECT n FROM orders, generate_series(1, 5000) AS n",
        "SELECT repeat('x', 100000) AS x FROM orders LIMIT 1",
        "SELECT repeat('x', 2000) AS a, repeat('x', 2000) AS b FROM orders, generate_series(1, 3000)",
        "SELECT count(*) FROM orders, generate_series(1, 2000000000) AS n",
        "SELECT * FROM hidden",
    ]);
    let server = crate::tools::writing(&[&cell]);
    let url = cluster.url("bounded").replace("ann@", "bob@");
    let began = Instant::now();
    let args = ["ask", "How many?", &url, "--strategy", "repl", "--set", "limits.query_ms_max=5000"];
    let ran = scene.spelunk(args).server(&server).env("PGPASSWORD", "bobs").run();
    assert!(began.elapsed().as_secs() < 120, "{:?}", began.elapsed());
    expect![[r#"
        [{'count': 3}]
        the query returns more than 10000 rows or 10 MB: aggregate, filter or add LIMIT
        [{'x': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        the query returns more than 10000 rows or 10 MB: aggregate, filter or add LIMIT
        the query takes longer than 5000 ms (`limits.query_ms_max`): read fewer rows, or join on equal columns
        permission denied for table hidden
    "#]]
    .assert_eq(&ran.stdout);
    let sent: String = server.requests().iter().map(|request| request.body.clone()).collect();
    assert!(!sent.contains("hidden") && sent.contains("orders"), "{sent}");
}

/// A message of two gigabytes, followed by as many bytes as the client takes.
const FLOOD: &[u8] = b"R\x7f\xff\xff\xfe";

/// A server that accepts one connection after the other and answers each with these bytes.
fn answering_with(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let mut asked = [0; 1000];
            drop(stream.read(&mut asked));
            drop(stream.write_all(bytes));
            while bytes == FLOOD && stream.write_all(&[0; 8_192]).is_ok() {}
            // Held open until the client goes.
            drop(stream.read_to_end(&mut Vec::new()));
        }
    });
    port
}

#[test]
fn a_database_that_cannot_be_used_says_why_and_what_to_try() {
    let scene = Scene::new(&NOTE);
    let server = answering("NONE");
    let mut said = String::new();
    let mut add = |what: &str, ran: Ran| {
        assert_eq!(ran.code, 1, "{what}: {}{}", ran.stdout, ran.stderr);
        said += &format!("{what}\n{}\n", scene.normalise(&ran.stderr));
    };
    let at = |port: u16| format!("postgres://ann@127.0.0.1:{port}/shop?sslmode=disable");
    add("away", ask(&scene, &server, &at(free_port()), &[]).run());
    add("garbage", ask(&scene, &server, &at(answering_with(b"R\0\0\0\x08\0\0\0\x63")), &[]).run());
    add("flood", ask(&scene, &server, &at(answering_with(FLOOD)), &[]).run());
    // A message that claims two gigabytes, and then nothing: the wait has an end.
    let began = Instant::now();
    add("silent", ask(&scene, &server, &at(answering_with(b"R\x7f\xff\xff\xff")), &[]).run());
    assert!((10..20).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    add(
        "wrong URL",
        scene.spelunk(["ask", "Who?", "postgres://ann@127.0.0.1:port/shop"]).server(&server).run(),
    );
    add("wrong mode", scene.spelunk(["ask", "Who?", &format!("{}x", at(1))]).server(&server).run());
    if let Some(cluster) = cluster() {
        cluster.database("unused", SHOP);
        let url = cluster.url("unused");
        add("password", scene.spelunk(["ask", "Who?", &url]).server(&server).env("PGPASSWORD", "no").run());
        add("no password", scene.spelunk(["ask", "Who?", &url]).server(&server).run());
        add("no database", ask(&scene, &server, &cluster.url("absent"), &[]).run());
        cluster
            .psql("unused", "DROP SCHEMA sales CASCADE; DROP TABLE orders CASCADE; DROP TABLE users")
            .unwrap();
        add("no tables", ask(&scene, &server, &url, &[]).run());
        expect![[r#"
            away
            error: could not use the database `postgres://ann@127.0.0.1:PORT/shop?sslmode=disable`: Connection refused (os error 111)

            hint: check the host and the port, and that the server is running

            garbage
            error: could not use the database `postgres://ann@127.0.0.1:PORT/shop?sslmode=disable`: unknown authentication tag `99`

            hint: check that a PostgreSQL server listens there

            flood
            error: could not use the database `postgres://ann@127.0.0.1:PORT/shop?sslmode=disable`: the server's reply is too long

            hint: check that a PostgreSQL server listens there

            silent
            error: could not use the database `postgres://ann@127.0.0.1:PORT/shop?sslmode=disable`: no answer within TIME

            hint: check the host and the port, and that the server is running

            wrong URL
            error: could not use the database `postgres://ann@127.0.0.1:PORTport/shop`: the URL is not valid

            hint: write it as `postgres://USER@HOST:PORT/DATABASE`

            wrong mode
            error: could not use the database `postgres://ann@127.0.0.1:PORT/shop?sslmode=disablex`: `sslmode` is one of disable, prefer, require and verify-full

            hint: write it as `postgres://USER@HOST:PORT/DATABASE`

            password
            error: could not use the database `postgres://ann@127.0.0.1:PORT/unused`: password authentication failed for user "ann"

            hint: check the user, and set the password with `PGPASSWORD` or `~/.pgpass`; a password in the URL is not kept for `resume`

            no password
            error: could not use the database `postgres://ann@127.0.0.1:PORT/unused`: password missing

            hint: set the password with `PGPASSWORD` or `~/.pgpass`; a password in the URL is not kept for `resume`

            no database
            error: could not use the database `postgres://ann@127.0.0.1:PORT/absent`: database "absent" does not exist

            hint: `psql -l` lists the databases of a server

            no tables
            error: could not use the database `postgres://ann@127.0.0.1:PORT/unused`: it has no tables that this account may read

            hint: name another database or another user

        "#]].assert_eq(&said);
    }
    assert_eq!(n_calls(&server), 0);
}

#[test]
fn a_database_that_goes_away_stops_the_run_which_can_be_resumed() {
    let Some(cluster) = cluster() else { return };
    cluster.database("leaving", SHOP);
    let scene = Scene::new(&NOTE);
    let sql = "```sql\nSELECT customer FROM orders WHERE status = 'cancelled'\n```";
    let server = ModelServer::start_blocking([to_all().reply(sql).usage(100, 20)]);
    let url = cluster.url("leaving");
    let ends = "ALTER DATABASE leaving ALLOW_CONNECTIONS false";
    // The description is read while the run starts; what a query finds is read after the reply.
    let gate = Gate::new();
    let held = ModelServer::start_blocking([to_all().reply(sql).usage(100, 20).gate(&gate)]);
    let child = ask(&scene, &held, &url, &[]).start();
    wait_at(&gate, &held);
    cluster.psql("postgres", ends).unwrap();
    gate.open();
    let ran = Ran::of(&scene, child.wait_with_output().unwrap());
    ran.check(&expect![[r#"
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 0 B read of 431 B · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        error: could not use the database `postgres://ann@127.0.0.1:PORT/leaving`: database "leaving" is not currently accepting connections

        hint: check the server's log, and try again
        Continue: spelunk resume SHORT
        --- exit 1
    "#]]);
    cluster.psql("postgres", &ends.replace("false", "true")).unwrap();
    let ran = scene.spelunk(["resume"]).server(&server).env("PGPASSWORD", PASSWORD).run();
    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("Ann")), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn tls_is_used_if_offered_required_or_verified() {
    let Some(cluster) = cluster() else { return };
    let Some(certificate) = cluster.certificate() else {
        println!("SKIPPED: there is no `openssl` on this machine");
        return;
    };
    cluster
        .database("encrypted", "CREATE VIEW how AS SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    let scene = Scene::new(&NOTE);
    let certificate = certificate.display().to_string();
    let mut said = String::new();
    for mode in [
        "",
        "?sslmode=disable",
        "?sslmode=require",
        "?sslmode=verify-full",
        "?sslmode=verify-full&sslrootcert=FILE",
    ] {
        let url = cluster.url("encrypted") + &mode.replace("FILE", &certificate);
        let server = crate::tools::writing(&["FINAL(query_rows('SELECT ssl FROM how')[0]['ssl'])"]);
        let ran = ask(&scene, &server, &url, &["--strategy", "repl"]).run();
        let shown = if ran.code == 0 { ran.stdout } else { scene.normalise(&ran.stderr) };
        said += &format!("{mode}: {}\n", shown.replace(&certificate, "FILE").trim());
    }
    expect![[r#"
        : true
        ?sslmode=disable: false
        ?sslmode=require: true
        ?sslmode=verify-full: error: could not use the database `postgres://ann@127.0.0.1:PORT/encrypted?sslmode=verify-full`: invalid peer certificate: BadSignature

        hint: check `sslmode` in the URL: `verify-full` needs a certificate that this machine or `sslrootcert=FILE` trusts
        ?sslmode=verify-full&sslrootcert=FILE: true
    "#]].assert_eq(&said);
}
