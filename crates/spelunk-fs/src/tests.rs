#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests place hostile files by hand")]

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::time::Duration;

use super::*;

/// A private directory, and another directory outside it that contains a file.
struct Stage {
    dir: PrivateDir,
    outside: PathBuf,
    _temp: tempfile::TempDir,
}

fn stage() -> Stage {
    let temp = tempfile::tempdir().unwrap();
    let outside = temp.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "theirs").unwrap();
    Stage { dir: PrivateDir::new(temp.path().join("root")), outside, _temp: temp }
}

fn write(dir: &PrivateDir, name: &str, text: &str) {
    dir.create_new(name, Durability::Unsynced).unwrap().write_all(text.as_bytes()).unwrap();
}

fn read(dir: &PrivateDir, name: &str) -> io::Result<String> {
    let mut text = String::new();
    dir.open(name)?.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn a_second_name_is_the_same_file_and_both_are_read_only() {
    let Stage { dir, _temp, .. } = stage();
    write(&dir, "a", "text");
    dir.link("a", "b/c").unwrap();
    assert_eq!(dir.link("a", "b/c").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let metadata = |name: &str| dir.root().join(name).metadata().unwrap();
    assert_eq!((metadata("a").ino(), metadata("a").nlink()), (metadata("b/c").ino(), 2));
    assert_eq!(metadata("a").mode() & 0o777, 0o400);
    dir.remove_file("a").unwrap();
    assert_eq!(read(&dir, "b/c").unwrap(), "text");
}

#[test]
fn files_are_written_read_listed_renamed_and_removed() {
    let Stage { dir, _temp, .. } = stage();
    assert_eq!(dir.list("").unwrap(), []);
    write(&dir, "a/b/c", "text");
    dir.open_to_append("a/b/c").unwrap().write_all(b" more").unwrap();
    dir.rename("a/b/c", "d/e", Durability::Synced).unwrap();
    assert_eq!(read(&dir, "d/e").unwrap(), "text more");
    let files: Vec<String> = dir.files_below("").unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(files, ["d/e"]);
    assert!(dir.is_file("d/e") && !dir.is_file("d") && !dir.is_file("a/b/c"));
    let mode = |name: &str| dir.root().join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("d/e"), mode("d"), mode("")), (0o600, 0o700, 0o700));
    dir.remove_all("d").unwrap();
    dir.remove_all("d").unwrap();
    assert_eq!(dir.list("d").unwrap(), []);
    assert_eq!(dir.entry("d").unwrap(), None);
}

#[test]
fn names_stay_below_the_root() {
    let Stage { dir, _temp, .. } = stage();
    for name in ["..", "../outside/file", "/etc/passwd", "a//b", "a/./b", "a/../b", "a\\b", "a\0b", "a/"] {
        let refused = |error: io::Error| assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name:?}");
        refused(dir.open(name).unwrap_err());
        refused(dir.create_new(name, Durability::Unsynced).unwrap_err());
        refused(dir.remove_all(name).unwrap_err());
        refused(dir.list(name).unwrap_err());
    }
}

/// Every operation through a link to a directory, and on a link to a file.
#[test]
fn no_operation_follows_a_link() {
    let Stage { dir, outside, _temp } = stage();
    write(&dir, "own", "ours");
    symlink(&outside, dir.root().join("folder")).unwrap();
    symlink(outside.join("file"), dir.root().join("link")).unwrap();
    symlink("own", dir.root().join("inner")).unwrap();
    for name in ["folder/file", "link", "inner"] {
        assert!(dir.open(name).is_err(), "{name}");
        assert!(dir.open_to_write(name).is_err(), "{name}");
        assert!(dir.open_to_append(name).is_err(), "{name}");
        assert!(dir.open_or_create(name).is_err(), "{name}");
        assert!(dir.create_new(name, Durability::Unsynced).is_err(), "{name}");
        assert!(!dir.is_file(name), "{name}");
    }
    assert!(dir.list("folder").is_err());
    assert!(dir.stage("folder", "").is_err());
    assert!(dir.remove_file("folder/file").is_err());
    assert!(dir.remove_all("folder/file").is_err());
    assert!(dir.rename("own", "folder/file", Durability::Unsynced).is_err());
    assert!(dir.rename("folder/file", "mine", Durability::Unsynced).is_err());
    assert!(dir.make_dir("folder/new", Durability::Unsynced).is_err());
    assert!(dir.plain_dir("folder").is_err());
    assert!(dir.plain_dir("").is_err());
    // A rename onto a link replaces the link; removing a link leaves its target.
    dir.rename("own", "link", Durability::Unsynced).unwrap();
    assert_eq!(read(&dir, "link").unwrap(), "ours");
    dir.remove_all("folder").unwrap();
    assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "theirs");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_link_below_a_removed_directory_is_removed_and_not_followed() {
    let Stage { dir, outside, _temp } = stage();
    write(&dir, "a/b", "ours");
    symlink(&outside, dir.root().join("a/link")).unwrap();
    assert_eq!(dir.files_below("a").unwrap().len(), 1);
    assert_eq!(dir.first_special("").unwrap().as_deref(), Some("a/link"));
    dir.remove_all("a").unwrap();
    assert!(outside.join("file").exists() && dir.entry("a").unwrap().is_none());
}

