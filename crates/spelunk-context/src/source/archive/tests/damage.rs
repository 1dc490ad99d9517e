use super::*;

#[test]
fn what_is_no_archive_at_all_is_an_error_that_names_it() {
    check_error(
        "x.zip",
        b"this is not a zip",
        &expect![[r"
            source-unreadable: could not open the archive `x.zip`
              caused by: invalid Zip archive: Could not find EOCD
            hint: check that it is complete, for example by unpacking it by hand"]],
    );
    check_error(
        "x.gz",
        b"this is not gzip",
        &expect![[r"
            source-unreadable: could not open the archive `x.gz`
              caused by: invalid gzip header
            hint: check that it is complete, for example by unpacking it by hand"]],
    );
    check_error(
        "x.tar",
        &[b'x'; 2000],
        &expect![[r"
        source-unreadable: could not open the archive `x.tar`
          caused by: a header in it is broken
        hint: check that it is complete, for example by unpacking it by hand"]],
    );
    check_error(
        "x.tar.gz",
        b"",
        &expect![[r"
        source-unreadable: could not open the archive `x.tar.gz`
          caused by: unexpected end of file
        hint: check that it is complete, for example by unpacking it by hand"]],
    );
}

#[test]
fn an_archive_without_entries_is_empty_and_not_damaged() {
    check_error(
        "x.zip",
        &zipped(&[]),
        &expect![[r"
            source-empty: no readable documents in `x.zip`
            hint: pass a path that contains text files"]],
    );
}

#[test]
fn of_a_zip_that_was_cut_short_the_whole_entries_are_kept() {
    let zip = zipped(&ENTRIES);
    let directory = memchr::memmem::find(&zip, b"PK\x01\x02").unwrap();
    check(
        "x.zip",
        &zip[..directory],
        &expect![[r"
            x.zip/a.txt
            x.zip/deep/b.md
            x.zip/deep/er/c.rs
            1 damaged: x.zip
        "]],
    );
    let third = memchr::memmem::find_iter(&zip, b"PK\x03\x04").nth(2).unwrap();
    check(
        "x.zip",
        &zip[..third + 10],
        &expect![[r"
            x.zip/a.txt
            x.zip/deep/b.md
            1 damaged: x.zip
        "]],
    );
}

#[test]
fn an_entry_whose_bytes_were_changed_is_left_out() {
    let mut zip = zipped(&[("a.txt", "some text that is long enough to be packed"), ("b.txt", "other")]);
    let at = memchr::memmem::find(&zip, b"a.txt").unwrap() + 5;
    zip[at + 4] ^= 0x55;
    check(
        "x.zip",
        &zip,
        &expect![[r"
            x.zip/b.txt
            1 damaged: x.zip/a.txt
        "]],
    );
}

#[test]
fn of_a_tar_that_was_cut_short_the_whole_entries_are_kept() {
    let tar = tarred(&ENTRIES);
    // Two entries of a header and a block each, then the header of the third.
    check(
        "x.tar",
        &tar[..5 * 512 + 2],
        &expect![[r"
            x.tar/a.txt
            x.tar/deep/b.md
            1 damaged: x.tar
        "]],
    );
    let gz = gzipped(&tar);
    check(
        "x.tgz",
        &gz[..gz.len() - 30],
        &expect![[r"
            x.tgz/a.txt
            x.tgz/deep/b.md
            1 damaged: x.tgz
        "]],
    );
}

#[test]
fn of_a_gz_that_was_cut_short_the_beginning_is_kept() {
    let lines = (0..20_000).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let gz = gzipped(lines.as_bytes());
    let corpus = scan_archive("a.log.gz", &gz[..gz.len() / 2]).unwrap();
    assert_eq!(skipped(&corpus), "1 damaged: a.log.gz/a.log\n");
    let view = View::of(corpus.into());
    let text = view.read_owned(view.documents().next().unwrap()).unwrap();
    assert_eq!((text.len() > 10_000, lines.starts_with(&text)), (true, true));
}

#[test]
fn no_cut_and_no_flipped_byte_makes_any_archive_panic() {
    for (name, bytes) in
        [("x.zip", zipped(&ENTRIES)), ("x.tar", tarred(&ENTRIES[..1])), ("x.tgz", gzipped(&tarred(&ENTRIES)))]
    {
        for at in (0..bytes.len()).step_by(7) {
            drop(scan_archive(name, &bytes[..at]));
            let mut flipped = bytes.clone();
            flipped[at] ^= 0xff;
            drop(scan_archive(name, &flipped));
        }
    }
}
