//! The disk is full in the middle of a run, simulated by a limit on the file size: the reply does not fit.

use expect_test::expect;
use spelunk_testkit::ModelServer;

use crate::scene::{NOTE, QUESTION, Scene, answering, n_calls};

/// Larger than the file size limit: `ulimit -f` counts blocks of 512 or 1024 bytes.
const REPLY_BYTES: usize = 300_000;
/// The citation below it.
const CITED: &str = "  a.md:3  The magic number is 42.\n";

fn server() -> ModelServer {
    answering(&"42 ".repeat(REPLY_BYTES / 3))
}

#[test]
fn a_reply_that_cannot_be_kept_is_an_error_and_the_run_goes_on_when_there_is_room() {
    let (scene, server) = (Scene::new(&NOTE), server());
    // With the signal ignored, a write past the limit is an error, as on a full disk.
    let ask = scene.after_shell("trap '' XFSZ; ulimit -f 64", ["ask", QUESTION, "notes"]).server(&server);
    ask.run().check(&expect![[r#"
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 0 B read of 35 B · 1 call · 0 tokens · $0.00 · TIME · run SHORT
        error: could not write `blobs/30/HASH`
          caused by: File too large (os error 27)

        hint: raise `ulimit -f`, then run `spelunk resume`: nothing acknowledged is lost
        Continue: spelunk resume SHORT
        --- exit 1
    "#]]);
    let resumed = scene.spelunk(["resume"]).run();
    assert_eq!((resumed.code, resumed.stdout.len()), (0, REPLY_BYTES + CITED.len()), "{}", resumed.stderr);
    assert_eq!(n_calls(&server), 2);
    assert_eq!(std::fs::read_dir(scene.path(".spelunk/tmp")).unwrap().count(), 0);
}

#[test]
fn the_signal_of_a_file_that_is_too_large_is_an_error_with_words_too() {
    let (scene, server) = (Scene::new(&NOTE), server());
    let ran = scene.after_shell("ulimit -f 64", ["ask", QUESTION, "notes"]).server(&server).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("caused by: File too large"), "{}", ran.stderr);
    let resumed = scene.spelunk(["resume"]).run();
    assert_eq!((resumed.code, resumed.stdout.len()), (0, REPLY_BYTES + CITED.len()), "{}", resumed.stderr);
    assert_eq!(n_calls(&server), 2);
}
