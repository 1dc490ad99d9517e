//! Distinguishes words from noise: whether a value looks like the names and words that people write, or like random
//! characters. Judged by pairs of letters: people write a `u` after a `q`, chance writes anything.

/// How much more often than by chance one letter follows another, in half bits from `a` (rarely) through `k` (as by
/// chance) to `s`. One row per first letter. Counted over the parts of names and words in some thousand source files.
const PAIRS: [&[u8; 26]; 26] = [
    b"flmldgjbkahnknakanmoihffib",
    b"nikingdanhcphdmgallhndaajc",
    b"nejgnfhnkamlgepgckjnjfccfa",
    b"mhglqhhdodajggmfcllhkgedga",
    b"lflnjjhdgadlknfjgonmeifkea",
    b"mhjkmngbpabmhhngalljladaha",
    b"lfgfqfjlnadkimkhdnmhledcec",
    b"pcdhqebcoaehifoealhlkbfahb",
    b"jilkjkkabadllpnjajlnajagaj",
    b"nggaqhgglajegfoiffnhoafcaa",
    b"lihkqhggoabjgjihcinkifhbga",
    b"negkpgdaoagnefnfafkkjfcama",
    b"pjggpedanaehjemoaflilcaada",
    b"lemnnjodlbhheilgafnoihdafa",
    b"ghmkfihbhchllpjlaokkljkeba",
    b"odgfoffilaemfdnmbokmkdeaia",
    b"ghfjjgfbgaejghfhcjjesegcaa",
    b"neijqghanahhkjnhbklljgebja",
    b"kckfpfglnahhhgklcgmpldfbjd",
    b"mdjgpgdlpabigelhanlkjdefjb",
    b"kkkiliiakaamloglannncaaeab",
    b"oeggrheeoaahifkgbfihccdeda",
    b"pehineemoaeignmhcnlhfageaa",
    b"minjnkdinaahieiofgjogddjha",
    b"jijglhgdmaakmnlpajomdeiafh",
    b"ndffsdfdnaaggdlaabhbgceahj",
];

const CHANCE: u8 = b'k';

/// The weight of other transitions, in half bits: words rarely continue after a digit, never after a sign.
const INTO_DIGIT: i32 = -2;
const OUT_OF_DIGIT: i32 = -5;
const INTO_UPPER: i32 = -2;
const SIGN: i32 = -6;

/// Digits after a word that are still part of a name: `key_2024`.
const NUMBER_DIGITS_MAX: usize = 4;

/// Whether a value consists of words, as names in code and prose do, rather than of noise. Of eight random letters, one
/// value in forty passes for words; of sixteen, none.
pub(super) fn is_wordlike(value: &[u8]) -> bool {
    let (mut half_bits, mut n_pairs, mut n_digits) = (0, 0, 0);
    for pair in value.windows(2) {
        let (first, second) = (class(pair[0]), class(pair[1]));
        n_digits = if second == Class::Digit { n_digits + 1 } else { 0 };
        half_bits += match (first, second) {
            (Class::Lower | Class::Upper, Class::Lower) | (Class::Upper, Class::Upper) => of_letters(pair),
            (Class::Lower, Class::Upper) => INTO_UPPER,
            (Class::Lower | Class::Upper, Class::Digit) => INTO_DIGIT,
            (Class::Digit, Class::Lower | Class::Upper) => OUT_OF_DIGIT,
            (Class::Digit, Class::Digit) if n_digits > NUMBER_DIGITS_MAX => SIGN,
            (Class::Sign, _) | (_, Class::Sign) => SIGN,
            // Words end here, and numbers say nothing.
            (Class::Joint, _) | (_, Class::Joint) | (Class::Digit, Class::Digit) => continue,
        };
        n_pairs += 1;
    }
    // The longer a value is, the more reliable the mean, so less tolerance is needed.
    let half_bits_min = match n_pairs {
        0..=8 => 2 * n_pairs / 4,
        9..=11 => 0,
        12..=16 => -n_pairs / 3,
        _ => -n_pairs,
    };
    half_bits >= half_bits_min
}

fn of_letters(pair: &[u8]) -> i32 {
    let row = PAIRS[usize::from(pair[0].to_ascii_lowercase() - b'a')];
    i32::from(row[usize::from(pair[1].to_ascii_lowercase() - b'a')]) - i32::from(CHANCE)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    /// A separator between the parts of a name.
    Joint,
    Sign,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Digit,
        b'_' | b'-' | b'.' | b':' | b'/' | b' ' | 0x80.. => Class::Joint,
        _ => Class::Sign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_are_wordlike() {
        for value in [
            "identifier",
            "String",
            "password_hash",
            "self.tokenizer.next_token_v2",
            "application/json",
            "TokenStream",
            "HTTPServer",
            "sunshine99",
            "MAX_RETRIES",
            "Enter your password",
            "same-origin",
        ] {
            assert!(is_wordlike(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn noise_is_not() {
        for value in [
            "qwkzjvbx",
            "tKqWzRbXvNpLhGfDcMsJyTwQ",
            "k3vQ9xT7",
            "9f86d081884c7d65",
            "x9!kQ2#vL",
            "8472910473",
        ] {
            assert!(!is_wordlike(value.as_bytes()), "{value}");
        }
    }
}
