//! The official Python SDK as the client, with its own model, in both eras of the protocol. If Python or its packages
//! are unavailable, the test prints SKIPPED and checks nothing.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::scene::{NOTE, Scene, python};
use crate::tools;

const PACKAGE: &str = "mcp>=2.3,<3";

#[test]
fn the_official_client_gets_along_in_both_eras() {
    let Some(python) = python("mcp-sdk", &[PACKAGE], "mcp.client") else {
        println!("SKIPPED: there is no Python with the package `mcp`");
        return;
    };
    for mode in ["legacy", "auto"] {
        let scene = Scene::new(&NOTE);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/sdk_client.py");
        let mut command = Command::new(&python);
        command.arg(script).arg(env!("CARGO_BIN_EXE_spelunk")).arg(scene.path("")).arg(mode);
        let ran = command.output().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{mode}: {stdout}{stderr}");
        expect![[r##"
            {
             "tools": 9,
             "grep": "The magic number is 42.",
             "wrong": [
              true,
              "error: there is no context `nope`"
             ],
             "answer": "The magic number is 42.",
             "model": "mcp/theirs",
             "progress": true,
             "cell": "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
             "resources": [
              "spelunk://context/a"
             ],
             "resource": "# Numbers",
             "prompts": [
              "rlm-session",
              "review-directory"
             ],
             "prompt": "Question: Why?",
             "sampled": 31,
             "ten_rounds": [
              false,
              "10"
             ]
            }
        "##]]
        .assert_eq(&stdout);
    }
}

#[test]
fn the_official_client_asks_its_user_before_a_tool_acts_in_both_eras() {
    let Some(python) = python("mcp-sdk", &[PACKAGE], "mcp.client") else {
        println!("SKIPPED: there is no Python with the package `mcp`");
        return;
    };
    for mode in ["legacy", "auto"] {
        for (allow, said, n_booked) in
            [("yes", "seat 1", 1), ("no", "the user does not allow this call of `book`", 0)]
        {
            let scene = tools::scene(&format!("[ask]\ntools = \"book\"\n{}", tools::BOOK));
            let model = tools::writing(&[tools::BOOKING]);
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/sdk_consent.py");
            let mut command = Command::new(&python);
            command.arg(script).arg(env!("CARGO_BIN_EXE_spelunk")).arg(scene.path("")).args([mode, allow]);
            command.env("HOME", scene.home()).env("OPENAI_BASE_URL", model.base_url());
            let ran = command.output().unwrap();
            let (stdout, stderr) =
                (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            assert!(ran.status.success(), "{mode}: {stdout}{stderr}");
            let asked = r#"wants to call book with {"seat":"7A"}"#;
            assert_eq!(stdout, format!("{asked}\n{said}\n"), "{mode}: {stderr}");
            assert_eq!(tools::booked(&scene).lines().count(), n_booked, "{mode}");
        }
    }
}
