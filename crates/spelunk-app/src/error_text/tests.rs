use expect_test::expect;

use super::*;

#[derive(Debug, thiserror::Error)]
#[error("could not resume run `k3f9`")]
struct Resume {
    hint: Option<String>,
    #[source]
    source: Damaged,
}

#[derive(Debug, thiserror::Error)]
#[error("journal line 212 is damaged:\u{1b}[2J expected seq 212, found 214")]
struct Damaged {
    #[source]
    source: std::io::Error,
}

impl Explain for Resume {
    fn code(&self) -> ErrorCode {
        ErrorCode::JournalDamaged
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

fn resume(hint: Option<&str>) -> Resume {
    let source = Damaged { source: std::io::Error::other("disk on fire") };
    Resume { hint: hint.map(str::to_owned), source }
}

#[test]
fn an_error_is_followed_by_its_causes_and_the_next_step() {
    expect![[r"
        error: could not resume run `k3f9`
          caused by: journal line 212 is damaged: [2J expected seq 212, found 214
          caused by: disk on fire

        hint: run `spelunk repair k3f9` to keep the first 211 events
    "]]
    .assert_eq(&error_text(
        &resume(Some("run `spelunk repair k3f9` to keep the first 211 events")),
        Paint::Plain,
    ));
}

#[test]
fn without_a_hint_the_causes_are_last() {
    expect![[r"
        error: could not resume run `k3f9`
          caused by: journal line 212 is damaged: [2J expected seq 212, found 214
          caused by: disk on fire
    "]]
    .assert_eq(&error_text(&resume(None), Paint::Plain));
}

#[test]
fn colour_is_on_the_labels_only() {
    assert_eq!(
        error_text(&resume(Some("look")), Paint::Colored),
        "\u{1b}[1;31merror:\u{1b}[0m could not resume run `k3f9`\n  \
         caused by: journal line 212 is damaged: [2J expected seq 212, found 214\n  \
         caused by: disk on fire\n\n\u{1b}[1;36mhint:\u{1b}[0m look\n"
    );
}

#[test]
fn json_holds_the_same() {
    let expected = json!({
        "code": "journal-damaged",
        "message": "could not resume run `k3f9`",
        "causes": ["journal line 212 is damaged: [2J expected seq 212, found 214", "disk on fire"],
        "hint": null,
    });
    assert_eq!(error_json(&resume(None)), expected);
}

#[test]
fn every_code_has_the_exit_code_its_kind_asks_for() {
    let with = |wanted: u8| -> Vec<&str> {
        ErrorCode::ALL.iter().filter(|code| exit_code(**code) == wanted).map(|code| code.name()).collect()
    };
    let usage = [
        "usage-wrong",
        "setting-unknown",
        "setting-invalid",
        "model-not-configured",
        "price-unknown",
        "workspace-untrusted",
    ];
    assert_eq!(with(2), usage);
    assert_eq!(
        with(3),
        [
            "calls-exhausted",
            "tokens-exhausted",
            "cost-exhausted",
            "time-exhausted",
            "depth-exceeded",
            "children-exceeded",
            "turns-exhausted",
            "cells-exhausted",
            "desk-full"
        ]
    );
    assert_eq!(with(130), ["cancelled"]);
    let others = usage.len() + with(3).len() + with(130).len();
    assert_eq!(with(1).len(), ErrorCode::ALL.len() - others);
}
