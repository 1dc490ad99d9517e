//! How near a text is to a question: every word of the question counts by how rare it is and how
//! similar its nearest word in the text is; the similarity of the whole texts is added.

use std::collections::HashMap;

use spelunk_index::Embedder;

use crate::context_search::cosine;

/// Less similar words count as unrelated.
const SIMILARITY_MIN: f32 = 0.25;
/// The weight of a word that occurs in every passage.
const WEIGHT_MIN: f32 = 0.3;

pub(super) struct Asked<'a> {
    words: Vec<AskedWord>,
    meaning: Vec<f32>,
    /// For each word of a text, its similarity to each word of the question.
    known: HashMap<String, Vec<f32>>,
    embedder: Option<&'a dyn Embedder>,
}

struct AskedWord {
    text: String,
    meaning: Vec<f32>,
    weight: f32,
}

impl<'a> Asked<'a> {
    /// A question about these passages: a word that few of them contain counts more.
    pub(super) fn of(question: &str, passages: &[&str], embedder: Option<&'a dyn Embedder>) -> Self {
        let mut texts = words(question);
        texts.sort();
        texts.dedup();
        let of_passages: Vec<Vec<String>> = passages.iter().map(|passage| words(passage)).collect();
        let weight = |text: &String| {
            let has = |passage: &&Vec<String>| passage.iter().any(|word| is_same(text, word));
            let n_with = of_passages.iter().filter(has).count();
            rarity(n_with, passages.len())
        };
        let weights: Vec<f32> = texts.iter().map(weight).collect();
        let mut asked = Self { words: Vec::new(), meaning: Vec::new(), known: HashMap::new(), embedder };
        asked.meaning = asked.embed(question);
        for (text, weight) in texts.into_iter().zip(weights) {
            let meaning = asked.embed(&text);
            asked.words.push(AskedWord { text, meaning, weight });
        }
        asked
    }

    /// From 0 to 2.
    pub(super) fn nearness(&mut self, text: &str) -> f32 {
        let mut nearest = vec![0.0_f32; self.words.len()];
        for word in words(text) {
            for (most, near) in nearest.iter_mut().zip(self.nearness_of(word)) {
                *most = most.max(*near);
            }
        }
        let total: f32 = self.words.iter().map(|word| word.weight).sum();
        let found: f32 = self.words.iter().zip(nearest).map(|(word, near)| word.weight * near).sum();
        found / total.max(f32::MIN_POSITIVE) + self.similarity(text)
    }

    pub(super) fn nearness_max(&self) -> f32 {
        if self.embedder.is_some() { 2.0 } else { 1.0 }
    }

    /// Whether a sentence begins with the words of the question and no others, set off from the rest.
    pub(super) fn is_entry(&self, said: &str) -> bool {
        let said = said.trim_start_matches(['|', '-', '+', '*', '_', '`', ' ']);
        let Some((head, rest)) = said.split_once(['|', ':', '*', '_', '`', '\u{2013}', '\u{2014}']) else {
            return false;
        };
        let head = words(head);
        let is_asked = |word: &String| self.words.iter().any(|asked| is_same(&asked.text, word));
        let is_named = |asked: &AskedWord| head.iter().any(|word| is_same(&asked.text, word));
        !head.is_empty()
            && head.iter().all(is_asked)
            && self.words.iter().all(is_named)
            && !words(rest).is_empty()
    }

    /// How much a word contributes to the nearness of a text.
    pub(super) fn weight(&mut self, word: &str) -> f32 {
        let near = words(word).into_iter().map(|word| {
            let near = self.nearness_of(word).to_vec();
            self.words.iter().zip(near).map(|(asked, near)| asked.weight * near).fold(0.0, f32::max)
        });
        near.fold(0.0, f32::max)
    }

    /// The similarity of the whole texts alone, from 0 to 1.
    pub(super) fn similarity(&self, text: &str) -> f32 {
        cosine(&self.meaning, &self.embed(text)).max(0.0)
    }

    fn nearness_of(&mut self, word: String) -> &[f32] {
        let (asked, embedder) = (&self.words, self.embedder);
        self.known.entry(word).or_insert_with_key(|word| {
            let meaning = embed(embedder, word);
            let near = |asked: &AskedWord| {
                let similarity = cosine(&asked.meaning, &meaning);
                if is_same(&asked.text, word) {
                    1.0
                } else if similarity >= SIMILARITY_MIN {
                    similarity
                } else {
                    0.0
                }
            };
            asked.iter().map(near).collect()
        })
    }

    fn embed(&self, text: &str) -> Vec<f32> {
        embed(self.embedder, text)
    }
}

/// Empty without an embedder; an empty vector is similar to nothing.
fn embed(embedder: Option<&dyn Embedder>, text: &str) -> Vec<f32> {
    let vectors = embedder.and_then(|embedder| embedder.embed(&[text]).ok());
    vectors.and_then(|vectors| vectors.into_iter().next()).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "there are few passages")]
fn rarity(n_with: usize, n_passages: usize) -> f32 {
    let (n_with, n_without) = (n_with as f32, (n_passages - n_with) as f32);
    (1.0 + (n_without + 0.5) / (n_with + 0.5)).ln() + WEIGHT_MIN
}

const STOP_WORDS: &[&str] = &[
    "about", "and", "any", "are", "can", "could", "did", "does", "for", "from", "has", "have", "how", "into",
    "its", "not", "should", "that", "the", "their", "then", "there", "these", "they", "this", "was", "were",
    "what", "when", "where", "which", "while", "who", "why", "will", "with", "would", "you", "your",
];

pub(super) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() > 2 && !STOP_WORDS.contains(&word.as_str())).collect()
}

/// Whether two words are forms of the same word: the shorter is a prefix and most of the longer.
fn is_same(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let stem = short.strip_suffix(['e', 's', 'y']).unwrap_or(short);
    let is_plural = long.strip_suffix('s') == Some(short);
    short == long || is_plural || (stem.len() >= 4 && long.starts_with(stem) && long.len() <= stem.len() + 4)
}
