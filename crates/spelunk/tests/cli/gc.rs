//! `spelunk gc`: removes what no run needs and keeps the rest.

use expect_test::expect;

use crate::scene::{Scene, answering};

#[test]
fn garbage_is_counted_then_removed_and_runs_stay_whole() {
    let text = "The magic number is 42, as everybody knows by now.\n".repeat(200);
    let scene = Scene::new(&[("notes/long.md", &text)]);
    let reply = format!("Long.\n\n{}", "It is 42 indeed. ".repeat(1000));
    let server = answering(&reply);
    assert_eq!(scene.ask(&server).run().code, 0);
    let shown = |args: &[&'static str]| scene.spelunk(args.iter().copied()).run().stdout;
    let before = (shown(&["show"]), shown(&["show", "--call", "0#0"]));
    scene.write(".spelunk/tmp/999-0", b"left over");
    scene.write(
        ".spelunk/blobs/00/0000000000000000000000000000000000000000000000000000000000000000",
        b"unnamed",
    );
    scene.spelunk(["gc", "--dry-run"]).run().check(&expect![[r"
        would remove 2 files · 16 B · 2 blobs kept
        --- stderr
        --- exit 0
    "]]);
    assert!(scene.exists(".spelunk/tmp/999-0"));
    scene.spelunk(["gc"]).run().check(&expect![[r"
        removed 2 files · 16 B · 2 blobs kept
        --- stderr
        --- exit 0
    "]]);
    assert!(!scene.exists(".spelunk/tmp/999-0"));
    scene.spelunk(["gc"]).run().check(&expect![[r"
        removed 0 files · 0 B · 2 blobs kept
        --- stderr
        --- exit 0
    "]]);
    assert_eq!((shown(&["show"]), shown(&["show", "--call", "0#0"])), before);
}

#[test]
fn without_a_workspace_there_is_nothing_to_remove_and_nothing_is_made() {
    let scene = Scene::new(&[]);
    scene.spelunk(["gc"]).run().check(&expect![[r"
        removed 0 files · 0 B · 0 blobs kept
        --- stderr
        --- exit 0
    "]]);
    assert!(!scene.exists(".spelunk"));
}
