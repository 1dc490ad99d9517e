use super::*;

const SMALL: UnpackLimits =
    UnpackLimits { bytes_max: 10_000, entries_max: 4, ratio_max: 20, ratio_bytes_min: 1000 };

/// The relative names that were unpacked, then what was skipped, under small limits.
#[track_caller]
fn check_small(name: &str, bytes: &[u8], expected: &expect_test::Expect) {
    let root = tree(&[]);
    put(root.path(), name, bytes);
    let (options, scratch) = (ScanOptions::default(), Scratch::default());
    let filter = Filter::compile(&options).unwrap();
    let mut report = ScanReport::default();
    let mut listed = String::new();
    let mut unpacking = Unpacking {
        archive: name,
        filter: &filter,
        is_included: false,
        scratch: &scratch,
        limits: SMALL,
        report: &mut report,
        found: &mut |unpacked| listed += &format!("{} {}\n", unpacked.relative, unpacked.bytes),
        n_seen: 0,
        bytes: 0,
    };
    unpack(&root.path().join(name), Format::of(name).unwrap(), &mut unpacking).unwrap();
    for (reason, examples) in report.skipped_examples {
        listed += &format!("{} {reason}: {}\n", report.skipped[&reason], examples.join(" "));
    }
    expected.assert_eq(&listed);
}

/// Text that does not compress well.
fn noise(n_bytes: usize) -> String {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + u8::try_from(state >> 27).unwrap() % 26)
    };
    (0..n_bytes).map(|_| next()).collect()
}

#[test]
fn an_entry_that_unpacks_to_far_more_than_it_is_is_left_out() {
    let bomb = "a".repeat(5000);
    let zip = zipped(&[("a.txt", "x"), ("bomb.txt", &bomb), ("z.txt", "y")]);
    check_small(
        "x.zip",
        &zip,
        &expect![[r"
            a.txt 1
            z.txt 1
            1 too-large: x.zip/bomb.txt
        "]],
    );
    check_small(
        "x.gz",
        &gzipped(bomb.as_bytes()),
        &expect![[r"
        1 too-large: x.gz/x
    "]],
    );
}

#[test]
fn a_packed_tar_that_turns_out_to_be_a_bomb_is_not_read_on() {
    let tgz = gzipped(&tarred(&[("a.txt", "x"), ("bomb.txt", &"a".repeat(9000)), ("z.txt", "y")]));
    check_small(
        "x.tgz",
        &tgz,
        &expect![[r"
        a.txt 1
        1 too-large: x.tgz
    "]],
    );
}

#[test]
fn all_entries_together_have_a_limit() {
    let half = noise(6000);
    let entries = [("a.txt", half.as_str()), ("b.txt", half.as_str()), ("c.txt", "x")];
    for (name, bytes) in [("x.zip", zipped(&entries)), ("x.tar", tarred(&entries))] {
        check_small(
            name,
            &bytes,
            &match name {
                "x.zip" => expect![[r"
                    a.txt 6000
                    1 too-large: x.zip
                "]],
                _ => expect![[r"
                    a.txt 6000
                    1 too-large: x.tar
                "]],
            },
        );
    }
}

#[test]
fn there_may_not_be_too_many_entries() {
    let entries = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")];
    check_small(
        "x.zip",
        &zipped(&entries),
        &expect![[r"
        1 too-large: x.zip
    "]],
    );
    check_small(
        "x.tar",
        &tarred(&entries),
        &expect![[r"
        a 1
        b 1
        c 1
        d 1
        1 too-large: x.tar
    "]],
    );
}

// A real bomb against the real limits: 50 MB of one letter in 50 kB.
#[test]
fn a_bomb_costs_little() {
    let bomb = "a".repeat(50_000_000);
    let zip = zipped(&[("bomb.txt", &bomb), ("a.txt", "x")]);
    assert!(zip.len() < 60_000);
    check(
        "x.zip",
        &zip,
        &expect![[r"
        x.zip/a.txt
        1 too-large: x.zip/bomb.txt
    "]],
    );
}

#[test]
fn a_bomb_that_claims_to_be_large_is_still_one() {
    let bomb = claiming_to_be_large(zipped(&[("bomb.txt", &"a".repeat(3_000_000)), ("a.txt", "x")]));
    check(
        "x.zip",
        &bomb,
        &expect![[r"
        x.zip/a.txt
        1 too-large: x.zip/bomb.txt
    "]],
    );
}

#[test]
fn a_name_of_a_megabyte_is_damage_and_not_memory() {
    let mut builder = Builder::new(Vec::new());
    append(&mut builder, EntryType::Regular, "a.txt", "x");
    append(&mut builder, EntryType::GNULongName, "././@LongLink", &"n".repeat(1_000_000));
    append(&mut builder, EntryType::Regular, "b.txt", "x");
    check(
        "x.tar",
        &builder.into_inner().unwrap(),
        &expect![[r"
        x.tar/a.txt
        1 damaged: x.tar
    "]],
    );
}
