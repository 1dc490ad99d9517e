//! Denials: whether an answer states that the text does not contain it. Any plain statement counts,
//! however the question wanted it phrased, unless the answer offers a value anyway.

use std::sync::LazyLock;

use regex::Regex;

use super::notation::runs;
use super::read::{sentences, words};
use crate::pattern;

static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\babsent\b|(?:\bnot|n't) (?:\w+ly )?(?:in (?:the|this|these|there|it|any)\b|there\b|been ",
        r"|stated?\b|given?\b|mention|found\b|find\b|available|present|provide|specif|known\b|list|named?\b|record",
        r"|say|said\b|tell|hold|contain|include|appear|reveal|disclose|indicate|identif)",
        r"|\bno (?:\w+ )?(?:such|mention|information|record|answer|entry|statement|indication)\b|\bno registration",
        r"|\b(?:cannot|can't|could not|couldn't|unable to) (?:be )?(?:find|found|determined?|answered|say)\b",
        r"|\bnothing (?:\w+ ){1,5}(?:was|is) found\b",
        r"|\bnothing (?:was|is|in|says|about|tells|does|on)\b|\b(?:is|are|remains?) (?:silent|unknown|missing)\b",
    ))
});
/// The same in German, French and Spanish.
static DENIAL_IN_EUROPE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:sag|steh|geh|erwähn|enth[aä]lt|nenn|beantwort)\w*(?: \w+){0,4}? nicht\b|\bnicht (?:\w+ )?(?:erwähnt",
        r"|angegeben|genannt|enthalten|gefunden|zu finden|bekannt|vorhanden|beschrieben|hervor|beantwort|ermitteln|bestimmen)",
        r"|\bkeine?n? (?:\w+ )?(?:angabe|information|hinweis|erwähnung|antwort|auskunft|eintrag)",
        r"|\bne (?:\w+ ){0,2}?(?:dis|dit|mentionn|précis|indiqu|contien|figur|trouv|donn|appara|parl|permet)\w* pas\b",
        r"|\bpas (?:été |explicitement )?(?:mentionn|précis|indiqu|trouv|spécifi|d'information|d'indication|de mention|de réponse)",
        r"|\baucune (?:\w+ )?(?:mention|information|indication|réponse|donnée|trace)",
        r"|\bno (?:lo |la |se |me )*(?:dice|mencion|aparec|indica|especific|contien|encuentr|encontr|figura|consta|proporcion)",
        r"|\bno (?:está|es|fue|ha sido) (?:mencion|indica|especific|disponible)|\bno hay (?:\w+ )?(?:informaci|menci|dato|respuesta)",
        r"|\bninguna (?:menci|informaci|indicaci)",
    ))
});
/// The same in Chinese and Japanese.
static DENIAL_IN_ASIA: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        "没有(?:明确)?(?:提到|提及|提供|说明|写|记载|给出|列出|找到|相关|包含|指出|关于)",
        "|(?:并?未)(?:明确)?(?:提到|提及|提供|说明|找到|给出|记载|列出|指明|包含)|找不到|不包含|无法(?:确定|找到|得知|回答)",
        "|(?:書か|記載さ|言及さ|述べら|示さ|含ま|記さ|触れら|説明さ)れては?(?:いません|いない|おりません)",
        "|(?:記載|言及|記述|情報|答え|説明)[はがも](?:ありません|ない|見つかりません)|見つかりません|見つからない|見当たりません",
    ))
});
/// A reply of a word or two.
static SHORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(?:the value is )?(?:absent|none|unknown|n/?a|nothing|missing|not known|unbekannt|keine|inconnue?|aucune?|desconocid[oa]|ningun[oa]|不明|未知|なし|无)\W*$",
    )
});
static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\p{Lu}\p{Ll}+) (\p{Lu}\p{Ll}+)\b"));
/// Paths and identifiers: naming what was searched offers no value.
static CODE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"`[^`\n]+`|\w+_\w+|[\w./\-]*\w/[\w./\-]*\.\w+|\B/\w[\w./\-]+"));
static SEARCHED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^ (?:files?|documents?|passages?|lines?|parts?|pages?)\b"));

/// Capitalised words that begin a sentence and are not names.
const BEGINNINGS: &str = "the this these in at it no not a an according there der die das den dem im laut le la les selon el los las según en";

/// Whether a text denies. The first sentence that denies or offers something decides.
pub(super) fn denies(text: &str, question: &str) -> bool {
    let text = text.replace('’', "'");
    for sentence in sentences(&text).into_iter().filter_map(|sentence| text.get(sentence)) {
        if sentence.starts_with('#') {
            continue;
        }
        let offered = offer(sentence, question);
        match denial(sentence) {
            // "Not Ada, and it is not said who" denies; "it is not said, but it is Ada" does not.
            Some(denied) => return offered.is_none_or(|offered| offered < denied),
            None if offered.is_some() => return false,
            None => {}
        }
    }
    false
}

/// Whether a text offers a value that may be meant as the answer.
pub(super) fn offers(text: &str, question: &str) -> bool {
    text.lines().any(|line| offer(line, question).is_some())
}

