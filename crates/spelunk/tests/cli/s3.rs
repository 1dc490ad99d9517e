//! Buckets of S3 as sources, with a real server: asked, cited, kept, resumed; signatures; and servers, keys and objects that
//! are wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use spelunk_testkit::{Fault, Gate, ModelServer};

use crate::scene::moto::{Moto, Passing, Proxy, SECRET, moto, moto_that_trusts};
use crate::scene::{Call, NOTE, QUESTION, Ran, Scene, answering, n_calls, to_all, wait_at};
use crate::secrets::assert_secret_nowhere;

const TEXT: &str = "# Numbers\n\nThe magic number is 42.\n";
const REPLY: &str =
    "The magic number is 42.\n\n```evidence\ns3://shelf/docs/a.md:3: The magic number is 42.\n```";
const SHELF: [(&str, &str); 9] = [
    ("docs/", ""),
    ("docs/a.md", TEXT),
    ("docs/b/c%20d+e%C3%A9.txt", "Nothing here.\n"),
    ("docs/e%1Bvil.md", "An escape in the name.\n"),
    ("docs/../../x.md", "Outside.\n"),
    ("docs/.env", "KEY=1\n"),
    ("docs/lib.so", "\u{1}\u{2}"),
    ("docs-old/z.md", "Another folder.\n"),
    ("one.md", TEXT),
];

fn shelf() -> Option<Moto> {
    let moto = moto()?;
    moto.bucket("shelf", &SHELF);
    Some(moto)
}

fn everything(_: &str) -> Passing {
    Passing::Whole
}

