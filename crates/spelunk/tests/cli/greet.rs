//! `spelunk` without arguments.

use expect_test::expect;

use crate::scene::{NOTE, REPLY, Scene, answering};

#[test]
fn without_arguments_it_says_who_would_answer_and_what_is_here() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.write("a.txt", b"one");
    scene.write("b.txt", b"two");
    scene.write("c.rs", b"three");
    scene.spelunk([]).run().check(&expect![[r#"
        spelunk 0.1.0: ask questions of text too large for any model

        Model    none; `spelunk ask` shows the best passages instead of an answer
        Here     3 files (2 .txt, 1 .rs), 1 folder

          spelunk ask "what is this about?" .   ask about this folder
          spelunk search "words" .              find passages, without a model
          spelunk demo                          watch a run crash and resume; no key
          spelunk doctor                        check the model and the settings
          spelunk --help                        all commands
        --- stderr
        --- exit 0
    "#]]);
    assert!(!scene.exists(".spelunk"));
    scene.answered(&server);
    let greeted = scene.spelunk([]).server(&server).run();
    let said: Vec<&str> = greeted.stdout.lines().skip(2).take(3).collect();
    let expected = [
        "Model    openai/scripted (OPENAI_BASE_URL is set)",
        "Here     3 files (2 .txt, 1 .rs), 1 folder",
        "Runs     1 run (`spelunk run list`)",
    ];
    assert_eq!(said, expected);
}
