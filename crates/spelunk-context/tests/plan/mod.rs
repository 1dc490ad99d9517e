//! The worked examples of the source documents. Their inputs are lines, so partitions follow from the formula; where
//! the documents' own numbers are wrong (B1.x), the test has the corrected ones and says so.

mod real;

use expect_test::expect;
use spelunk_context::{Analyst, ContentType, Tier, analyst_mix, partitions_expected, target_units};
use spelunk_types::Limits;

/// Partitions of a document by lines and type; 0 for a batched one.
fn partitions(lines: u64, content_type: ContentType) -> u64 {
    let limits = Limits::default();
    match Tier::of(lines, lines, 0, &limits) {
        Tier::Small => 0,
        Tier::Medium | Tier::Large => partitions_expected(lines, target_units(&limits, content_type)),
    }
}

/// `code 10, json 1` for task counts in the order of `Analyst::ALL`.
fn mix(tasks: [u64; 4]) -> String {
    let mix = analyst_mix(&tasks);
    let shares = Analyst::ALL.iter().zip(&mix).filter(|(_, analysts)| **analysts > 0);
    let shares: Vec<String> =
        shares.map(|(analyst, analysts)| format!("{} {analysts}", analyst.name())).collect();
    format!("{} = {}", shares.join(", "), mix.iter().sum::<u64>())
}

#[test]
fn the_golden_mix_of_analysts() {
    // S1.17: 12 code, 6 data and 1 JSON task.
    expect!["code 3, data 2, json 1 = 6"].assert_eq(&mix([12, 6, 1, 0]));
}

#[test]
fn example_a_a_python_service() {
    // S1.26 A. Batches: code {400}, json {250 + 180}, config {50 + 120}, prose {300}.
    let code = [2800, 1900, 3200].map(|lines| partitions(lines, ContentType::SourceCode));
    assert_eq!((code, code.iter().sum::<u64>()), ([14, 10, 16], 40));
    let small = [(400, ContentType::SourceCode), (250, ContentType::Json), (300, ContentType::Prose)];
    assert_eq!(small.map(|(lines, content_type)| partitions(lines, content_type)), [0, 0, 0]);
    let (code, json, general) = (40 + 1, 1, 2);
    assert_eq!(code + json + general, 44);
    expect!["code 10, json 1, general 1 = 12"].assert_eq(&mix([code, 0, json, general]));
}

#[test]
fn example_b_a_data_pipeline() {
    // S1.26 B: 125 partitions and 3 batches. With the log in chunks of 5,000 lines it is 122 and 3.
    let partitions = [
        partitions(82_000, ContentType::StructuredData),
        partitions(45_000, ContentType::StructuredData),
        partitions(25_000, ContentType::Jsonl),
        partitions(15_000, ContentType::Log),
        partitions(4200, ContentType::SourceCode),
    ];
    assert_eq!((partitions, partitions.iter().sum::<u64>()), ([41, 23, 34, 6, 21], 125));
    assert_eq!(partitions_expected(15_000, 5000), 3);
    // The document's own groups: data 64, JSON lines 34, code 22, log 3, and the JSON and prose batches as "general".
    assert_eq!(analyst_mix(&[64, 34, 22, 3, 2]), [16, 9, 6, 1, 1]);
    // B1.3: the JSON analyst reads the JSON batch, and the analyst of logs reads prose, which makes 32, not 33.
    expect!["code 6, data 16, json 9, general 1 = 32"].assert_eq(&mix([22, 64, 35, 4]));
}

#[test]
fn medium_documents_are_as_many_partitions_as_their_type_makes() {
    // B1.1: the document says "typically 3 to 5" for 1,501 to 5,000 lines; its formula says otherwise.
    let ends = |content_type| (partitions(1501, content_type), partitions(5000, content_type));
    assert_eq!(ends(ContentType::SourceCode), (8, 25));
    assert_eq!(ends(ContentType::Jsonl), (3, 7));
    // B1.6: its `max(2, …)` splits documents below the target; ours does not.
    assert_eq!(ends(ContentType::StructuredData), (1, 3));
    assert_eq!(ends(ContentType::Log), (1, 2));
    assert_eq!(partitions(1500, ContentType::SourceCode), 0);
}

#[test]
fn the_expectations_of_the_evaluation() {
    // O1.22.
    let sparse = Limits::default().chunk_wide_sparse_rows;
    assert_eq!(partitions_expected(25_000, sparse), 17);
    assert_eq!(11 * partitions_expected(10_000, sparse), 77);
    assert_eq!(partitions(4200, ContentType::SourceCode), 21);
    // 5 to 10 ranges of 40,000 lines need the upper end of the range of a log's chunks; the default gives 16.
    assert_eq!((partitions_expected(40_000, 5000), partitions(40_000, ContentType::Log)), (8, 16));
    assert_eq!(partitions(200, ContentType::SourceCode), 0);
}

#[test]
fn rounding_is_half_up_and_may_exceed_the_target() {
    // B1.10: 2 of 44 tasks with a target of 11 is exactly one half; half to even would give none.
    assert_eq!(analyst_mix(&[41, 1, 2]), [10, 1, 1]);
    assert_eq!(analyst_mix(&[6, 2]), [2, 1]);
    assert_eq!(analyst_mix(&[0, 0]), [0, 0]);
    assert_eq!(analyst_mix(&[1]), [1]);
}
