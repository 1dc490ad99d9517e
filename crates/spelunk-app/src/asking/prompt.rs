//! A request of any length. A long request becomes a document, and its first and last part, where
//! people write what they want, become the question.

use spelunk_types::truncate;

use crate::failure::Usage;

/// A longer request becomes a document.
pub(super) const LONG_CHARS: usize = 8_000;
const HEAD_CHARS: usize = 1_000;
const TAIL_CHARS: usize = 2_000;
/// A longer text without a request is rejected: reading it would cost a lot and answer nothing.
const UNASKED_CHARS_MAX: usize = 1_000_000;

/// Words that begin a request, in the most common languages.
const VERBS: &str = "add analyse analyze answer assess audit build calculate check classify code collect compare compile \
    compute convert correct count create critique debug decide define describe design detect determine discuss do draft \
    edit estimate evaluate examine explain extract fill find fix format generate give go group help how identify implement \
    improve infer inspect judge list locate look make map mark mention merge name order organize outline output parse \
    plan please point predict produce propose provide put rank read recommend report respond return review rewrite score \
    search select show solve sort specify state suggest sum summarise summarize tell test transcribe translate turn use \
    verify what when where which who why write \
    analysiere beantworte begründe berechne beschreibe bewerte bitte erkläre erstelle extrahiere fasse finde gib liste nenne \
    prüfe schreibe sortiere suche übersetze vergleiche wann warum was welche welcher welches wer wie wieviele wo zähle zeige \
    analysez combien compare comparez comment corrigez donne donnez décris décrivez explique expliquez extrais extrayez \
    identifie identifiez liste listez pourquoi quand quel quelle quels quelles qui résume résumez traduis traduisez trouve \
    trouvez veuillez vérifie vérifiez écris écrivez \
    analiza busca compara corrige cuando cuántas cuántos cuál cuáles cómo describe dime encuentra enumera escribe explica \
    extrae haz identifica lista quién resume traduce verifica";
const MARKS: [&str; 7] = ["question", "task", "instruction", "request", "query", "frage", "aufgabe"];

/// The question for a long request, whose whole text is the document `name`.
pub fn excerpt(name: &str, text: &str) -> String {
    let (head, tail) = ends(text);
    format!(
        "Do what `{name}` asks for. The request is in its first or last part; the text in between is the material.\n\nIt begins:\n\n{}\n\n[…]\n\nand ends:\n\n{}",
        head.trim(),
        tail.trim()
    )
}

pub(super) fn beginning(name: &str, text: &str) -> String {
    format!("[the full text is in `{name}`; it begins:]\n{}", ends(text).0.trim())
}

pub(super) fn is_long(text: &str) -> bool {
    // The byte length is an upper bound on the character count, and free.
    text.len() > LONG_CHARS && text.chars().nth(LONG_CHARS).is_some()
}

pub(super) fn require_request(text: &str) -> Result<(), Usage> {
    if text.len() <= UNASKED_CHARS_MAX || <[&str; 2]>::from(ends(text)).into_iter().any(asks) {
        return Ok(());
    }
    Err(Usage {
        message: format!(
            "the request has {} characters, and neither its beginning nor its end asks for anything: it begins `{}`",
            text.chars().count(),
            truncate(text.trim_start().lines().next().unwrap_or_default(), 60)
        ),
        hint: "put the question first or last, with a question mark, or pass the text as a file and ask about it"
            .into(),
    })
}

fn ends(text: &str) -> (&str, &str) {
    let head = text.char_indices().nth(HEAD_CHARS).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().rev().nth(TAIL_CHARS - 1).map_or(0, |(at, _)| at);
    (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default())
}

/// Whether a text has a question, a sentence that begins with a verb of a request, or a heading that announces one.
fn asks(text: &str) -> bool {
    let mut sentences = text.split_inclusive(['\n', '.', '!', '?', ':', ';', '？', '؟', '。']);
    sentences.any(|sentence| {
        let is_question = sentence.ends_with(['?', '？', '؟']) && sentence.split_whitespace().count() > 1;
        let mut words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default().to_lowercase();
        let is_announced = sentence.ends_with([':', '\n']) && MARKS.contains(&first.as_str());
        is_question
            || is_announced
            || (words.next().is_some() && VERBS.split_whitespace().any(|verb| verb == first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_text_must_ask_for_something_at_one_of_its_ends() {
        let filler = "The sky was grey over the harbour, and the boats lay still.\n".repeat(20_000);
        for asked in [
            "Summarize the following notes.\n\n",
            "What happened on the third day?\n",
            "Task:\nthe weather\n",
            "Bitte fasse das zusammen.\n",
            "Traduis le texte suivant\n",
        ] {
            assert!(require_request(&format!("{asked}{filler}")).is_ok(), "{asked}");
            assert!(require_request(&format!("{filler}{asked}")).is_ok(), "{asked}");
        }
        assert!(require_request(filler.get(..500_000).unwrap()).is_ok(), "a model can still be shown that");
        let refused = require_request(&filler).unwrap_err();
        assert_eq!(
            refused.message,
            "the request has 1200000 characters, and neither its beginning nor its end asks for anything: it begins `The sky was grey over the harbour, and the boats lay still.`"
        );
        assert!(require_request(&"x".repeat(100_000_000)).is_err());
    }

    #[test]
    fn a_long_request_is_shown_by_its_ends() {
        let text = format!("Summarize:\n{}\nIn one line.\n", "é".repeat(20_000));
        assert!(is_long(&text) && !is_long(&"é".repeat(LONG_CHARS)));
        let shown = excerpt("prompt.md", &text);
        assert!(
            shown.starts_with("Do what `prompt.md` asks for.") && shown.contains("\n\nSummarize:\n"),
            "{shown}"
        );
        assert!(shown.ends_with("é\nIn one line.") && shown.chars().count() < 3_300, "{shown}");
    }
}
