//! Secrets in documents: they are not sent, not kept and not shown, unless a person says so.

use expect_test::expect;

use crate::scene::{QUESTION, Scene, answering};

const TOKEN: &str = "ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i";
const REPLY: &str = "bob.\n\n```evidence\na.txt:1: user = bob\n```";

fn scene() -> Scene {
    let text = format!("user = bob\ntoken = {TOKEN}\nThe magic number is 42.\n");
    Scene::new(&[("notes/a.txt", &text), ("notes/.env", "KEY=1\n")])
}

#[test]
fn a_token_in_a_file_is_not_sent_and_that_is_said() {
    let (scene, server) = (scene(), answering(REPLY));
    scene.ask(&server).run().check(&expect![[""]]);
    let bodies: Vec<String> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies.iter().filter(|body| body.contains(TOKEN)).count(), 0);
    assert_eq!(bodies.iter().filter(|body| body.contains("magic number is 42")).count(), 1);
    let holding = super::files_below(&scene.path(".spelunk"));
    let holds = |path: &&std::path::PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes())
    };
    assert_eq!(holding.iter().filter(holds).count(), 0);
}

#[test]
fn a_token_is_sent_where_a_person_says_so() {
    let (scene, server) = (scene(), answering(REPLY));
    scene.spelunk(["ask", QUESTION, "notes", "--allow-secrets"]).server(&server).run().check(&expect![[""]]);
    let sent = server.requests().iter().filter(|request| request.body.contains(TOKEN)).count();
    assert_eq!(sent, 1);
}

#[test]
fn a_person_may_say_so_for_one_file() {
    let (scene, server) = (scene(), answering(REPLY));
    scene.write("notes/b.txt", format!("other = {TOKEN}\n").as_bytes());
    let ask = ["ask", QUESTION, "notes", "--allow-secret", "b.txt"];
    scene.spelunk(ask).server(&server).run().check(&expect![[""]]);
    let requests = server.requests();
    let prompt = requests.last().unwrap().prompt();
    let shown = [format!("token = {TOKEN}"), format!("other = {TOKEN}")].map(|line| prompt.contains(&line));
    assert_eq!(shown, [false, true]);
}

#[test]
fn passages_without_a_model_are_without_tokens_too() {
    scene().spelunk(["ask", "bob token", "notes"]).run().check(&expect![[""]]);
}

#[test]
fn a_plan_says_what_was_taken_out() {
    let ran = scene().spelunk(["plan", "notes"]).run();
    expect![[""]].assert_eq(&ran.stderr);
}
