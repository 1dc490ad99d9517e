//! Inputs: samples of every format, mutated in the ways in which text and bytes go wrong. The same seed gives the same
//! inputs.

use crate::CorpusFile;

/// The longest input.
const INPUT_BYTES_MAX: usize = 6000;

/// Well-formed texts to start with.
const SAMPLES: [&str; 12] = [
    "",
    "fn a() {\n    b();\n}\n\n/// Doc.\npub struct C {\n    d: u32,\n}\n\nimpl C {\n    fn e(&self) {}\n}\n",
    "import os\nfrom a import b\n\n\ndef f(x):\n    \"\"\"Doc.\"\"\"\n    return x\n\n\nclass G:\n    def h(self):\n        pass\n",
    "import { a } from 'b';\nexport function c() { return `x ${a}`; }\nclass D { e() {} }\n",
    "#!/bin/sh\nset -e\nf() {\n  echo \"$1\"\n}\nf <<EOF\ntext\nEOF\n",
    "id,name,note\n1,a,\"x, y\"\n2,b,\"two\nlines\"\n3,c,\"say \"\"hi\"\"\"\n",
    "[{\"a\": 1, \"b\": [1, 2, {\"c\": null}]}, {\"a\": 2.5, \"d\": \"\\u00e9\\n\\ud83d\\ude00\"}, [], {}, \"x\"]",
    "{\"meta\": {\"v\": 1}, \"rows\": [[1, 2], [3, 4]], \"text\": \"long text with \\\"quotes\\\" and \\\\\", \"n\": -1e9}",
    "{\"ts\": 1, \"level\": \"info\", \"msg\": \"up\"}\n{\"ts\": 2, \"level\": \"error\", \"error\": {\"code\": 5}}\nnot json\n",
    "2026-01-01T00:00:00Z INFO up\n2026-01-01T00:00:01Z ERROR down\n  at a (b.rs:1)\n  at c (d.rs:2)\n",
    "# One\n\nText of one. More of it.\n\n## Two\n\n```rust\n# not a heading\n```\n\nThree\n=====\n\n- a\n- b\n",
    "[server]\nport = 80\n\nkey: value\nlist:\n  - a\n<?xml version=\"1.0\"?><a b=\"c\"><d/></a>\n",
];

/// Numbers at which sums overflow and signs change.
const NUMBERS: [u64; 8] = [0, 1, 0x7f, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, u64::MAX];

/// Tokens that are significant in the formats.
const WORDS: [&str; 36] = [
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u{feff}",
    "\0",
    "\t",
    " ",
    "\"",
    "\"\"",
    "'",
    "\\",
    "\\\"",
    "\\u",
    "\\ud83d",
    ",",
    ";",
    ":",
    "{",
    "}",
    "[",
    "]",
    "[[[[",
    "}}}}",
    "```",
    "# ",
    "def f():\n",
    "fn g() {",
    "2026-01-01 00:00:00 ",
    "é",
    "日本語",
    "😀",
    "\u{2028}",
    "{\"a\":",
    "null",
    "1e999",
];

/// Generates inputs from a seed.
#[derive(Debug)]
pub struct Mutator {
    state: u64,
    bodies: Vec<Vec<u8>>,
}

impl Mutator {
    /// Starts with a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed, bodies: Vec::new() }
    }

    /// Adds the files of a corpus to the samples.
    #[must_use]
    pub fn with(mut self, corpus: &[CorpusFile]) -> Self {
        self.bodies = corpus.iter().map(|kept| kept.body().to_vec()).collect();
        self
    }

    /// The next input: eight bytes that choose, and a text.
    pub fn input(&mut self) -> Vec<u8> {
        let mut input = self.next().to_le_bytes().to_vec();
        let mut text = self.sample();
        for _ in 0..self.below(12) {
            self.change(&mut text);
            text.truncate(INPUT_BYTES_MAX);
        }
        input.extend(text);
        input
    }

    fn change(&mut self, text: &mut Vec<u8>) {
        let at = self.below(text.len() + 1);
        let end = (at + self.below(64)).min(text.len());
        match self.below(11) {
            0 => drop(text.drain(at..end)),
            1 => text.truncate(at),
            2 => {
                let word = WORDS[self.below(WORDS.len())];
                insert(text, at, word.as_bytes());
            }
            3 => {
                let part = text[at..end].repeat(1 + self.below(30));
                insert(text, at, &part);
            }
            4 => {
                let other = self.sample();
                let from = self.below(other.len() + 1);
                insert(text, at, &other[from..]);
            }
            5 => {
                let word = WORDS[self.below(WORDS.len())].repeat(1 + self.below(400));
                insert(text, at, word.as_bytes());
            }
            6 => {
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << (self.next() % 8);
                }
            }
            7 => {
                let other = [0, 1, 0x7f, 0x80, 0xff, b'0', b'\n', b'/'][self.below(8)];
                if let Some(byte) = text.get_mut(at) {
                    *byte = other;
                }
            }
            // A wrong length.
            8 => {
                let number = NUMBERS[self.below(NUMBERS.len())];
                let bytes = if self.below(2) == 0 { number.to_le_bytes() } else { number.to_be_bytes() };
                let n = self.below(3);
                for (byte, lie) in text.iter_mut().skip(at).zip(&bytes[..2 << n]) {
                    *byte = *lie;
                }
            }
            // Moves a part elsewhere.
            9 => {
                let part: Vec<u8> = text.drain(at..end).collect();
                let to = self.below(text.len() + 1);
                insert(text, to, &part);
            }
            _ => {
                let long = "x".repeat(self.below(3000));
                insert(text, at, long.as_bytes());
            }
        }
    }

    /// Mostly from the corpus, if there is one.
    fn sample(&mut self) -> Vec<u8> {
        if self.bodies.is_empty() || self.below(8) == 0 {
            return SAMPLES[self.below(SAMPLES.len())].as_bytes().to_vec();
        }
        let idx = self.below(self.bodies.len());
        self.bodies[idx].clone()
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap_or(0)
    }

    /// The `SplitMix64` generator.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn insert(text: &mut Vec<u8>, at: usize, part: &[u8]) {
    text.splice(at..at, part.iter().copied());
}
