//! `spelunk tail`: a run as it happens, even from another process.

use expect_test::expect;
use spelunk_testkit::{Gate, ModelServer};

use crate::scene::{NOTE, REPLY, Ran, Scene, answering, short, to_all, wait_at, wait_for};

#[test]
fn a_finished_run_is_told_from_its_beginning() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.spelunk(["tail"]).run().check(&expect![[r"
            1  run.started      direct openai/scripted
            2  source.scanned   documents=1 bytes=35
            3  frame.opened     0 direct
            4  passages.chosen  0 documents=1 bytes=35 of=35
            5  call.started     0#0
            6  call.settled     0#0 replied live tokens=100+20
            7  citation.checked 0 exact a.md:3
            8  frame.closed     0 answered cited=1
            9  run.finished     answered
        --- stderr
        --- exit 0
    "]]);
}

#[test]
fn a_run_can_be_told_from_any_event_on() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    scene.spelunk(["tail", short(&run), "--after", "7"]).run().check(&expect![[r"
            8  frame.closed     0 answered cited=1
            9  run.finished     answered
        --- stderr
        --- exit 0
    "]]);
}

#[test]
fn json_is_what_the_journal_holds() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let ran = scene.spelunk(["tail", "--json"]).run();
    let told: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut journal = scene.journal(&run);
    for event in &mut journal {
        event.as_object_mut().unwrap().remove("sum");
    }
    assert_eq!(told, journal);
}

#[test]
fn a_run_of_another_process_is_followed_to_its_end() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let asking = scene.ask(&server).start();
    wait_at(&gate, &server);
    let run = wait_for("the first event", || scene.runs().pop());
    let following = scene.spelunk(["tail", short(&run)]).start();
    gate.open();
    let asked = Ran::of(&scene, asking.wait_with_output().unwrap());
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    Ran::of(&scene, following.wait_with_output().unwrap()).check(&expect![[r"
            1  run.started      direct openai/scripted
            2  source.scanned   documents=1 bytes=35
            3  frame.opened     0 direct
            4  passages.chosen  0 documents=1 bytes=35 of=35
            5  call.started     0#0
            6  call.settled     0#0 replied live tokens=100+20
            7  citation.checked 0 exact a.md:3
            8  frame.closed     0 answered cited=1
            9  run.finished     answered
        --- stderr
        --- exit 0
    "]]);
}
