//! `spelunk mcp --install`: adds the server to client settings and keeps their content.

use expect_test::expect;

use crate::scene::Scene;

/// With the paths of this machine replaced.
fn shown(scene: &Scene, text: &str) -> String {
    scene.normalise(text).replace(env!("CARGO_BIN_EXE_spelunk"), "PROGRAM")
}

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
                "DIR/work/docs"
              ],
              "command": "PROGRAM"
            }
          },
          "more": 1
        }
    "#]]
    .assert_eq(&shown(&scene, &scene.read(".mcp.json")));
    scene.spelunk(install).run().check(&expect![[r#"
        --- stderr
        `spelunk` is already in `.mcp.json`
        --- exit 0
    "#]]);
    // A different entry is overwritten only on request.
    let before = scene.read(".mcp.json");
    scene.spelunk(["mcp", "--install", "claude-code"]).run().check(&expect![[r#"
        --- stderr
        error: `.mcp.json` was not changed: it has a different entry `spelunk`

        hint: add the entry by hand: `spelunk mcp --install claude-code --print` prints it; `--force` replaces an existing entry
        --- exit 2
    "#]]);
    assert_eq!(scene.read(".mcp.json"), before);
    scene.spelunk(["mcp", "--install", "claude-code", "--force"]).run().check(&expect![[r#"
        --- stderr
        added `spelunk` to `.mcp.json`
        --- exit 0
    "#]]);
    let after: serde_json::Value = serde_json::from_str(&scene.read(".mcp.json")).unwrap();
    assert_eq!(
        (&after["mcpServers"]["spelunk"]["args"], &after["more"]),
        (&serde_json::json!(["mcp"]), &serde_json::json!(1))
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one expectation")]
fn every_client_has_a_form_of_its_own() {
    let scene = Scene::new(&[]);
    for (client, file) in [
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
    ] {
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
              "command": "PROGRAM",
              "type": "stdio"
            }
          }
        }
    "#]]
    .assert_eq(&shown(&scene, &scene.read(".vscode/mcp.json")));
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
        command = "PROGRAM"
        args = ["mcp", "--root", 'DIR/work/a "b"']
    "##]]
    .assert_eq(&shown(&scene, &std::fs::read_to_string(&codex).unwrap()));
    scene.spelunk(["mcp", "--install", "codex", "--root", "a \"b\""]).run().check(&expect![[r#"
        --- stderr
        `spelunk` is already in `~/.codex/config.toml`
        --- exit 0
    "#]]);
    scene.spelunk(["mcp", "--install", "codex"]).run().check(&expect![[r#"
        --- stderr
        error: `~/.codex/config.toml` was not changed: it has a different entry `spelunk`

        hint: add the entry by hand: `spelunk mcp --install codex --print` prints it; `--force` replaces an existing entry
        --- exit 2
    "#]]);
    let own =
        std::fs::read_to_string(&codex).unwrap() + "\n[mcp_servers.spelunk.env]\nA = \"1\"\n\n[tui]\nb = 1\n";
    std::fs::write(&codex, own).unwrap();
    scene.spelunk(["mcp", "--install", "codex", "--force"]).run().check(&expect![[r#"
        --- stderr
        added `spelunk` to `~/.codex/config.toml`
        --- exit 0
    "#]]);
    expect![[r##"
        # mine
        model = "x"

        [tui]
        b = 1

        [mcp_servers.spelunk]
        command = "PROGRAM"
        args = ["mcp"]
    "##]]
    .assert_eq(&shown(&scene, &std::fs::read_to_string(&codex).unwrap()));
    std::fs::write(&codex, "mcp_servers = { other = { command = \"x\" } }\n").unwrap();
    scene.spelunk(["mcp", "--install", "codex"]).run().check(&expect![[r#"
        --- stderr
        error: `~/.codex/config.toml` was not changed: its servers have a form that cannot be edited automatically

        hint: add the entry by hand: `spelunk mcp --install codex --print` prints it; `--force` replaces an existing entry
        --- exit 2
    "#]]);
}

/// These start their servers in any directory, so the entry names the directory to read.
#[test]
fn a_client_that_starts_anywhere_is_told_the_root() {
    let scene = Scene::new(&[]);
    let config = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    for (client, file) in [
        ("claude-desktop", format!("{config}/Claude/claude_desktop_config.json")),
        ("windsurf", ".codeium/windsurf/mcp_config.json".to_owned()),
        ("zed", ".config/zed/settings.json".to_owned()),
        (
            "cline",
            format!(
                "{config}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
            ),
        ),
    ] {
        let ran = scene.spelunk(["mcp", "--install", client, "--tools", "tasks"]).run();
        assert_eq!((ran.code, ran.stderr), (0, format!("added `spelunk` to `~/{file}`\n")));
        let text = std::fs::read_to_string(scene.home().join(file)).unwrap();
        let args = r#""args":["mcp","--root","DIR/work","--tools","tasks"],"command":"PROGRAM""#;
        let compact: String = shown(&scene, &text).split_whitespace().collect();
        assert!(compact.contains(args), "{compact}");
    }
    expect![[r#"
        {
          "context_servers": {
            "spelunk": {
              "args": [
                "mcp",
                "--root",
                "DIR/work",
                "--tools",
                "tasks"
              ],
              "command": "PROGRAM",
              "source": "custom"
            }
          }
        }
    "#]]
    .assert_eq(&shown(
        &scene,
        &std::fs::read_to_string(scene.home().join(".config/zed/settings.json")).unwrap(),
    ));
    expect![[r#"
        {
          "mcp": {
            "spelunk": {
              "command": [
                "PROGRAM",
                "mcp"
              ],
              "enabled": true,
              "type": "local"
            }
          }
        }
    "#]]
    .assert_eq(&shown(&scene, &scene.spelunk(["mcp", "--install", "opencode", "--print"]).run().stdout));
}

#[test]
fn settings_that_cannot_be_read_are_left_alone() {
    for text in ["// a comment\n{}", "[1]", "{\"mcpServers\": 7}", "{", "\u{0}"] {
        let scene = Scene::new(&[(".mcp.json", text)]);
        let ran = scene.spelunk(["mcp", "--install", "claude-code"]).run();
        assert!(ran.code == 2 && ran.stderr.contains("was not changed"), "{text}: {}", ran.stderr);
        assert_eq!(scene.read(".mcp.json"), text);
    }
    let scene = Scene::new(&[]);
    scene.spelunk(["mcp", "--install", "emacs"]).run().check(&expect![[r#"
        --- stderr
        error: there is no client `emacs`

        hint: choose one of claude-code, claude-desktop, cursor, vscode, windsurf, zed, codex, gemini, opencode, cline
        --- exit 2
    "#]]);
    let ran = scene.spelunk(["mcp", "--install", "windsurff"]).run();
    assert!(ran.stderr.contains("hint: did you mean `windsurf`? choose one of"), "{}", ran.stderr);
}
