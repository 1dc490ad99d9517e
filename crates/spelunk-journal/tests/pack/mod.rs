//! The prompt pack of a run: texts are found while they are being written, after a crash and in a damaged file.

use std::sync::Arc;

use spelunk_journal::{Blobs, Disk as _, JournalError, digest};
use spelunk_testkit::{Crash, FaultDisk};
use spelunk_types::Text;

use crate::{inline, run};

/// Long enough to become blobs, and longer than one scan buffer.
fn texts() -> Vec<String> {
    let lengths = [2049, 3000, 70_000, 2049, 200_000, 5000];
    lengths.iter().enumerate().map(|(idx, length)| format!("{idx}\n").repeat(*length)).collect()
}

fn name() -> String {
    format!("runs/{}/prompts.pack", run())
}

fn blob(text: &str) -> Text {
    Text::Blob { blob: digest(text.as_bytes()), bytes: text.len() as u64 }
}

#[test]
fn what_one_writes_another_finds_while_it_grows() {
    let disk = Arc::new(FaultDisk::sound());
    let (writer, reader) = (Blobs::of_run(disk.clone(), &run()), Blobs::of_run(disk.clone(), &run()));
    for text in texts() {
        let missing = reader.text(&blob(&text)).unwrap_err();
        assert!(matches!(missing, JournalError::Blob { what: "missing", .. }), "{missing}");
        assert_eq!(writer.keep_prompt(&text).unwrap(), blob(&text));
        assert_eq!(reader.text(&blob(&text)).unwrap(), text);
    }
    let later = Blobs::of_run(disk.clone(), &run());
    for text in texts() {
        assert_eq!(writer.keep_prompt(&text).unwrap(), blob(&text), "it is there");
        assert_eq!(later.text(&blob(&text)).unwrap(), text);
    }
    assert_eq!(disk.n_writes(), 6, "each is written once");
    assert_eq!(disk.files().keys().collect::<Vec<_>>(), [&name()]);
    let elsewhere = Blobs::new(disk).text(&blob(&texts()[0])).unwrap_err();
    assert!(matches!(elsewhere, JournalError::Blob { what: "missing", .. }), "prompts belong to their run");
}

#[test]
fn short_text_is_no_part_of_it_and_durable_text_is_written_for_itself() {
    let disk = Arc::new(FaultDisk::sound());
    let blobs = Blobs::of_run(disk.clone(), &run());
    assert_eq!(blobs.keep_prompt("short").unwrap(), inline("short"));
    assert_eq!(disk.n_writes(), 0);
    let text = &texts()[0];
    blobs.keep_prompt(text).unwrap();
    assert_eq!(blobs.keep(text).unwrap(), blob(text));
    let lost = Arc::new(disk.after(Crash::LostTail));
    assert_eq!(lost.read(&name()).unwrap(), None, "nobody waited for it");
    assert_eq!(Blobs::of_run(lost, &run()).text(&blob(text)).unwrap(), *text);
}

#[test]
fn texts_that_wait_for_each_other_are_written_in_one_piece() {
    let disk = Arc::new(FaultDisk::sound());
    let (writer, reader) = (Blobs::of_run(disk.clone(), &run()), Blobs::of_run(disk.clone(), &run()));
    writer.gather_prompts();
    for text in texts() {
        assert_eq!(writer.keep_prompt(&text).unwrap(), blob(&text));
    }
    assert_eq!(disk.n_writes(), 0);
    writer.write_prompts().unwrap();
    assert_eq!(disk.n_writes(), 1);
    writer.write_prompts().unwrap();
    writer.keep_prompt(&texts()[0]).unwrap();
    assert_eq!(disk.n_writes(), 1, "it is there");
    for text in texts() {
        assert_eq!(reader.text(&blob(&text)).unwrap(), text);
    }
    // No longer buffered: written at once again.
    let later = "later ".repeat(1000);
    writer.keep_prompt(&later).unwrap();
    assert_eq!(reader.text(&blob(&later)).unwrap(), later);
}

#[test]
fn texts_that_wait_are_no_more_than_a_megabyte() {
    let disk = Arc::new(FaultDisk::sound());
    let blobs = Blobs::of_run(disk.clone(), &run());
    blobs.gather_prompts();
    let long = |idx: usize| format!("{idx}").repeat(600_000);
    blobs.keep_prompt(&long(1)).unwrap();
    assert_eq!(disk.n_writes(), 0);
    blobs.keep_prompt(&long(2)).unwrap();
    assert_eq!(disk.n_writes(), 1);
    blobs.keep_prompt(&long(3)).unwrap();
    blobs.write_prompts().unwrap();
    assert_eq!(disk.n_writes(), 2);
    for idx in 1..=3 {
        assert_eq!(Blobs::of_run(disk.clone(), &run()).text(&blob(&long(idx))).unwrap(), long(idx));
    }
}

#[test]
fn a_piece_that_could_not_be_written_is_written_when_it_is_kept_again() {
    let dying = Arc::new(FaultDisk::sound().dying_at(1));
    let blobs = Blobs::of_run(dying.clone(), &run());
    let text = &texts()[0];
    blobs.gather_prompts();
    blobs.keep_prompt(text).unwrap();
    assert!(matches!(blobs.write_prompts(), Err(JournalError::Write { .. })));
    assert!(
        matches!(blobs.keep_prompt(text), Err(JournalError::Write { .. })),
        "it is not taken to be there"
    );
}

