//! Broken indexes, models and queries: each has its code, message and next step.

use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::scene::Scene;

const FILES: [(&str, &str); 2] = [
    ("docs/keys.md", "# Keys\n\nThe password is read from the environment.\n"),
    ("docs/bread.md", "# Bread\n\nFlour and water make a loaf.\n"),
];

/// The built-in embedding model.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spelunk-index/data/potion-base-8m.bin");

fn searched() -> Scene {
    let scene = Scene::new(&FILES);
    assert_eq!(scene.spelunk(["search", "password", "docs", "-k", "1"]).run().code, 0);
    scene
}

/// The directory of the only index.
fn index_of(scene: &Scene) -> PathBuf {
    let below = scene.path(".spelunk/index-v1");
    let mut entries = std::fs::read_dir(below).unwrap().map(|entry| entry.unwrap().path());
    let only = entries.next().unwrap();
    assert!(entries.next().is_none());
    only
}

#[test]
fn an_index_of_nothing_finds_nothing() {
    let scene = Scene::new(&[("empty.md", "")]);
    scene.spelunk(["context", "search", "password", "--semantic"]).run().check(&expect![[r#"
        [0 passages in 0 contexts by meaning]
        --- stderr
        --- exit 1
    "#]]);
    scene.spelunk(["search", "password", "empty.md"]).run().check(&expect![[r#"
        --- stderr
        error: no readable documents in `empty.md`: skipped 1 empty

        hint: pass a path that contains text files
        --- exit 1
    "#]]);
    assert_eq!(scene.spelunk(["context", "add", "empty.md"]).run().code, 0);
    scene.spelunk(["context", "search", "password", "--semantic"]).run().check(&expect![[r#"
        [0 passages in 0 contexts by meaning]
        --- stderr
        --- exit 1
    "#]]);
}

#[test]
fn a_damaged_index_is_built_anew_and_that_is_said() {
    let scene = searched();
    let index = index_of(&scene);
    std::fs::write(index.join("catalogue"), b"not a catalogue").unwrap();
    let search = ["search", "password", "docs", "-k", "1"];
    scene.spelunk(search).run().check(&expect![[r#"
        keys.md:3  similarity 0.76
            The password is read from the environment.
        --- stderr
        the index was rebuilt: its catalogue is truncated
        1 passage · 2 documents searched by words and meaning
        --- exit 0
    "#]]);
    // It is repaired.
    scene.spelunk(search).run().check(&expect![[r#"
        keys.md:3  similarity 0.76
            The password is read from the environment.
        --- stderr
        1 passage · 2 documents searched by words and meaning
        --- exit 0
    "#]]);
    // Damage to any file is detected, except to those that nothing is read from.
    let mut unseen = Vec::new();
    for n in 0..files_below(&index).len() {
        let file = files_below(&index).swap_remove(n);
        let n_bytes = std::fs::metadata(&file).unwrap().len();
        std::fs::write(&file, vec![b'x'; usize::try_from(n_bytes).unwrap()]).unwrap();
        let ran = scene.spelunk(["search", "password", "docs", "-k", "1", "--json"]).run();
        let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        assert_eq!(
            found["hits"][0]["document"],
            "keys.md",
            "{}: {}{}",
            file.display(),
            ran.stdout,
            ran.stderr
        );
        match found["notices"].as_array().unwrap().as_slice() {
            [] => unseen.push(file.file_name().unwrap().to_string_lossy().into_owned()),
            notices => assert_eq!((notices.len(), &notices[0]["code"]), (1, &json!("index-damaged"))),
        }
    }
    assert_eq!(unseen, ["commit.lock", "update.lock", ".tantivy-meta.lock", ".tantivy-writer.lock"]);
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

#[test]
fn the_index_of_contexts_is_built_anew_as_well() {
    let scene = Scene::new(&FILES);
    assert_eq!(scene.spelunk(["context", "add", "docs/keys.md"]).run().code, 0);
    let search = ["context", "search", "password", "--semantic"];
    assert_eq!(scene.spelunk(search).run().code, 0);
    std::fs::remove_file(index_of(&scene).join("catalogue")).unwrap();
    scene.spelunk(search).run().check(&expect![[r#"
        keys:3  similarity 0.76
            The password is read from the environment.
        [the index was rebuilt: its catalogue is missing]
        [1 passage in 1 context by meaning]
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_run_says_that_the_index_was_built_anew() {
    let scene = searched();
    std::fs::write(index_of(&scene).join("catalogue"), b"not a catalogue").unwrap();
    let model = crate::scene::answering("```repl\nFINAL(search('password', mode='hybrid')[0]['doc'])\n```");
    let ask = ["ask", "Where does the password come from?", "docs", "--strategy", "repl"];
    let ran = scene.spelunk(ask).server(&model).run();
    let said: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("rebuilt")).collect();
    assert_eq!(
        (ran.code, said),
        (0, vec!["warning: the index was rebuilt: its catalogue is truncated"]),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_index_that_another_process_updates_is_left_to_it() {
    let scene = searched();
    let lock = std::fs::OpenOptions::new().write(true).open(index_of(&scene).join("update.lock")).unwrap();
    lock.lock().unwrap();
    lock.set_len(0).unwrap();
    scene.write("docs/keys.md", b"# Keys\n\nThe password is read from a file.\n");
    // What is not in it is read.
    let read = scene.spelunk(["search", "password", "docs"]).run();
    assert_eq!(read.code, 0, "{}", read.stderr);
    assert!(read.stdout.contains("The password is read from a file."), "{}", read.stdout);
    assert!(read.stderr.contains("the index is being built"), "{}", read.stderr);
    let ran = scene.spelunk(["search", "password", "docs", "--mode", "meaning", "--json"]).run();
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &told["error"]["code"]), (1, &json!("index-locked")));
    scene.spelunk(["search", "password", "docs", "--mode", "meaning"]).run().check(&expect![[r#"
        --- stderr
        error: the index in `DIR/work/.spelunk/index-v1/9de985291461ebfb` is being updated by another process

        hint: wait until it is done, then search again
        --- exit 1
    "#]]);
    lock.unlock().unwrap();
    assert_eq!(scene.spelunk(["search", "password", "docs"]).run().code, 0);
}

#[test]
fn a_model_file_that_is_missing_damaged_or_something_else_is_named() {
    let scene = Scene::new(&FILES);
    let models = scene.home().join(".local/share/spelunk/models");
    std::fs::create_dir_all(&models).unwrap();
    let search = |mode: &'static str| {
        let args = ["search", "password", "docs", "-k", "1", "--mode", mode];
        scene.spelunk(args).env("SPELUNK_ROLES_EMBEDDING", "local:small").run()
    };
    search("meaning").check(&expect![[r#"
        --- stderr
        error: there is no model file at `DIR/home/.local/share/spelunk/models/small`

        hint: pass a directory with `model.safetensors` and `tokenizer.json`
        --- exit 1
    "#]]);
    search("hybrid").check(&expect![[r#"
        keys.md:3
            The password is read from the environment.
        --- stderr
        searched by words only: there is no model file at `DIR/home/.local/share/spelunk/models/small`
        1 passage · 2 documents searched by words
        --- exit 0
    "#]]);
    let table = std::fs::read(TABLE).unwrap();
    let mut damaged = table.clone();
    damaged[table.len() / 2] ^= 1;
    std::fs::write(models.join("small.bin"), &damaged).unwrap();
    search("meaning").check(&expect![[r#"
        --- stderr
        error: the model file `DIR/home/.local/share/spelunk/models/small.bin` is damaged: its checksum does not match

        hint: download the file again
        --- exit 1
    "#]]);
    std::fs::write(models.join("small.bin"), b"not a model, and long enough to hold a checksum").unwrap();
    search("meaning").check(&expect![[r#"
        --- stderr
        error: the model file `DIR/home/.local/share/spelunk/models/small.bin` has an unsupported format: it has an unknown header

        hint: use a static model in the model2vec format with a WordPiece tokenizer
        --- exit 1
    "#]]);
    std::fs::remove_file(models.join("small.bin")).unwrap();
    std::fs::create_dir(models.join("small")).unwrap();
    std::fs::write(models.join("small/tokenizer.json"), "{}").unwrap();
    search("meaning").check(&expect![[r#"
        --- stderr
        error: the model file `DIR/home/.local/share/spelunk/models/small/tokenizer.json` has an unsupported format: its tokenizer is not WordPiece

        hint: use a static model in the model2vec format with a WordPiece tokenizer
        --- exit 1
    "#]]);
    std::fs::remove_dir_all(models.join("small")).unwrap();
    // An intact one is used.
    std::fs::write(models.join("small.bin"), &table).unwrap();
    search("meaning").check(&expect![[r#"
        keys.md:3  similarity 0.76
            The password is read from the environment.
        --- stderr
        1 passage · 2 documents searched by meaning
        --- exit 0
    "#]]);
    let doctor = scene.spelunk(["doctor"]).env("SPELUNK_ROLES_EMBEDDING", "local:small").run();
    let line = doctor.stdout.lines().find(|line| line.contains("embedding")).unwrap_or_default();
    assert_eq!(
        line, "ok    embedding  potion-base-8M/int8 returns vectors with 256 dimensions",
        "{}",
        doctor.stdout
    );
}

#[test]
fn a_query_that_is_too_long_is_cut_and_that_is_said() {
    let scene = searched();
    let long = format!("password {}", "flour water ".repeat(9_000));
    scene.spelunk(["search", &long, "docs", "-k", "1", "--mode", "words"]).run().check(&expect![[r#"
        bread.md:3
            Flour and water make a loaf.
        --- stderr
        the query is too long; only its beginning was used; use fewer words
        1 passage · 2 documents searched by words
        --- exit 0
    "#]]);
    let ran = scene.spelunk(["search", &long, "docs", "-k", "1", "--json"]).run();
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    expect![[
        r#"[{"code":"query-too-long","message":"the query is too long; only its beginning was used"}]"#
    ]]
    .assert_eq(&found["notices"].to_string());
    // A megabyte is more than a command line can hold, and more than a tool accepts.
    let mut client = Client::plain(&scene);
    client.call("context_register", &json!({ "path": "docs/keys.md", "context_id": "keys" }));
    let longer = "password ".repeat(120_000);
    for mode in ["words", "meaning", "hybrid", "pattern"] {
        let told = client.text("context_search", &json!({ "query": longer, "mode": mode }));
        let refused = "FAILED error: the argument `query` has more than 10000 characters\n\nhint: see the schema of the tool";
        assert_eq!(told, refused, "{mode}");
    }
}

#[test]
fn a_language_that_no_tokenizer_knows_is_found_by_its_characters() {
    let scene = Scene::new(&[
        ("docs/am.md", "ሰላም ለዓለም። ዳቦ ከዱቄት ይሠራል።\n"),
        ("docs/km.md", "នំប៉័ងធ្វើពីម្សៅ។\n"),
        ("docs/pua.md", "\u{e000}\u{e001}\u{e002} \u{e003}\n"),
        ("docs/en.md", "Bread is made of flour.\n"),
    ]);
    for (query, document) in [("ዳቦ", "am.md"), ("ម្សៅ", "km.md"), ("flour", "en.md")] {
        for mode in ["words", "hybrid"] {
            let ran = scene.spelunk(["search", query, "docs", "-k", "1", "--mode", mode, "--json"]).run();
            let found: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(found["hits"][0]["document"], document, "{query} {mode}: {found}");
        }
    }
    // Text without letters of any language contains no words.
    scene.spelunk(["search", "\u{e000}\u{e001}", "docs"]).run().check(&expect![[r#"
        --- stderr
        the query contains no words
        0 passages · 4 documents searched by words and meaning
        --- exit 1
    "#]]);
    scene.spelunk(["search", "ዳቦ", "docs", "--mode", "meaning", "-k", "1"]).run().check(&expect![[r#"
        --- stderr
        the embedding model knows no word of the query; search by words
        0 passages · 4 documents searched by meaning
        --- exit 1
    "#]]);
}
