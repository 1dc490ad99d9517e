//! `spelunk show`: a run as it is, as it was, and what one of its calls said.

use expect_test::expect;

use crate::scene::{NOTE, REPLY, Scene, answering, short};

#[test]
fn a_run_is_shown_with_its_tree_and_answer() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.spelunk(["show"]).run().check(&expect![[""]]);
}

#[test]
fn a_run_is_found_by_the_beginning_of_its_name() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let whole = scene.spelunk(["show", &run]).run().stdout;
    let beginning: String = short(&run).chars().take(4).collect();
    assert_eq!(scene.spelunk(["show", &beginning]).run().stdout, whole);
    assert_eq!(scene.spelunk(["show"]).run().stdout, whole);
}

#[test]
fn a_run_can_be_seen_as_it_was_after_any_of_its_events() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let n_events = scene.journal(&run).len();
    let mut states = Vec::new();
    for seq in 0..=n_events + 1 {
        let ran = scene.spelunk(["show", "--at", &seq.to_string()]).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "at {seq}");
        let json = scene.spelunk(["show", "--json", "--at", &seq.to_string()]).run();
        let json = scene.normalise_json(&json.stdout);
        states.push(format!("{seq}: {} {} {}", json["events"], json["outcome"], json["calls"]));
    }
    expect![[""]].assert_eq(&states.join("\n"));
}

#[test]
fn a_run_is_shown_before_its_call_was_answered() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let started = scene.journal(&run).iter().position(|event| event["type"] == "call.started").unwrap() + 1;
    scene.spelunk(["show", "--at", &started.to_string()]).run().check(&expect![[""]]);
    scene.spelunk(["show", "--at", &started.to_string(), "--call", "0#0"]).run().check(&expect![[""]]);
}

#[test]
fn a_call_is_shown_with_its_prompt_and_reply() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.spelunk(["show", "--call", "0#0"]).run().check(&expect![[""]]);
}

#[test]
fn a_call_that_was_not_made_is_refused_with_those_that_were() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.spelunk(["show", "--call", "0.1#3"]).run().check(&expect![[""]]);
}

#[test]
fn json_holds_the_whole_run() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    let ran = scene.spelunk(["show", "--json"]).run();
    expect![[""]].assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
}