#[test]
fn after_a_crash_at_any_write_it_goes_on_behind_the_last_whole_text() {
    let all = texts();
    for crash in [Crash::Torn, Crash::LostTail] {
        for n in 1..=6 {
            let dying = Arc::new(FaultDisk::sound().dying_at(n));
            let blobs = Blobs::of_run(dying.clone(), &run());
            let n_kept = all.iter().take_while(|text| blobs.keep_prompt(text).is_ok()).count();
            assert_eq!(n_kept as u64, n - 1);
            let disk = Arc::new(dying.after(crash));
            let blobs = Blobs::of_run(disk.clone(), &run());
            for text in &all {
                assert_eq!(blobs.keep_prompt(text).unwrap(), blob(text));
            }
            let reader = Blobs::of_run(disk, &run());
            for text in &all {
                assert_eq!(&reader.text(&blob(text)).unwrap(), text, "{crash:?} at {n}");
            }
        }
    }
}

#[test]
fn half_a_text_at_the_end_is_cut_off_before_the_next() {
    let disk = Arc::new(FaultDisk::sound());
    let all = texts();
    Blobs::of_run(disk.clone(), &run()).keep_prompt(&all[0]).unwrap();
    let mut torn = disk.read(&name()).unwrap().unwrap();
    torn.extend_from_slice(format!("{} 9999\nhalf", digest(b"half")).as_bytes());
    disk.put(&name(), &torn);
    let blobs = Blobs::of_run(disk.clone(), &run());
    assert_eq!(blobs.text(&blob(&all[0])).unwrap(), all[0], "what is before it can be read");
    blobs.keep_prompt(&all[1]).unwrap();
    assert_eq!(blobs.text(&blob(&all[1])).unwrap(), all[1]);
    assert!(!String::from_utf8_lossy(&disk.read(&name()).unwrap().unwrap()).contains("half"));
}

/// Words in no order, which compress like prose.
fn prose(seed: u64, n_words: usize) -> String {
    const WORDS: [&str; 16] = [
        "the", "cache", "server", "was", "evicted", "after", "hour", "traffic", "refilled", "shelf", "pages",
        "storage", "latency", "below", "ceiling", "night",
    ];
    let mut state = seed;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[usize::try_from(state >> 60).unwrap()]
    };
    (0..n_words).map(|_| word()).collect::<Vec<_>>().join(" ")
}

#[test]
fn texts_are_compressed_and_share_their_beginnings() {
    let disk = Arc::new(FaultDisk::sound());
    let blobs = Blobs::of_run(disk.clone(), &run());
    let size = || disk.files().get(&name()).map_or(0, Vec::len);
    let document = prose(1, 20_000);
    blobs.keep_prompt(&document).unwrap();
    let alone = size();
    assert!(alone * 10 < document.len() * 4, "{alone} of {}", document.len());
    // The same document with other questions below it.
    let asked: Vec<String> =
        (0..20).map(|n| format!("{document}\n\nQuestion {n}: {}", prose(n, 40))).collect();
    for text in &asked {
        blobs.keep_prompt(text).unwrap();
    }
    let more = size() - alone;
    assert!(more < 20 * 400, "{more}");
    let reader = Blobs::of_run(disk, &run());
    for text in asked.iter().chain([&document]) {
        assert_eq!(reader.text(&blob(text)).unwrap(), *text);
    }
}

#[test]
fn a_pack_of_an_earlier_version_is_read_and_continued() {
    let disk = Arc::new(FaultDisk::sound());
    let all = texts();
    let plain = format!("{} {}\n{}\n", digest(all[0].as_bytes()), all[0].len(), all[0]);
    disk.put(&name(), plain.as_bytes());
    let blobs = Blobs::of_run(disk.clone(), &run());
    blobs.keep_prompt(&all[1]).unwrap();
    for text in &all[..2] {
        assert_eq!(blobs.text(&blob(text)).unwrap(), *text);
    }
}

#[test]
fn a_damaged_file_gives_no_other_text_and_asks_for_no_more_memory_than_it_has_bytes() {
    let text = &texts()[0];
    let named = digest(text.as_bytes());
    let heads = [
        String::new(),
        "\n".to_owned(),
        "no head at all".to_owned(),
        format!("{named} {}\n{text}\n", u64::MAX),
        format!("{named} 1152921504606846975\n{text}\n"),
        format!("{named} -1\n{text}\n"),
        format!("{named}\n{text}\n"),
        format!("{named} 2\n{text}\n"),
        format!("{named} {} z\n{text}\n", text.len()),
        format!("{named} {} y\n{text}\n", text.len()),
        format!("{named} {} z {named}\n{text}\n", text.len()),
        format!("{named} {} z {named} 512\n{text}\n", text.len()),
        format!("{named} {}\n{text}", text.len()),
        "f".repeat(1 << 20),
    ];
    for head in heads {
        let disk = Arc::new(FaultDisk::sound());
        disk.put(&name(), head.as_bytes());
        let missing = Blobs::of_run(disk, &run()).text(&blob(text)).unwrap_err();
        assert!(matches!(missing, JournalError::Blob { what: "missing", .. }), "{missing}");
    }
    let disk = Arc::new(FaultDisk::sound());
    disk.put(&name(), format!("{named} {}\n{}\n", text.len(), "x".repeat(text.len())).as_bytes());
    let other = Blobs::of_run(disk, &run()).text(&blob(text)).unwrap_err();
    assert!(matches!(other, JournalError::Blob { what: "damaged", .. }), "{other}");
}
