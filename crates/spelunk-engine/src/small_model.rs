//! Ways to answer that suit small models: code does what they cannot, and they are asked little at a time. Each answers
//! a kind of question and leaves the others to the strategy that called it.

mod multi_hop;
mod name_hops;
mod row_labels;
mod sentence_qa;
mod table_query;

pub(crate) use self::name_hops::{Sentence, follow};
pub(crate) use self::row_labels::solve as label_rows;
pub(crate) use self::sentence_qa::solve as answer_from_sentences;
pub(crate) use self::table_query::{Trust, solve as query_table};

/// The prompts, in the order in which their digest has them.
pub(crate) const PROMPTS: [&[&str]; 3] = [&sentence_qa::PROMPTS, &table_query::PROMPTS, &row_labels::PROMPTS];
