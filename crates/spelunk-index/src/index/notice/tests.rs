//! The codes and exact messages of index problems.

use std::fmt::Write as _;
use std::path::PathBuf;

use expect_test::expect;
use spelunk_types::Explain;

use super::*;

#[test]
fn notices_have_codes_and_texts() {
    let unreachable = EmbedError::Remote { model: "m".into(), why: "no route".into(), source: None };
    let embed = IndexError::Embed { source: unreachable };
    let no_vectors = IndexError::NoVectors { directory: "i".into() };
    let notices = [
        Notice::QueryCut,
        Notice::NothingAsked,
        Notice::UnknownWords,
        Notice::words_only(&embed),
        Notice::words_only(&no_vectors),
        Notice::Unreadable(format!("a\u{1b}[2Jb{}", "x".repeat(300))),
        Notice::Rebuilt(Rebuilt::Damaged("its catalogue is missing".into())),
        Notice::Rebuilt(Rebuilt::OtherModel),
        Notice::Rebuilt(Rebuilt::OtherCut),
        Notice::Rebuilt(Rebuilt::Compacted),
    ];
    let mut shown = String::new();
    for notice in notices {
        let code = notice.code().map_or("-", ErrorCode::name);
        let hint = notice.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        writeln!(shown, "{code}: {}{hint}", notice.to_string().replace("xxxxxxxxxx", "")).unwrap();
    }
    expect![[r#"
        query-too-long: the query is too long; only its beginning was used; use fewer words
        usage-wrong: the query contains no words
        -: the embedding model knows no word of the query; search by words
        model-unreachable: searched by words only: the embedding model `m` did not respond: no route; check that the server is running and that `--base-url` is correct, then run `spelunk doctor`
        index-other-model: searched by words only: the index in `i` has no vectors, so it cannot be searched by meaning; search again to rebuild it, or restore the previous `roles.embedding`
        source-unreadable: `a[2Jbxxxxx` can no longer be read
        index-damaged: the index was rebuilt: its catalogue is missing
        index-other-model: the index was rebuilt for another embedding model
        settings-changed: the index was rebuilt because the content types have changed
        -: the index was rebuilt to free space
    "#]]
    .assert_eq(&shown);
}

#[test]
fn errors_have_codes_texts_and_hints() {
    let directory = PathBuf::from("index");
    let path = PathBuf::from("models/small");
    let io = || std::io::Error::other("disk on fire");
    let embed = |source: EmbedError| IndexError::Embed { source };
    let errors: [IndexError; 11] = [
        IndexError::Disk { directory: directory.clone(), source: io() },
        IndexError::Damaged { directory: directory.clone(), why: "its catalogue is missing".into() },
        IndexError::Locked { directory: directory.clone(), pid: Some(7) },
        IndexError::Locked { directory: directory.clone(), pid: None },
        IndexError::NoVectors { directory: directory.clone() },
        IndexError::OtherModel { directory, made_with: "a".into(), asked: "b".into() },
        embed(EmbedError::Missing { path: path.clone() }),
        embed(EmbedError::Unreadable { path: path.clone(), source: io() }),
        embed(EmbedError::Checksum { path: path.clone() }),
        embed(EmbedError::Form { path, why: "it is too short" }),
        embed(EmbedError::Shape { model: "m".into(), asked: 2, given: 1, dimensions: 3 }),
    ];
    let mut shown = String::new();
    for error in errors {
        let text =
            if let IndexError::Embed { source } = &error { source.to_string() } else { error.to_string() };
        writeln!(shown, "{}: {text}; {}", error.code(), error.hint().unwrap_or_default()).unwrap();
    }
    expect![[r#"
        workspace-unusable: could not use the index in `index`; free some space there, or check its permissions
        index-damaged: the index in `index` is damaged: its catalogue is missing; search again: the index is rebuilt from the documents
        index-locked: the index in `index` is being updated by process 7; wait until it is done, then search again
        index-locked: the index in `index` is being updated by another process; wait until it is done, then search again
        index-other-model: the index in `index` has no vectors, so it cannot be searched by meaning; search by words, or update it with an embedding model
        index-other-model: the index in `index` was built with the embedding model `a`, not `b`; update it, or search with the model it was built with
        embedding-model-missing: there is no model file at `models/small`; pass a directory with `model.safetensors` and `tokenizer.json`
        embedding-model-damaged: could not read the model file `models/small`; check that it is readable
        embedding-model-damaged: the model file `models/small` is damaged: its checksum does not match; download the file again
        embedding-model-damaged: the model file `models/small` has an unsupported format: it is too short; use a static model in the model2vec format with a WordPiece tokenizer
        model-reply-malformed: the embedding model `m` gave 1 vectors of 3 numbers for 2 texts; choose another embedding model
    "#]].assert_eq(&shown);
}
