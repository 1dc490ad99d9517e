//! The reply cache: an answered question is not paid for again, unless the user asks for that.

use expect_test::expect;

use crate::scene::{NOTE, REPLY, Scene, answering, n_calls};

#[test]
fn the_same_question_is_answered_from_the_cache() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.ask(&server).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B read · 0 calls, 1 from cache · 0 tokens · $0.00 · TIME · run SHORT2
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn no_cache_asks_again() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.ask(&server).arg("--no-cache").run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT2
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 2);
}

#[test]
fn the_oldest_replies_go_when_the_cache_is_larger_than_it_may_be() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ask = |question: &str, bytes_max: &str| {
        let set = format!("--set=limits.cache_bytes_max={bytes_max}");
        let ran = scene.spelunk(["ask", question, "notes"]).server(&server).arg(&set).run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    };
    ask("What is the magic number?", "1000000");
    let kept = records(&scene);
    let [(old, bytes)] = kept.as_slice() else { panic!("{kept:?}") };
    // A minute older than everything that follows.
    let minute_ago = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    std::fs::File::options().write(true).open(old).unwrap().set_modified(minute_ago).unwrap();
    let room = (bytes * 3 / 2).to_string();
    ask("Which number is magic?", &room);
    let kept = records(&scene);
    assert!(kept.len() == 1 && kept[0].0 != *old, "{kept:?}");
    // A run that stores nothing leaves the cache unchanged, however small its limit is.
    ask("Which number is magic?", "0");
    assert_eq!(records(&scene), kept);
    ask("And what is it?", "0");
    assert_eq!(records(&scene), []);
    assert_eq!(n_calls(&server), 3);
}

/// The files of the cache and their sizes.
fn records(scene: &Scene) -> Vec<(std::path::PathBuf, u64)> {
    let shards = std::fs::read_dir(scene.path(".spelunk/replies-v1")).unwrap();
    let files = shards.flat_map(|shard| std::fs::read_dir(shard.unwrap().path()).unwrap());
    files.map(|file| file.unwrap()).map(|file| (file.path(), file.metadata().unwrap().len())).collect()
}