#[test]
fn the_objects_of_a_bucket_are_asked_and_cited_and_fetched_once() {
    let Some(moto) = shelf() else { return };
    let (scene, server, proxy) = (Scene::new(&NOTE), answering(REPLY), Proxy::before(&moto, everything));
    let ask = || scene.spelunk(["ask", QUESTION, "s3://shelf/docs/"]).server(&server).s3(proxy.port).run();
    let first = ask();
    first.check(&expect![[r#"
        The magic number is 42.
          s3://shelf/docs/a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        Skipped: 1 excluded, 1 secret, 1 with an unsafe name
        3 files · 72 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let started = &scene.journal(&scene.only_run())[0];
    assert_eq!(started["sources"], serde_json::json!([{ "is": "objects", "url": "s3://shelf/docs" }]));
    let fetched = ["/shelf/docs/a.md", "/shelf/docs/b/c%20d%2Be%C3%A9.txt", "/shelf/docs/e%1Bvil.md"];
    assert_eq!(proxy.objects(), fetched);
    assert_eq!(ask().stdout, first.stdout);
    assert_eq!(proxy.objects(), [""; 0]);
    // What changed is fetched again.
    moto.put("shelf", "docs/a.md", "# Numbers\n\nThe magic number is 42.\nNo, 43.\n");
    assert_eq!(ask().stdout, first.stdout);
    assert_eq!(proxy.objects(), fetched[..1]);
    assert_secret_nowhere(&scene, SECRET, &[first]);
}

#[test]
fn every_command_that_reads_files_reads_objects() {
    let Some(moto) = shelf() else { return };
    let scene = Scene::new(&NOTE);
    let run = |args: &[&str]| {
        let ran = scene.spelunk(args.iter().copied()).s3(moto.port).run();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        ran
    };
    run(&["search", "magic number", "s3://shelf/docs", "notes"]).check(&expect![[r#"
        notes/a.md:3  similarity 0.82  and 1 similar
            The magic number is 42.

        s3://shelf/docs/e\u{1b}vil.md:1  similarity 0.03
            An escape in the name.
        --- stderr
        Skipped: 1 excluded, 1 secret, 1 with an unsafe name
        2 passages · 4 documents searched by words and meaning
        --- exit 0
    "#]]);
    // One object is named like a file.
    run(&["search", "magic number", "s3://shelf/one.md"]).check(&expect![[r#"
        s3://shelf/one.md:3  similarity 0.82
            The magic number is 42.
        --- stderr
        1 passage · 1 document searched by words and meaning
        --- exit 0
    "#]]);
    run(&["index", "s3://shelf"]).check(&expect![[r#"
        --- stderr
        Skipped: 1 excluded, 1 secret, 1 with an unsafe name
        Indexed 5 documents, 123 B.
        --- exit 0
    "#]]);
    let plan = run(&["plan", "s3://shelf", "--include", "*.md"]);
    assert!(plan.stdout.contains("4 small files in 1 batch"), "{}", plan.stdout);
}

#[test]
fn a_list_of_more_than_a_thousand_objects_is_read_and_only_what_is_chosen_is_fetched() {
    let Some(moto) = moto() else { return };
    moto.bucket("many", &[]);
    for number in 0..1_050 {
        moto.put("many", &format!("{number:04}.md"), "text\n");
    }
    let (scene, proxy) = (Scene::new(&NOTE), Proxy::before(&moto, everything));
    let args = ["search", "text", "s3://many", "--files-max", "3", "--order", "path"];
    let ran = scene.spelunk(args).s3(proxy.port).run();
    ran.check(&expect![[r#"
        s3://many/0000.md:1  similarity 1.00  and 2 similar
            text
        --- stderr
        Skipped: 1047 beyond the maximum number of files
        1 passage · 3 documents searched by words and meaning
        --- exit 0
    "#]]);
    assert_eq!(proxy.objects(), ["/many/0000.md", "/many/0001.md", "/many/0002.md"]);
}

#[test]
fn archived_objects_are_skipped() {
    let Some(moto) = moto() else { return };
    moto.bucket("cold", &[("a.md", TEXT)]);
    moto.put_in("GLACIER", "cold", "b.md", TEXT);
    let scene = Scene::new(&NOTE);
    scene.spelunk(["search", "magic", "s3://cold"]).s3(moto.port).run().check(&expect![[r#"
        s3://cold/a.md:3  similarity 0.45
            The magic number is 42.
        --- stderr
        Skipped: 1 unreadable
        1 passage · 1 document searched by words and meaning
        --- exit 0
    "#]]);
}

#[test]
fn requests_are_signed_and_what_may_not_be_read_is_skipped() {
    let Some(moto) = moto_that_trusts(6) else { return };
    let (id, secret) = moto.user(
        r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"},
        {"Effect":"Deny","Action":"s3:GetObject","Resource":"arn:aws:s3:::shelf/docs/private/*"}]}"#,
    );
    moto.bucket("shelf", &[("docs/private/p.md", "Private.\n"), ("docs/b%20c+d%C3%A9.md", TEXT)]);
    let scene = Scene::new(&NOTE);
    let search = |path: &str, id: &str, secret: &str| {
        let call = scene.spelunk(["search", "magic", path]).s3(moto.port);
        call.env("AWS_ACCESS_KEY_ID", id).env("AWS_SECRET_ACCESS_KEY", secret).run()
    };
    let allowed = search("s3://shelf/docs", &id, &secret);
    allowed.check(&expect![[r#"
        s3://shelf/docs/b c+dé.md:3  similarity 0.45
            The magic number is 42.
        --- stderr
        Skipped: 1 unreadable
        1 passage · 1 document searched by words and meaning
        --- exit 0
    "#]]);
    let denied = search("s3://shelf/docs/private/p.md", &id, &secret);
    let wrong = search("s3://shelf/docs", &id, SECRET);
    let unknown = search("s3://shelf/docs", "AKIDEXAMPLE", SECRET);
    expect![[r#"
        error: could not read `s3://shelf/docs/private/p.md`: it is gone, or may not be read

        hint: check what the credentials may read: `s3:GetObject`

        error: could not read `s3://shelf/docs`: access was denied (`SignatureDoesNotMatch`)

        hint: check the credentials, and that they allow `s3:ListBucket` and `s3:GetObject`

        error: could not read `s3://shelf/docs`: access was denied (`InvalidAccessKeyId`)

        hint: check the credentials, and that they allow `s3:ListBucket` and `s3:GetObject`
    "#]]
    .assert_eq(&[&denied, &wrong, &unknown].map(|ran| ran.stderr.as_str()).join("\n"));
    assert_secret_nowhere(&scene, SECRET, &[wrong, unknown]);
    assert_secret_nowhere(&scene, &secret, &[allowed, denied]);
}

#[test]
fn what_cannot_be_read_says_why() {
    let Some(moto) = shelf() else { return };
    let (scene, server) = (Scene::new(&NOTE), answering("no list"));
    let foreign: u16 = server.base_url().split([':', '/']).nth(4).unwrap().parse().unwrap();
    let search = |url| scene.spelunk(["search", "magic", url]);
    let calls: [(&str, Call<'_>); 9] = [
        ("no bucket", search("s3://absent/docs").s3(moto.port)),
        ("no object", search("s3://shelf/doc").s3(moto.port)),
        ("no credentials", search("s3://shelf").env("AWS_EC2_METADATA_DISABLED", "true")),
        ("no server", search("s3://shelf").s3(1)),
        ("another server", search("s3://shelf").s3(foreign)),
        ("no endpoint", search("s3://shelf").s3(moto.port).env("AWS_ENDPOINT_URL", "shelf.example")),
        ("a password", search("s3://AKID:Zk3vT9qLm2xWp7R@shelf/docs").s3(moto.port)),
        ("a way out", search("s3://shelf/docs/../x.md").s3(moto.port)),
        ("too much", search("s3://shelf").s3(moto.port).env("SPELUNK_CACHE_OBJECTS_BYTES_MAX", "50")),
    ];
    let said = calls.map(|(what, call)| {
        let Ran { code, stdout, stderr, .. } = call.run();
        assert_ne!(code, 0, "{what}");
        format!("{what}: {stdout}{}", scene.normalise(&stderr))
    });
    expect![[r#"
        no bucket: error: could not read `s3://absent/docs`: there is no bucket `absent`

        hint: check `AWS_ENDPOINT_URL` and `AWS_REGION`, and that the server is running

        no object: error: could not read `s3://shelf/doc`: there is no such object

        hint: `aws s3 ls` lists the objects of a bucket

        no credentials: error: could not read `s3://shelf`: there are no AWS credentials: none are set in variables, a profile or a container

        hint: set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or `AWS_PROFILE`

        no server: error: could not read `s3://shelf`: Connection refused (os error 111)

        hint: check `AWS_ENDPOINT_URL` and `AWS_REGION`, and that the server is running

        another server: error: could not read `s3://shelf`: the server sent `HTTP 418`

        hint: check `AWS_ENDPOINT_URL` and `AWS_REGION`, and that the server is running

        no endpoint: error: could not read `s3://shelf`: `shelf.example/shelf`: it is not a valid URL

        hint: check `AWS_ENDPOINT_URL` and `AWS_REGION`, and that the server is running

        a password: error: could not read `s3://…`: the URL is not valid

        hint: write it as `s3://BUCKET/PREFIX`; credentials are read from `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`

        a way out: error: could not read `s3://…`: the URL is not valid

        hint: write it as `s3://BUCKET/PREFIX`; credentials are read from `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`

        too much: error: could not read `s3://shelf`: its objects are larger than 50 B

        hint: name a prefix, use `--include` or `--files-max`, or raise `cache.objects_bytes_max`
    "#]].assert_eq(&said.join("\n"));
}

#[test]
fn an_object_that_changes_while_it_is_read_is_read_whole() {
    let Some(moto) = shelf() else { return };
    let moto = Arc::new(moto);
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    // The thread of the proxy outlives the test.
    let changing = Arc::downgrade(&moto);
    // After the list, and before the object.
    let proxy = Proxy::before(&moto, move |path| {
        if path == "/shelf/docs/a.md" {
            changing.upgrade().unwrap().put(
                "shelf",
                "docs/a.md",
                "# Other numbers, and more of them\n\nThe magic number is 42.\n",
            );
        }
        Passing::Whole
    });
    let ask = || scene.spelunk(["ask", QUESTION, "s3://shelf/docs/"]).server(&server).s3(proxy.port).run();
    let ran = ask();
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2), "{}", ran.stderr);
    assert_eq!(proxy.objects().len(), 3);
    // It is kept as what it was when it was read.
    assert_eq!(ask().stdout, ran.stdout);
    assert_eq!(proxy.objects(), [""; 0]);
}

#[test]
fn an_object_that_is_cut_off_is_fetched_again_and_never_taken_for_whole() {
    let Some(moto) = shelf() else { return };
    let scene = Scene::new(&NOTE);
    let cutting = |n_times: usize| {
        let n_cut = AtomicUsize::new(0);
        Proxy::before(&moto, move |path| {
            let is_cut = path == "/shelf/one.md" && n_cut.fetch_add(1, Ordering::SeqCst) < n_times;
            if is_cut { Passing::Cut(10) } else { Passing::Whole }
        })
    };
    let search = |proxy: &Proxy| scene.spelunk(["search", "magic", "s3://shelf/one.md"]).s3(proxy.port).run();
    let proxy = cutting(3);
    search(&proxy).check(&expect![[r#"
        --- stderr
        error: could not read `s3://shelf/one.md`: the reply was cut off: end of file before message length reached

        hint: try again
        --- exit 1
    "#]]);
    assert_eq!(proxy.objects(), ["/shelf/one.md"; 3]);
    let proxy = cutting(2);
    let ran = search(&proxy);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(proxy.objects(), ["/shelf/one.md"; 3]);
}

#[test]
fn a_killed_run_goes_on_with_its_objects_unless_they_changed() {
    let Some(moto) = shelf() else { return };
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all()
        .fault(Fault::StallBeforeHeaders)
        .reply(REPLY)
        .usage(100, 20)
        .gate(&gate)]);
    let mut child = scene.spelunk(["ask", QUESTION, "s3://shelf/docs"]).server(&server).s3(moto.port).start();
    wait_at(&gate, &server);
    child.kill().unwrap();
    child.wait().unwrap();
    gate.open();
    let resume = || scene.spelunk(["resume"]).server(&server);
    let without = resume().env("AWS_EC2_METADATA_DISABLED", "true").run();
    assert!(without.stderr.contains("there are no AWS credentials"), "{}", without.stderr);
    moto.put("shelf", "docs/a.md", "Something else.\n");
    let changed = resume().s3(moto.port).run();
    assert_eq!(changed.code, 1, "{}", changed.stderr);
    assert!(changed.stderr.contains("changed"), "{}", changed.stderr);
    // It has grown: what it had is read.
    moto.put("shelf", "docs/a.md", &format!("{TEXT}More.\n"));
    let ran = resume().s3(moto.port).run();
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2), "{}", ran.stderr);
    assert_eq!(n_calls(&server), 2);
}