fn denial(sentence: &str) -> Option<usize> {
    if SHORT.is_match(sentence) {
        return Some(0);
    }
    let all = [&DENIAL, &DENIAL_IN_EUROPE, &DENIAL_IN_ASIA];
    all.into_iter().filter_map(|pattern| pattern.find(sentence)).map(|found| found.start()).min()
}

/// The last position in a sentence of a value that may be meant as the answer: a number, a version,
/// a path, an identifier or a person.
fn offer(sentence: &str, question: &str) -> Option<usize> {
    let asked = words(question);
    let is_asked = |word: &str| asked.contains(&word.to_lowercase());
    let is_new = |text: &str| !words(text).iter().all(|word| is_asked(word));
    let is_searched = |end: usize| SEARCHED.is_match(sentence.get(end..).unwrap_or_default());
    let mut numbers = runs(sentence, "").into_iter();
    let number = numbers.rfind(|run| is_new(run.text) && !is_searched(run.start + run.text.len()));
    let code = CODE.find_iter(sentence).filter(|found| is_new(found.as_str())).last();
    let names = NAME.captures_iter(sentence).filter(|found| {
        let is_plain = |idx: usize| {
            let word = found.get(idx).map_or("", |word| word.as_str());
            is_asked(word) || BEGINNINGS.split(' ').any(|beginning| beginning == word.to_lowercase())
        };
        !is_plain(1) && !is_plain(2)
    });
    let name = names.last().and_then(|found| found.get(0));
    number.map(|run| run.start).max(code.map(|found| found.start())).max(name.map(|found| found.start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &str = "Who has kept the pumping station at Uluness since the war?";

    #[test]
    fn a_plain_statement_is_enough() {
        let plain = [
            "The text does not say it.",
            "The text does not say it of the pumping station, only of the signal station.",
            "The text doesn't say who has kept the Pumping Station at Uluness.",
            "absent",
            "Unknown.",
            "n/a",
            "None",
            "Not found in these files.",
            "It is not explicitly stated.",
            "There is no mention of it.",
            "The documents are silent on that.",
            "Nothing in the text tells.",
            "Nothing that answers the question was found in the text.",
            "I couldn’t find it.",
            "This cannot be determined from the text.",
            "The text names Olga Berg for the signal station, but it does not say who keeps the pumping station.",
            "The text does not mention it. It gives 111111 for another one.",
            "# Report\n\n## Summary\n\nThe documents do not contain this information.",
            "Nothing was found. The searches were:\n\n- pump",
        ];
        for text in plain {
            assert!(denies(text, QUESTION), "{text}");
        }
    }

    #[test]
    fn a_plain_statement_in_any_of_the_languages_is_enough() {
        let plain = [
            "Die Dokumente sagen das nicht.",
            "Das wird nicht erwähnt.",
            "Es steht nicht in den Dateien.",
            "Das geht aus dem Text nicht hervor.",
            "Dazu gibt es keine Angaben.",
            "Les documents ne le disent pas.",
            "Ce n'est pas mentionné.",
            "Il n’y a aucune mention de cela.",
            "Il n'y a pas d'information à ce sujet.",
            "Los documentos no lo dicen.",
            "No se menciona.",
            "Eso no aparece en los archivos.",
            "No hay información.",
            "文档中没有提到。",
            "文件中未提及。",
            "没有说明。",
            "找不到答案。",
            "文書には書かれていません。",
            "記載がありません。",
            "見つかりませんでした。",
            "言及されていません。",
            "I searched 12 files. They do not say. The nearest thing found: `keeper = 3`.",
        ];
        for text in plain {
            assert!(denies(text, QUESTION), "{text}");
        }
    }

    #[test]
    fn any_value_is_an_offer() {
        let offers = [
            "The port is 80. Nothing else is stated in the text.",
            "It is not stated, but the default is 80.",
            "Not stated, probably 3.5.0",
            "It is not stated, but `keeper` holds it.",
            "It is not stated, but look into /etc/keeper",
            "It is not stated, except as KEEPER_NAME",
            "Es wird nicht erwähnt, aber es sind 12 Jahre.",
            "Ce n'est pas mentionné, mais c'est 12.",
            "No se menciona, pero son 12.",
            "没有提到,但应该是12。",
            "書かれていませんが、12です。",
            "Das ist nicht Bernd.",
            "Ce n'est pas Bernd.",
            "No es Bernd.",
            "不是她。",
        ];
        for text in offers {
            assert!(!denies(text, QUESTION), "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_made_up_is_none() {
        let made_up = [
            "",
            "835407",
            "Olga Berg",
            "Olga Berg has kept it. Nothing else is known.",
            "The number is 835407. It is not in line 3.",
            "It is not stated explicitly, but it was Olga Berg.",
            "Nothing is more certain: it is 835407.",
            "Nothing is more certain than Olga Berg.",
            "absent, or 835407",
            "There is no doubt that it was she.",
            "I do not know much, so perhaps.",
        ];
        for text in made_up {
            assert!(!denies(text, QUESTION), "{text}");
        }
    }
}
