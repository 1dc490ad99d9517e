//! `spelunk mcp --install`: adds the server to client settings and keeps their content.

use expect_test::expect;

use crate::scene::Scene;

#[test]
fn the_server_is_put_beside_what_is_there_and_only_once() {
    let scene = Scene::new(&[(".mcp.json", r#"{"mcpServers": {"other": {"command": "x"}}, "more": 1}"#)]);
    let install = ["mcp", "--install", "claude-code", "--root", "docs"];
    scene.spelunk(install).run().check(&expect![[r#"
        --- stderr
        added `spelunk` to `.mcp.json`
        --- exit 0
    "#]]);
    expect![[r#"
        {
          "mcpServers": {
            "other": {
              "command": "x"
            },
            "spelunk": {
              "args": [
                "mcp",
                "--root",
                "docs"
              ],
              "command": "spelunk"
            }
          },
          "more": 1
        }
    "#]]
    .assert_eq(&scene.read(".mcp.json"));
    scene.spelunk(install).run().check(&expect![[r#"
        --- stderr
        `spelunk` is in `.mcp.json` already
        --- exit 0
    "#]]);
    // A different entry is never overwritten.
    let before = scene.read(".mcp.json");
    scene.spelunk(["mcp", "--install", "claude-code"]).run().check(&expect![[r#"
        --- stderr
        error: `.mcp.json` is left alone: it has another entry `spelunk`

        hint: put the entry in by hand; `spelunk mcp --install claude-code --print` shows it
        --- exit 2
    "#]]);
    assert_eq!(scene.read(".mcp.json"), before);
}

#[test]
fn every_client_has_a_form_of_its_own() {
    let scene = Scene::new(&[]);
    for (client, file) in
        [("cursor", ".cursor/mcp.json"), ("vscode", ".vscode/mcp.json"), ("gemini", ".gemini/settings.json")]
    {
        let shown = scene.spelunk(["mcp", "--install", client, "--print"]).run();
        assert!(shown.code == 0 && !scene.exists(file), "{}", shown.stderr);
        assert_eq!(scene.spelunk(["mcp", "--install", client]).run().code, 0);
        assert_eq!(scene.read(file), shown.stdout);
    }
    expect![[r#"
        {
          "servers": {
            "spelunk": {
              "args": [
                "mcp"
              ],
              "command": "spelunk",
              "type": "stdio"
            }
          }
        }
    "#]]
    .assert_eq(&scene.read(".vscode/mcp.json"));
    std::fs::create_dir_all(scene.home().join(".codex")).unwrap();
    let codex = scene.home().join(".codex/config.toml");
    std::fs::write(&codex, "# mine\nmodel = \"x\"").unwrap();
    scene.spelunk(["mcp", "--install", "codex", "--root", "a \"b\""]).run().check(&expect![[r#"
        --- stderr
        added `spelunk` to `~/.codex/config.toml`
        --- exit 0
    "#]]);
    expect![[r##"
        # mine
        model = "x"

        [mcp_servers.spelunk]
        command = "spelunk"
        args = ["mcp", "--root", 'a "b"']
    "##]]
    .assert_eq(&std::fs::read_to_string(&codex).unwrap());
    scene.spelunk(["mcp", "--install", "codex", "--root", "a \"b\""]).run().check(&expect![[r#"
        --- stderr
        `spelunk` is in `~/.codex/config.toml` already
        --- exit 0
    "#]]);
    scene.spelunk(["mcp", "--install", "codex"]).run().check(&expect![[r#"
        --- stderr
        error: `~/.codex/config.toml` is left alone: it has another entry `spelunk`

        hint: put the entry in by hand; `spelunk mcp --install codex --print` shows it
        --- exit 2
    "#]]);
    std::fs::write(&codex, "mcp_servers = { other = { command = \"x\" } }\n").unwrap();
    scene.spelunk(["mcp", "--install", "codex"]).run().check(&expect![[r#"
        --- stderr
        error: `~/.codex/config.toml` is left alone: its servers are written in a form that cannot be added to

        hint: put the entry in by hand; `spelunk mcp --install codex --print` shows it
        --- exit 2
    "#]]);
}

#[test]
fn settings_that_cannot_be_read_are_left_alone() {
    for text in ["// a comment\n{}", "[1]", "{\"mcpServers\": 7}", "{", "\u{0}"] {
        let scene = Scene::new(&[(".mcp.json", text)]);
        let ran = scene.spelunk(["mcp", "--install", "claude-code"]).run();
        assert!(ran.code == 2 && ran.stderr.contains("is left alone"), "{text}: {}", ran.stderr);
        assert_eq!(scene.read(".mcp.json"), text);
    }
    let scene = Scene::new(&[]);
    scene.spelunk(["mcp", "--install", "emacs"]).run().check(&expect![[r#"
        --- stderr
        error: there is no client `emacs`

        hint: choose one of claude-code, cursor, vscode, gemini, codex
        --- exit 2
    "#]]);
}
