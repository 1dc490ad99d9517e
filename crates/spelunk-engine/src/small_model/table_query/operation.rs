//! Operations on rows, and the words of a question that ask for them.

/// An operation on rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Count,
    CountDifferent,
    Sum,
    Average,
    Smallest,
    Largest,
    SmallestTotal,
    LargestTotal,
    MostCommon,
    First,
    Last,
}

/// The names of operations in a form; the last means none of the others.
pub(super) const OPERATIONS: [&str; 12] = [
    "count rows",
    "count different values",
    "sum",
    "average",
    "smallest",
    "largest",
    "smallest total",
    "largest total",
    "most common value",
    "first row",
    "last row",
    NONE,
];
pub(super) const NONE: &str = "none of these";

/// Words of a question, and the operations they ask for.
const ASKED: &[(&[&str], &[&str])] = &[
    (&["different", "distinct", "unique"], &["count different values"]),
    (&["how many", "how often", "number of", "count"], &["count rows", "count different values"]),
    (&["most common", "most frequent", "most often"], &["most common value"]),
    (&["total", "sum", "altogether", "in all"], &["sum"]),
    (&["average", "mean"], &["average"]),
    (&["highest", "largest", "maximum", "longest", "biggest", "slowest"], &["largest", "largest total"]),
    (
        &["lowest", "smallest", "minimum", "shortest", "cheapest", "fastest", "fewest"],
        &["smallest", "smallest total"],
    ),
    (&["highest number", "largest number", "most"], &["most common value", "largest total", "largest"]),
    (&["first", "earliest"], &["first row", "smallest"]),
    (&["last", "latest"], &["last row", "largest"]),
];

/// Words that ask for a total over several rows, not for a single row.
const TOGETHER: [&str; 6] = ["most", "least", "fewest", "total", "altogether", "in all"];
/// Phrases that are bounds, not superlatives.
const BOUNDS: [&str; 4] = ["at most", "at least", "most recent", "most recently"];

/// The words of a question, with single spaces between them and at both ends.
fn padded(asking: &str) -> String {
    let text = asking.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut padded = format!(" {} ", words.join(" "));
    for bound in BOUNDS {
        padded = padded.replace(&format!(" {bound} "), " ");
    }
    padded
}

fn says(padded: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| padded.contains(&format!(" {phrase} ")))
}

/// Whether a question asks for a total over several rows.
pub(super) fn asks_together(question: &str) -> bool {
    says(&padded(question), &TOGETHER)
}

/// Operations that could answer a question, by its words; all of them if the words do not tell. "How many units" may
/// be the sum of a column of that name.
pub(super) fn operations(question: &str, columns: &[String]) -> Vec<&'static str> {
    let padded = padded(question);
    let mut named: Vec<&str> = ASKED
        .iter()
        .filter(|(phrases, _)| says(&padded, phrases))
        .flat_map(|(_, named)| *named)
        .copied()
        .collect();
    if named.is_empty() {
        return OPERATIONS.to_vec();
    }
    // "The most common" is unambiguous; "the most" is not.
    if says(&padded, &["most common", "most frequent", "most often"]) {
        named.retain(|name| !matches!(*name, "largest" | "largest total"));
    }
    if says(&padded, &["different", "distinct", "unique"]) {
        named.retain(|name| *name != "count rows");
    }
    let is_column = |word: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(word));
    let words: Vec<&str> = padded.split_whitespace().collect();
    let counts = |words: &[&str]| words.starts_with(&["how", "many"]) || words.starts_with(&["number", "of"]);
    if words.windows(3).any(|words| counts(words) && is_column(words[2])) {
        named.push("sum");
    }
    OPERATIONS.into_iter().filter(|name| named.contains(name) || *name == NONE).collect()
}

impl Operation {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "count rows" => Self::Count,
            "count different values" => Self::CountDifferent,
            "sum" => Self::Sum,
            "average" => Self::Average,
            "smallest" => Self::Smallest,
            "largest" => Self::Largest,
            "smallest total" => Self::SmallestTotal,
            "largest total" => Self::LargestTotal,
            "most common value" => Self::MostCommon,
            "first row" => Self::First,
            "last row" => Self::Last,
            _ => return None,
        })
    }

    /// Whether the answer is in another column than the queried one.
    pub(super) fn shows(self) -> bool {
        match self {
            Self::Smallest
            | Self::Largest
            | Self::SmallestTotal
            | Self::LargestTotal
            | Self::First
            | Self::Last => true,
            Self::Count | Self::CountDifferent | Self::Sum | Self::Average | Self::MostCommon => false,
        }
    }

    /// Whether it compares the values of its column, so that a condition on one of them makes no sense.
    pub(super) fn compares_values(self) -> bool {
        matches!(self, Self::MostCommon | Self::CountDifferent)
    }

    /// A description, with the column names `of` and `show`.
    pub(super) fn in_words(self, of: &str, show: &str) -> String {
        match self {
            Self::Count => "counted".to_owned(),
            Self::CountDifferent => format!("different values of {of} counted"),
            Self::Sum => format!("sum of {of}"),
            Self::Average => format!("average of {of}"),
            Self::Smallest => format!("{show} where {of} is smallest"),
            Self::Largest => format!("{show} where {of} is largest"),
            Self::SmallestTotal => format!("{show} with the smallest total of {of}"),
            Self::LargestTotal => format!("{show} with the largest total of {of}"),
            Self::MostCommon => format!("most common {of}"),
            Self::First => format!("{show} of the first"),
            Self::Last => format!("{show} of the last"),
        }
    }
}