#[test]
fn a_file_is_replaced_whole_and_nothing_is_left_behind() {
    let Stage { dir, _temp, .. } = stage();
    for (durability, text) in [(Durability::Synced, "first"), (Durability::Unsynced, "second")] {
        dir.replace(("tmp", "s-"), "a/b", text.as_bytes(), durability).unwrap();
        assert_eq!(read(&dir, "a/b").unwrap(), text);
    }
    // A file cannot replace a directory.
    assert!(dir.replace(("tmp", "s-"), "a", b"third", Durability::Unsynced).is_err());
    let files: Vec<String> = dir.files_below("").unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(files, ["a/b"]);
}

#[test]
fn a_held_lock_names_its_process_and_is_free_once_the_file_is_closed() {
    let Stage { dir, _temp, .. } = stage();
    let open = || dir.open_or_create("lock").unwrap();
    let held = lock_file(open(), Duration::ZERO).unwrap();
    let refused = lock_file(open(), Duration::ZERO).unwrap_err();
    assert!(matches!(refused, LockError::Held(Some(pid)) if pid == std::process::id()), "{refused:?}");
    drop(held);
    // A process that another test starts has a copy of the file until it runs its own program.
    lock_file(open(), Duration::from_mins(1)).unwrap();
}

#[test]
fn a_pipe_is_refused_at_once() {
    let Stage { dir, _temp, .. } = stage();
    write(&dir, "own", "ours");
    let made = std::process::Command::new("mkfifo").arg(dir.root().join("pipe")).status().unwrap();
    assert!(made.success());
    for opened in [dir.open("pipe"), dir.open_to_append("pipe"), dir.open_or_create("pipe")] {
        assert_eq!(opened.unwrap_err().to_string(), "`pipe` is a symbolic link or a special file; remove it");
    }
}

#[test]
fn only_a_regular_file_is_there_to_be_opened_as_one() {
    let Stage { dir, outside, _temp } = stage();
    write(&dir, "own", "ours");
    let [pipe, link] = ["pipe", "link"].map(|name| dir.root().join(name));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink(outside.join("file"), &link).unwrap();
    for absent in [&pipe, &link, &outside, &outside.join("other")] {
        assert_eq!(open_regular(absent).unwrap_err().kind(), io::ErrorKind::NotFound, "{}", absent.display());
    }
    assert_eq!(io::read_to_string(open_regular(&dir.root().join("own")).unwrap()).unwrap(), "ours");
}

#[test]
fn a_file_that_would_make_its_reader_wait_is_refused_or_fails() {
    let Stage { dir, _temp, .. } = stage();
    write(&dir, "own", "ours");
    let path = dir.root().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(open_to_read(&path).unwrap_err().to_string(), "it is not a regular file");
    assert!(open_to_read(dir.root()).is_err() && open_to_read(Path::new("/dev/zero")).is_err());
    let mut text = String::new();
    open_to_read(&dir.root().join("own")).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "ours");
    // The kernel log claims to be a regular file. Not every user may open it, and not every machine has one.
    if let Ok(log) = open_to_read(Path::new("/proc/kmsg")) {
        let outcome = io::copy(&mut { log }, &mut io::sink());
        assert!(outcome.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock));
    }
}

#[test]
fn a_read_only_directory_is_not_changed() {
    let Stage { dir, _temp, .. } = stage();
    write(&dir, "a/own", "ours");
    let dir = dir.read_only();
    let refused = |result: io::Result<()>| {
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    };
    refused(dir.open_to_write("a/own").map(drop));
    refused(dir.open_to_append("a/own").map(drop));
    refused(dir.open_or_create("a/new").map(drop));
    refused(dir.create_new("a/new", Durability::Unsynced).map(drop));
    refused(dir.stage("", "").map(drop));
    refused(dir.rename("a/own", "b", Durability::Unsynced));
    refused(dir.make_dir("new", Durability::Unsynced));
    refused(dir.remove_file("a/own"));
    refused(dir.remove_dir("a"));
    refused(dir.remove_all("a"));
    assert_eq!(read(&dir, "a/own").unwrap(), "ours");
    assert!(dir.plain_dir("a").is_ok() && dir.plain_dir("new").is_err());
}
