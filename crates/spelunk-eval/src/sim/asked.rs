//! The meaning of a question as the simulated reader understands it: it recognises the questions of
//! this crate by their words.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::pattern;

/// A question of this crate; the patterns below have its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    Count { topic: String },
    Common,
    Pairs { first: String, second: String },
    Number { thing: String, place: String },
    Numbers { thing: String },
    Keeper { thing: String, place: String },
    Bridge { destination: String, year: String },
    Definition { name: String },
    Callers { name: String },
    Constant { name: String },
    FirstError,
    Errors { service: String, from: u64, until: u64 },
    Declined { code: String },
    Returned { region: String },
    Dearest { region: String },
    Customers { product: String },
}

type Make = fn(&Captures<'_>) -> Question;

fn word(found: &Captures<'_>, idx: usize) -> String {
    found.get(idx).map(|word| word.as_str().to_owned()).unwrap_or_default()
}

static FORMS: LazyLock<Vec<(Regex, Make)>> = LazyLock::new(|| {
    let forms: [(&str, Make); 16] = [
        (r"How many messages have the topic (\w+)\?", |f| Question::Count { topic: word(f, 1) }),
        (r"Which topic is the most common\?", |_| Question::Common),
        (r"message with the topic (\w+) and the other one a message with the topic (\w+)", |f| {
            Question::Pairs { first: word(f, 1), second: word(f, 2) }
        }),
        (r"What is the registration number of the ([a-z ]+) at (\w+)\?", |f| Question::Number {
            thing: word(f, 1),
            place: word(f, 2),
        }),
        (r"What are the registration numbers of the ([a-z ]+)s,", |f| Question::Numbers {
            thing: word(f, 1),
        }),
        (r"Who has kept the ([a-z ]+) at (\w+) since the war\?", |f| Question::Keeper {
            thing: word(f, 1),
            place: word(f, 2),
        }),
        (r"the leader of the expedition to (\w+) of (\d+) was born", |f| Question::Bridge {
            destination: word(f, 1),
            year: word(f, 2),
        }),
        (r"In which file is the function `(\w+)` defined", |f| Question::Definition { name: word(f, 1) }),
        (r"call the function `(\w+)`", |f| Question::Callers { name: word(f, 1) }),
        (r"the value of the constant `(\w+)`", |f| Question::Constant { name: word(f, 1) }),
        (r"Which service failed first", |_| Question::FirstError),
        (r"did the service (\w+) log from (\d+):00 until before (\d+):00", |f| Question::Errors {
            service: word(f, 1),
            from: word(f, 2).parse().unwrap_or_default(),
            until: word(f, 3).parse().unwrap_or_default(),
        }),
        (r"declined with the code (E\d+)", |f| Question::Declined { code: word(f, 1) }),
        (r"with the region (\w+) and the state returned", |f| Question::Returned { region: word(f, 1) }),
        (r"order of the region (\w+) has the highest", |f| Question::Dearest { region: word(f, 1) }),
        (r"customers have ordered the product (\w+)\?", |f| Question::Customers { product: word(f, 1) }),
    ];
    forms.into_iter().map(|(form, make)| (pattern(form), make)).collect()
});

impl Question {
    /// Parses a question, if it is one of ours.
    pub(super) fn of(question: &str) -> Option<Self> {
        FORMS.iter().find_map(|(form, make)| form.captures(question).map(|found| make(&found)))
    }

    /// Whether the counts of parts add up to the answer.
    pub(super) fn is_count(&self) -> bool {
        matches!(self, Self::Count { .. } | Self::Errors { .. } | Self::Returned { .. })
    }
}
