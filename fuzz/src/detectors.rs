//! Detectors: every name and every text has a type, the same one each time, and the user's settings take precedence.

use spelunk_context::{ContentType, Detected, Detector, Via};

use crate::choice::text_of;

const NAMES: [&str; 12] =
    ["a", "a.txt", "a.log", "a.md", "a.json", "a.jsonl", "a.csv", "a.yml", "a.xml", "a.py", ".x", "Makefile"];

/// Detects the type of the text under a known name and under a name made of the text itself.
pub(crate) fn detectors(data: &[u8]) {
    let text = text_of(data);
    let detector = Detector::default();
    let choice = usize::from(data.first().copied().unwrap_or_default());
    let own_name: String = text.chars().take(40).collect();
    for name in [NAMES[choice % NAMES.len()], &own_name] {
        let Detected { content_type, via, language, custom } = detector.detect(name, &text);
        assert!(custom.is_none(), "no kind was defined");
        assert!(!matches!(via, Via::Override | Via::Custom), "nobody said so");
        let again = detector.detect(name, &text);
        assert_eq!((content_type, via, language), (again.content_type, again.via, again.language));
        assert_eq!(ContentType::from_name(content_type.name()), Some(content_type));
    }
    let told = detector.with_override("**", "log").expect("`**` is a pattern and `log` a type");
    assert_eq!(told.detect("a/b", &text).content_type, ContentType::Log, "the user's word");
}
