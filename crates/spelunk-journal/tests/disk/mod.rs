//! One contract for every disk.

use spelunk_journal::{Disk, FileDisk};
use spelunk_testkit::FaultDisk;

fn keeps_what_was_written(disk: &dyn Disk) {
    assert_eq!(disk.read("runs/a/journal.jsonl").unwrap(), None);
    disk.append("runs/a/journal.jsonl", b"one\n").unwrap();
    disk.append("runs/a/journal.jsonl", b"two\n").unwrap();
    disk.sync("runs/a/journal.jsonl").unwrap();
    assert_eq!(disk.read("runs/a/journal.jsonl").unwrap().unwrap(), b"one\ntwo\n");
    disk.truncate("runs/a/journal.jsonl", 4).unwrap();
    disk.append("runs/a/journal.jsonl", b"2\n").unwrap();
    assert_eq!(disk.read("runs/a/journal.jsonl").unwrap().unwrap(), b"one\n2\n");
    disk.create("blobs/9f/9f3a", b"first").unwrap();
    disk.create("blobs/9f/9f3a", b"second").unwrap();
    assert_eq!(disk.read("blobs/9f/9f3a").unwrap().unwrap(), b"second");
}

#[test]
fn the_file_disk_keeps_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    keeps_what_was_written(&FileDisk::new(directory.path().join("ws")));
}

#[test]
fn the_faulty_disk_keeps_what_was_written_as_long_as_it_is_sound() {
    keeps_what_was_written(&FaultDisk::sound());
}

#[cfg(unix)]
#[test]
fn directories_are_0700_and_files_0600() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("ws");
    let disk = FileDisk::new(&root);
    disk.append("runs/a/journal.jsonl", b"x\n").unwrap();
    disk.create("blobs/9f/9f3a", b"x").unwrap();
    let mode = |name: &str| root.join(name).metadata().unwrap().permissions().mode() & 0o777;
    let modes = ["", "runs", "runs/a", "runs/a/journal.jsonl", "blobs/9f", "blobs/9f/9f3a", "tmp"].map(mode);
    assert_eq!(modes, [0o700, 0o700, 0o700, 0o600, 0o700, 0o600, 0o700]);
}

#[test]
fn disks_on_one_directory_do_not_write_into_each_others_files() {
    let directory = tempfile::tempdir().unwrap();
    let texts =
        |writer: usize| (0..200).map(move |idx| (format!("{writer}/{idx}"), format!("{writer} {idx}\n")));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let disk = FileDisk::new(directory.path());
            scope.spawn(move || {
                for (name, text) in texts(writer) {
                    disk.create_unsynced(&name, text.as_bytes()).unwrap();
                }
            });
        }
    });
    let disk = FileDisk::new(directory.path());
    for (name, text) in (0..4).flat_map(texts) {
        assert_eq!(disk.read(&name).unwrap().unwrap(), text.as_bytes(), "{name}");
    }
}
