//! `spelunk ask --open`: the page of a run, served by the process that drives it.

use std::io::{BufRead as _, BufReader};

use super::client::Server;
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering};

#[test]
fn the_page_of_a_run_is_served_to_whoever_has_its_address_and_until_ctrl_c() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    // A fake browser that records the URL it was to open.
    scene.write("bin/xdg-open", b"#!/bin/sh\necho \"$1\" > opened.tmp && mv opened.tmp opened\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(scene.path("bin/xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", scene.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    // The page shows lines of the sources, wherever they are.
    let notes = scene.root().join("elsewhere");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::write(notes.join("a.md"), NOTE[0].1).unwrap();
    let notes = notes.display().to_string();
    let asking = scene.spelunk(["ask", QUESTION, &notes, "--open"]).server(&model);
    let mut asking = asking.env("PATH", &path).start();
    let mut said = Vec::new();
    for line in BufReader::new(asking.stderr.take().unwrap()).lines().map_while(Result::ok) {
        let is_last = line == "the page is served until you press Ctrl-C";
        said.push(line);
        if is_last {
            break;
        }
    }
    let url = said.iter().find_map(|line| line.strip_prefix("view the run at ")).unwrap().to_owned();
    let opened = crate::scene::wait_for("a browser", || std::fs::read_to_string(scene.path("opened")).ok());
    assert_eq!(opened.trim(), url);
    let run = scene.only_run();
    let (address, rest) = url.strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
    let (token, view) = rest.split_once('&').unwrap();
    assert_eq!(view, format!("/run/{run}"));
    let server = Server::of(asking, address.parse().unwrap());
    assert_eq!(server.get("/").status, 200);
    assert_eq!(server.get(&format!("/v1/runs/{run}")).problem(), (401, "token-missing".into()));
    let server = server.with_token(token);
    assert_eq!(server.get(&format!("/v1/runs/{run}/result")).json()["answer"], "The magic number is 42.");
    let source = server.get(&format!("/v1/runs/{run}/source?source=a.md&line=3&context=0")).json();
    assert_eq!(source["lines"], serde_json::json!(["The magic number is 42."]));
    assert_eq!(server.post("/v1/runs", &serde_json::json!({})).problem(), (403, "scope-missing".into()));
    assert_eq!(server.terminate(), Some(0));
}
