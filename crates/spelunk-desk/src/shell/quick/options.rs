//! The options of a command, read as the GNU tools read them: letters in one word, values in the same word or the next,
//! files anywhere between. A letter that is not known, and every long option, is left to the interpreter.

/// What stood behind the name of a command.
#[derive(Debug, Default)]
pub(super) struct Options<'a> {
    given: Vec<(char, Option<&'a str>)>,
    pub(super) operands: Vec<&'a str>,
}

impl<'a> Options<'a> {
    /// Reads the words of a command. `letters` stand alone, `valued` take a value.
    pub(super) fn read(words: &'a [String], letters: &str, valued: &str) -> Option<Self> {
        let mut options = Self::default();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                Some("-") => {
                    options.operands.extend(words);
                    break;
                }
                Some(given) if !given.is_empty() => options.read_word(given, letters, valued, &mut words)?,
                Some(_) | None => options.operands.push(word),
            }
        }
        Some(options)
    }

    fn read_word(
        &mut self,
        given: &'a str,
        letters: &str,
        valued: &str,
        more: &mut impl Iterator<Item = &'a str>,
    ) -> Option<()> {
        let mut rest = given.chars();
        while let Some(letter) = rest.next() {
            if letters.contains(letter) {
                self.given.push((letter, None));
            } else if valued.contains(letter) {
                let value = match rest.as_str() {
                    "" => more.next()?,
                    here => here,
                };
                self.given.push((letter, Some(value)));
                return Some(());
            } else {
                return None;
            }
        }
        Some(())
    }

    /// Whether a letter was given.
    pub(super) fn has(&self, letter: char) -> bool {
        self.given.iter().any(|(given, _)| *given == letter)
    }

    /// The value of a letter: the inner is nothing if it was not given; refused if it was given twice.
    #[expect(clippy::option_option, reason = "the outer one is the refusal")]
    pub(super) fn value(&self, letter: char) -> Option<Option<&'a str>> {
        let mut all = self.values(letter);
        let first = all.next();
        if all.next().is_some() { None } else { Some(first) }
    }

    /// All values of a letter.
    pub(super) fn values(&self, letter: char) -> impl Iterator<Item = &'a str> {
        self.given.iter().filter(move |(given, _)| *given == letter).filter_map(|(_, value)| *value)
    }

    /// The operands as the names of files.
    pub(super) fn files(&self) -> Vec<String> {
        self.operands.iter().map(|&name| name.to_owned()).collect()
    }
}

/// A count as the tools write it: digits alone.
pub(super) fn count(text: &str) -> Option<usize> {
    let is_count = !text.is_empty() && text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_count { text.parse().ok() } else { None }
}
