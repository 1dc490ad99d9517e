//! `spelunk context add` of files that are not plain text: archives, web pages, and a directory that contains them.

use expect_test::expect;

use crate::scene::Scene;
use crate::scene::archive::{gzip, tar, zip};

const FILES: [(&str, &str); 3] =
    [("notes/b.md", "# B\n\nThe magic number is 42.\n"), ("a.txt", "first\n"), ("notes/.env", "KEY=1\n")];

#[test]
fn an_archive_is_one_context() {
    let scene = Scene::new(&[]);
    scene.write("pack.zip", &zip(&FILES));
    scene.spelunk(["context", "add", "pack.zip"]).run().check(&expect![[r#"
        pack
        --- stderr
        skipped in the archive: 1 secret
        --- exit 0
    "#]]);
    scene.spelunk(["context", "load", "pack"]).run().check(&expect![[r#"
        ==> a.txt <==
        first

        ==> notes/b.md <==
        # B

        The magic number is 42.
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "grep", "pack", "magic", "-q"]).run().check(&expect![[r#"
        5-# B
        6-
        7:The magic number is 42.
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        pack  document    lazy    file   -                   341 B, read 2 times, last DATE
        --- stderr
        --- exit 0
    "#]]);
    scene.write("pack.zip", &zip(&FILES[1..2]));
    scene.spelunk(["context", "load", "pack"]).run().check(&expect![[r#"
        ==> a.txt <==
        first
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn every_sort_of_archive_is_added() {
    let scene = Scene::new(&[]);
    let names = ["one.zip", "two.tar", "three.tar.gz", "four.tgz"];
    for (name, bytes) in names.into_iter().zip([
        zip(&FILES[1..2]),
        tar(&FILES[1..2]),
        gzip(&tar(&FILES[1..2])),
        gzip(&tar(&FILES[1..2])),
    ]) {
        scene.write(name, &bytes);
        let ran = scene.spelunk(["context", "add", name, "--id", name]).run();
        assert_eq!((ran.stdout, ran.stderr, ran.code), (format!("{name}\n"), String::new(), 0));
        let ran = scene.spelunk(["context", "load", name]).run();
        assert_eq!(ran.stdout, "==> a.txt <==\nfirst\n", "{name}");
    }
    scene.write("a.txt.gz", &gzip(b"alone\n"));
    scene.spelunk(["context", "add", "a.txt.gz", "--id", "alone"]).run();
    assert_eq!(scene.spelunk(["context", "load", "alone"]).run().stdout, "alone\n");
}

#[test]
fn a_page_is_added_as_its_text() {
    let scene = Scene::new(&[("page.html", "<h1>Title</h1><p>Some <b>words</b>.</p><script>x()</script>")]);
    scene.spelunk(["context", "add", "page.html"]).run().check(&expect![[r#"
        page
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "peek", "page", "-q"]).run().check(&expect![[r#"
        # Title

        Some words.
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_directory_gives_its_documents_and_counts_what_is_broken() {
    let scene = Scene::new(&[("docs/a.md", "text\n"), ("docs/page.html", "<p>page</p>")]);
    scene.write("docs/pack.zip", &zip(&FILES));
    scene.write("docs/cut.zip", &zip(&FILES)[..40]);
    scene.write("docs/cut.pdf", b"%PDF-1.4 and no more");
    scene.spelunk(["context", "add", "docs"]).run().check(&expect![[r#"
        a
        pack
        page
        --- stderr
        3 registered, 0 already known, skipped: 2 damaged
        --- exit 0
    "#]]);
    scene.spelunk(["context", "search", "magic|page"]).run().check(&expect![[r#"
        pack  (1 line)
          7:The magic number is 42.
        page  (1 line)
          1:page
        [matches in 2 of 3 contexts]
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_broken_document_is_refused_with_what_is_wrong() {
    let scene = Scene::new(&[("not.zip", "just text\n"), ("not.pdf", "just text\n")]);
    scene.spelunk(["context", "add", "not.zip"]).run().check(&expect![[r#"
        --- stderr
        error: could not read the context `not`
          caused by: could not open the archive `not.zip`
          caused by: invalid Zip archive: Could not find EOCD

        hint: check that it is complete, for example by unpacking it by hand
        --- exit 1
    "#]]);
    scene.spelunk(["context", "add", "not.pdf"]).run().check(&expect![[r#"
        --- stderr
        error: could not read the context `not`
          caused by: could not extract text from `not.pdf`
          caused by: it is damaged: it does not begin with a PDF header

        hint: check that it opens in another program, or convert it to text first
        --- exit 1
    "#]]);
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        --- stderr
        no contexts; add one with `spelunk context add PATH`
        --- exit 0
    "#]]);
}

#[test]
fn a_hidden_file_of_secrets_is_added_with_its_folder_where_secrets_are_allowed() {
    let scene = Scene::new(&[("docs/.env", "KEY=1\n"), ("docs/.hidden", "x\n"), ("docs/a.md", "text\n")]);
    scene.spelunk(["context", "add", "docs"]).run().check(&expect![[r#"
        a
        --- stderr
        1 registered, 0 already known
        --- exit 0
    "#]]);
    scene.spelunk(["context", "add", "docs", "--allow-secrets"]).run().check(&expect![[r#"
        .env
        --- stderr
        1 registered, 1 already known
        --- exit 0
    "#]]);
    scene.spelunk(["outline", "docs", "--allow-secrets"]).run().check(&expect![[r#"
        2 documents, 11 B
        by extension:
          (none): 1 document, 6 B
          .md: 1 document, 5 B
        largest:
          .env: 6 B
          a.md: 5 B
        --- stderr
        Skipped: 1 hidden
        --- exit 0
    "#]]);
}

#[test]
fn s0_01_a_workspace_of_another_tool_is_imported() {
    let scene = Scene::new(&[
        ("rlm-1-ab/context.txt", "The magic number is 42.\n"),
        ("rlm-1-ab/metadata.json", "{\"workspace_id\": \"rlm-1-ab\"}\n"),
        ("rlm-1-ab/chunks/chunk_001.txt", "The magic number is 42.\n"),
        ("rlm-1-ab/results/worker_001.json", "{\"worker_id\": \"w\"}\n"),
        ("rlm-1-ab/final_answer.md", "42\n"),
    ]);
    scene.spelunk(["context", "import", "rlm-1-ab"]).run().check(&expect![[r#"
        rlm-1-ab
        rlm-1-ab:answer
        rlm-1-ab:metadata
        rlm-1-ab:worker_001
        --- stderr
        --- exit 0
    "#]]);
    assert_eq!(scene.spelunk(["context", "load", "rlm-1-ab:answer"]).run().stdout, "42\n");
    scene.spelunk(["context", "import", "rlm-1-ab"]).run().check(&expect![[r#"
        --- stderr
        error: the context `rlm-1-ab` already exists

        hint: use another id, or pass `--replace` to replace the context
        --- exit 1
    "#]]);
    assert_eq!(scene.spelunk(["context", "import", "rlm-1-ab", "--replace"]).run().code, 0);
    scene.spelunk(["context", "import", "rlm-1-ab/chunks"]).run().check(&expect![[r#"
        --- stderr
        error: `rlm-1-ab/chunks` is not a workspace: it has neither `context.txt` nor `input/prompt.md`

        hint: register other directories with `spelunk context add`
        --- exit 2
    "#]]);
}

#[test]
fn s2_05_the_workspace_of_an_agent_is_imported() {
    let scene = Scene::new(&[
        ("fsrlm_x/input/prompt.md", "A long prompt.\n"),
        ("fsrlm_x/input/attachments/data.csv", "a,b\n1,2\n"),
        ("fsrlm_x/state/job.json", "{}\n"),
        ("fsrlm_x/state/errors.jsonl", ""),
        ("fsrlm_x/state/artifacts.jsonl", "{\"tag\": \"t\"}\n"),
        ("fsrlm_x/output/answer.md", "Done.\n"),
    ]);
    scene.spelunk(["context", "import", "fsrlm_x"]).run().check(&expect![[r#"
        fsrlm_x
        fsrlm_x:answer
        fsrlm_x:artifacts
        fsrlm_x:job
        fsrlm_x:data
        --- stderr
        --- exit 0
    "#]]);
    assert_eq!(scene.spelunk(["context", "load", "fsrlm_x"]).run().stdout, "A long prompt.\n");
}
