use super::*;

fn watched(pieces: &[&[u8]]) -> SecretTally {
    let mut watch = SecretWatch::default();
    for piece in pieces {
        watch.feed(piece);
    }
    watch.finish()
}

/// Tokens on lines 3, 1003 and 2003, in a text longer than a rule can reach, so that most of it is dropped.
fn long_text() -> String {
    let filler = "nothing to see on this line, move on\n";
    let token = format!("k=ghp_{}\n", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A");
    let block = format!("{}{token}{}", filler.repeat(2), filler.repeat(997));
    block.repeat(3)
}

fn expected() -> SecretTally {
    let at = |line| Redaction { line, rule: "github-token" };
    SecretTally {
        counts: BTreeMap::from([("github-token", 3)]),
        first: vec![at(3), at(1003), at(2003)],
        ..SecretTally::default()
    }
}

#[test]
fn the_tally_does_not_depend_on_how_the_bytes_come() {
    let text = long_text();
    assert_eq!(watched(&[text.as_bytes()]), expected());
    for length in [1, 7, 100, 4096, 65_536] {
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
        assert_eq!(watched(&pieces), expected(), "{length}");
    }
}

#[test]
fn a_text_without_the_words_of_a_search_is_checked_only_if_a_mark_has_them() {
    let tally = |text: &str, word: &str| {
        let sought = Sought::new(Needles::of(vec![word.as_bytes().into()]).unwrap());
        SecretWatch::with(Some(&sought)).whole(text.as_bytes())
    };
    let lacking = |is_unknown| SecretTally { is_unknown, lacks_sought: true, ..SecretTally::default() };
    assert_eq!(tally(&long_text(), "zanzibar"), lacking(true));
    assert_eq!(tally("nothing", "github"), lacking(false));
    for word in ["nothing", "github"] {
        assert_eq!(tally(&long_text(), word), expected(), "{word}");
    }
}

#[test]
fn utf16_is_watched_as_text() {
    let mut bytes = vec![0xFF, 0xFE];
    bytes.extend(format!("😀{}", long_text()).encode_utf16().flat_map(u16::to_le_bytes));
    for length in [1, 3, 4096, 1_000_000] {
        let pieces: Vec<&[u8]> = bytes.chunks(length).collect();
        // The mark decides, so it must arrive in one piece; files are read in large ones.
        let pieces =
            if length < 2 { [vec![&bytes[..2]], bytes[2..].chunks(1).collect()].concat() } else { pieces };
        assert_eq!(watched(&pieces), expected(), "{length}");
    }
}

#[test]
fn a_key_counts_once_and_examples_are_few() {
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----\n",
        "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A\n".repeat(20)
    );
    let tally = watched(&[key.repeat(9).as_bytes()]);
    assert_eq!((tally.counts, tally.first.len()), (BTreeMap::from([("private-key", 9)]), 5));
    assert_eq!(tally.first[1], Redaction { line: 23, rule: "private-key" });
}
