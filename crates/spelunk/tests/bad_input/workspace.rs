//! Workspaces that cannot be used.

use expect_test::expect;

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering};

#[test]
fn a_workspace_that_is_a_file_is_refused_and_left_alone() {
    let (scene, server) = (Scene::new(&[("notes/a.md", "x\n"), (".spelunk", "a file\n")]), answering(REPLY));
    scene.ask(&server).run().check(&expect![[r"
        --- stderr
        error: could not use the workspace `DIR/work/.spelunk`
          caused by: Not a directory (os error 20)

        hint: choose a writable directory with `--set workspace.path=DIR`
        --- exit 1
    "]]);
    assert_eq!(scene.read(".spelunk"), "a file\n");
}

#[test]
fn a_workspace_of_another_format_is_refused_and_left_alone() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.write(".spelunk/workspace.toml", b"format = 7\n");
    scene.ask(&server).run().check(&expect![[r#"
        --- stderr
        error: the workspace `DIR/work/.spelunk` has the format `format = 7`, which this version does not support

        hint: use the version that wrote it, or a newer one
        --- exit 1
    "#]]);
    scene.spelunk(["run", "list"]).run().check(&expect![[r#"
        --- stderr
        error: the workspace `DIR/work/.spelunk` has the format `format = 7`, which this version does not support

        hint: use the version that wrote it, or a newer one
        --- exit 1
    "#]]);
    assert_eq!(scene.read(".spelunk/workspace.toml"), "format = 7\n");
    assert_eq!(std::fs::read_dir(scene.path(".spelunk")).unwrap().count(), 1);
}

#[test]
fn a_workspace_elsewhere_is_used_where_it_is_named() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ask = scene.spelunk(["ask", QUESTION, "--workspace", "../home/runs"]).server(&server);
    assert_eq!(ask.run().code, 0);
    assert!(!scene.exists(".spelunk"));
    let listed = scene.spelunk(["run", "list", "--workspace", "../home/runs"]).run();
    assert_eq!(listed.stdout.lines().count(), 2);
}
