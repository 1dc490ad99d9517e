//! Archives given as a path: their content is read as if they had been unpacked.

use expect_test::{Expect, expect};

use crate::scene::archive::{gzip, tar, zip};
use crate::scene::{QUESTION, Scene, answering};

const FILES: [(&str, &str); 3] = [
    ("notes/a.md", "# Numbers\n\nThe magic number is 42.\n"),
    ("notes/.env", "KEY=1\n"),
    ("../escape.md", "outside\n"),
];

#[track_caller]
fn check(name: &str, bytes: &[u8], expected: &Expect) {
    let reply = format!("42.\n\n```evidence\n{name}/notes/a.md:3: The magic number is 42.\n```");
    let (scene, server) = (Scene::new(&[]), answering(&reply));
    scene.write(name, bytes);
    scene.spelunk(["ask", QUESTION, name]).server(&server).run().check(expected);
    assert!(!scene.exists("../escape.md"));
}

#[test]
fn a_zip_is_read_like_a_folder() {
    check(
        "notes.zip",
        &zip(&FILES),
        &expect![[r#"
            42.
              notes.zip/notes/a.md:3  The magic number is 42.
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            Skipped: 1 secret, 1 with an unsafe name
            1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
            --- exit 0
        "#]],
    );
}

#[test]
fn a_compressed_tar_is_read_like_a_folder() {
    check(
        "notes.tar.gz",
        &gzip(&tar(&FILES)),
        &expect![[r#"
            42.
              notes.tar.gz/notes/a.md:3  The magic number is 42.
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            Skipped: 1 secret, 1 with an unsafe name
            1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
            --- exit 0
        "#]],
    );
}

#[test]
fn an_archive_in_a_folder_is_opened_only_where_it_is_included() {
    let scene = Scene::new(&[("docs/b.md", "beside\n")]);
    scene.write("docs/old.zip", &zip(&FILES[..1]));
    scene.spelunk(["outline", "docs"]).run().check(&expect![[r#"
        1 document, 7 B: b.md
        type: prose
        --- stderr
        Skipped: 1 excluded
        --- exit 0
    "#]]);
    let include = ["outline", "docs", "--include", "*.zip", "--include", "*.md"];
    scene.spelunk(include).run().check(&expect![[r#"
        2 documents, 42 B
        by extension:
          .md: 2 documents, 42 B
        largest:
          old.zip/notes/a.md: 35 B
          b.md: 7 B
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["outline", "docs", "--include", "*.zip"]).run().check(&expect![[r#"
        1 document, 35 B: old.zip/notes/a.md
        type: prose
        1: # Numbers
        --- stderr
        Skipped: 1 filtered
        --- exit 0
    "#]]);
}

#[test]
fn a_single_compressed_file_is_read() {
    let scene = Scene::new(&[]);
    scene.write("a.md.gz", &gzip(FILES[0].1.as_bytes()));
    scene.spelunk(["outline", "a.md.gz"]).run().check(&expect![[r#"
        1 document, 35 B: a.md.gz/a.md
        type: prose
        1: # Numbers
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_broken_archive_gives_what_was_readable_or_is_refused() {
    let scene = Scene::new(&[]);
    let whole = zip(&FILES);
    scene.write("cut.zip", &whole[..whole.len() / 2]);
    scene.write("cut.tgz", &gzip(&tar(&FILES))[..40]);
    scene.write("not.zip", b"just text\n");
    scene.spelunk(["plan", "cut.zip"]).run().check(&expect![[r#"
        type              files     lines      size
        prose                 1         3      35 B

        1 small file in 1 batch

        1 task: 0 chunks, 1 batch · analysts: 1 general
        1 to 3 calls · 317 to 35.2k tokens in, 2 to 12.2k out
          anthropic/claude-sonnet-5-5  $0.0007 to $0.22
          anthropic/claude-haiku-5-5   <$0.0001 to $0.0106
          gemini/gemini-4-argon        $0.0007 to $0.20
          gemini/gemini-3.5-flash-lite $0.0002 to $0.0414
          openai/gpt-6.1-terra         $0.0004 to $0.11
          openai/gpt-6-luna            <$0.0001 to $0.0106
        --- stderr
        Skipped: 1 damaged, 1 secret, 1 with an unsafe name
        --- exit 0
    "#]]);
    scene.spelunk(["plan", "cut.tgz"]).run().check(&expect![[r#"
        --- stderr
        error: could not open the archive `cut.tgz`
          caused by: incomplete deflate stream

        hint: check that it is complete, for example by unpacking it by hand
        --- exit 1
    "#]]);
    scene.spelunk(["plan", "not.zip"]).run().check(&expect![[r#"
        --- stderr
        error: could not open the archive `not.zip`
          caused by: invalid Zip archive: Could not find EOCD

        hint: check that it is complete, for example by unpacking it by hand
        --- exit 1
    "#]]);
}
