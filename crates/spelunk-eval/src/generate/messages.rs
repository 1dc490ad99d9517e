//! Customer messages: lines whose topic follows from their content. Topics share the things they mention, so that no
//! single word determines the topic.

use crate::rng::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    /// Its definition, for the question.
    pub(crate) means: &'static str,
    templates: &'static [&'static str],
}

/// All topics; the last two are rare.
pub(crate) const TOPICS: [Topic; 8] = [
    Topic {
        name: "delivery",
        means: "it came late, or to the wrong place, or not at all",
        templates: &[
            "the {item} was left with a neighbour I have never met",
            "I have been waiting for the {item} since {when} and nobody can say where it is",
            "the driver marked the {item} as handed over, but nobody rang at our door",
            "my {item} went to my old address although I had changed it",
            "the {item} that I ordered {when} still has not arrived",
            "tracking says the {item} has been in the same depot since {when}",
        ],
    },
    Topic {
        name: "billing",
        means: "what was charged",
        templates: &[
            "I paid for one {item} and my card shows the amount twice",
            "the invoice for the {item} is higher than the price on the page",
            "you took money for the {item} again {when}, please check",
            "the discount for the {item} is missing from my invoice",
            "why do you charge me a fee on top of the {item}?",
            "the refund for the {item} was promised {when} and is not on my statement",
        ],
    },
    Topic {
        name: "defect",
        means: "it is broken or does not work",
        templates: &[
            "the {item} stopped working after two days",
            "there is a crack along the side of the {item}",
            "one screw of the {item} came off {when} and it wobbles now",
            "the {item} makes a grinding noise and gets hot",
            "the {item} was fine at first, since {when} it will not switch on",
            "the seam of the {item} opened the first time I used it",
        ],
    },
    Topic {
        name: "praise",
        means: "the customer is happy",
        templates: &[
            "I love the {item}, my whole family wants one now",
            "best {item} I have ever had, thank you so much",
            "just wanted to say how happy I am with the {item}",
            "the {item} is even nicer than in the pictures, well done",
            "{when} I used the {item} for the first time and it made my day",
            "five stars for the {item}, keep it up",
        ],
    },
    Topic {
        name: "cancellation",
        means: "the customer wants to end a contract or withdraw an order",
        templates: &[
            "please take the {item} out of my order, I do not need it any more",
            "I want to end my subscription for the {item} at the end of the month",
            "I ordered the {item} {when} by mistake, please stop it",
            "do not renew the plan for my {item}",
            "I have changed my mind about the {item} and would like to withdraw",
            "close my contract for the {item} as of today",
        ],
    },
    Topic {
        name: "size",
        means: "it is too large, too small, or the measures are asked for",
        templates: &[
            "the {item} is two numbers too large for me",
            "how wide is the {item} in centimetres?",
            "the {item} does not fit through our door",
            "is there a smaller {item}? Mine hangs over the edge",
            "I need the height of the {item} before I can decide",
            "the {item} is much shorter than I thought, do you have a longer one?",
        ],
    },
    Topic {
        name: "job",
        means: "the writer wants to work for the company",
        templates: &[
            "do you need people in the workshop that makes the {item}? I could start {when}",
            "I am a student and would like to help out in the team behind the {item}",
            "to whom do I send my papers for the open position with the {item}?",
            "I have ten years of experience with making a {item} like yours, are you hiring?",
        ],
    },
    Topic {
        name: "allergy",
        means: "the writer's body does not tolerate something in it",
        templates: &[
            "my skin turned red where the {item} touched it",
            "is there nickel or latex in the {item}? My daughter cannot be near it",
            "since I have the {item} my eyes water every night",
            "I got a rash on my hands from the {item} {when}",
        ],
    },
];

pub(super) const COMMON: usize = 6;

const ITEMS: &[&str] = &[
    "lamp",
    "backpack",
    "desk",
    "kettle",
    "jacket",
    "mattress",
    "bicycle helmet",
    "shelf",
    "blanket",
    "watch",
    "pan",
    "headset",
    "carpet",
    "chair",
    "thermos",
    "tent",
];
const WHEN: &[&str] = &[
    "last week",
    "on Monday",
    "yesterday",
    "two weeks ago",
    "on Friday",
    "last month",
    "this morning",
    "on Sunday",
];
const GREETINGS: &[&str] =
    &["", "", "", "Hello! ", "Good morning. ", "Hi there! ", "Dear team! ", "Excuse me. "];
const ENDINGS: &[&str] = &["", "", "", " Regards.", " Thanks.", " Please reply soon.", " Have a nice day."];

pub(super) fn text(rng: &mut Rng, topic: &Topic) -> String {
    let (item, when) = (*rng.pick(ITEMS), *rng.pick(WHEN));
    let said = rng.pick(topic.templates).replace("{item}", item).replace("{when}", when);
    let said = capital(&said);
    let end = if said.ends_with('?') { "" } else { "." };
    format!("{}{said}{end}{}", rng.pick(GREETINGS), rng.pick(ENDINGS))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

pub(super) fn line(rng: &mut Rng, number: u64, user: u64, topic: &Topic, is_easy: bool) -> String {
    let (month, day) = (rng.between(1, 13), rng.between(1, 29));
    let tag = if is_easy { format!("[{}] ", topic.name) } else { String::new() };
    format!("#{number:06} | 2025-{month:02}-{day:02} | user {user} | {tag}{}", text(rng, topic))
}

/// The definitions of the topics, for the question.
pub(super) fn explained(topics: &[Topic]) -> String {
    topics.iter().map(|topic| format!("{} ({})", topic.name, topic.means)).collect::<Vec<_>>().join(", ")
}

/// The topic of a line, as a careful reader would judge it.
pub(crate) fn topic_of(line: &str) -> Option<&'static Topic> {
    let said = line.rsplit(" | ").next()?.to_lowercase();
    if let Some(tag) = said.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
        return TOPICS.iter().find(|topic| topic.name == tag);
    }
    TOPICS.iter().find(|topic| topic.templates.iter().any(|template| fits(template, &said)))
}

/// Whether a text was generated from a template: it contains the fixed parts in order.
fn fits(template: &str, said: &str) -> bool {
    let template = template.to_lowercase();
    let mut rest = said;
    for part in template.split(['{', '}']).filter(|part| !matches!(*part, "item" | "when" | "")) {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_careful_reader_sees_the_topic_of_every_message() {
        let mut rng = Rng::of(&["messages"]);
        for number in 0..4000 {
            let topic = rng.pick(&TOPICS).to_owned();
            let line = line(&mut rng, number, 7, &topic, number % 5 == 0);
            assert_eq!(topic_of(&line).map(|topic| topic.name), Some(topic.name), "{line}");
        }
    }
}
