//! Whole reports: the same results give the same text.

use expect_test::expect;

use super::*;
use crate::{Failure, Outcome, Pairing, Status, Trial, compare};

fn trial(strategy: &str, tokens: u64, repeat: u64, score: f64) -> Trial {
    Trial {
        engine: "spelunk".into(),
        task: format!("labels-{tokens}"),
        kind: "labels".into(),
        tokens,
        strategy: strategy.into(),
        model: "m".into(),
        repeat,
        answer: "ANSWER: 1".into(),
        score: Some(score),
        off: Some(1.0 - score),
        tokens_in: tokens,
        tokens_out: 100,
        calls: 2,
        cost_microusd: 1500,
        wall_ms: 2500,
        status: Status::Answered,
        failure: (score < 1.0).then_some(Failure::Coverage),
        ..Trial::default()
    }
}

fn trials(shift: f64) -> Vec<Trial> {
    let mut all = Vec::new();
    for repeat in 0..3 {
        all.push(trial("map", 8000, repeat, 1.0));
        all.push(trial("map", 100_000, repeat, if repeat == 0 { 1.0 } else { 0.5 }));
        all.push(trial("whole", 8000, repeat, 1.0));
        all.push(trial("whole", 100_000, repeat, 0.1 + shift));
    }
    all.push(Trial { status: Status::Outage, ..trial("map", 8000, 9, 0.0) });
    all.push(Trial { score: None, engine: "rlms".into(), ..trial("rlms", 8000, 0, 0.0) });
    all
}

#[test]
fn the_figures_stand_in_tables() {
    let remarks = vec!["Partial: `r.jsonl` holds 14 of 20 trials (budget-time).".to_owned()];
    let report = Report { summary: Summary::of(&trials(0.0)), remarks };
    expect![[r#"
        # Evaluation

        Partial: `r.jsonl` holds 14 of 20 trials (budget-time).

        Excluded because the model was unavailable: 1 trials.

        Excluded because they have no score: 1 trials. Pass the tasks with `--tasks` to score them.

        ## Overall

        | how | model | trials | score [95 %] | all right [95 %] | tokens, median | tokens, p95 | calls, mean | time, median | tokens per right answer | cost per right answer | numbers off, median |
        |---|---|---|---|---|---|---|---|---|---|---|---|
        | map | m | 6 | 0.833 [0.667, 1.000] | 67 % [30, 90] | 8.1k | 100.1k | 2.0 | 2.5 s | 81.2k | $0.0022 | 0.0 % |
        | whole | m | 6 | 0.550 [0.250, 0.850] | 50 % [19, 81] | 8.1k | 100.1k | 2.0 | 2.5 s | 108.2k | $0.0030 | 0.0 % |

        ## Outcomes

        | how | model | trials | score | right | honest miss | no answer | wrong | wrong with a citation | tokens, median |
        |---|---|---|---|---|---|---|---|---|---|
        | map | m | 6 | 0.83 | 4 | 0 | 0 | 2 | 0 | 8.1k |
        | whole | m | 6 | 0.55 | 3 | 0 | 0 | 3 | 0 | 8.1k |

        ## Score by size

        | how | model | 8k | 100k |
        |---|---|---|---|
        | map | m | 1.00 (n=3) | 0.67 (n=3) |
        | whole | m | 1.00 (n=3) | 0.10 (n=3) |

        ## Score by kind

        | how | model | labels |
        |---|---|---|
        | map | m | 0.83 (n=6) |
        | whole | m | 0.55 (n=6) |

        ## Failures

        | how | model | error | budget | parsing | decomposition | coverage | wrong-answer |
        |---|---|---|---|---|---|---|---|
        | map | m | 0 | 0 | 0 | 0 | 2 | 0 |
        | whole | m | 0 | 0 | 0 | 0 | 3 | 0 |
    "#]].assert_eq(&report.markdown());
}

#[test]
fn outcomes_are_counted_by_variant_and_language() {
    let of = |variant: &str, language: &str, score, outcome| Trial {
        kind: "needle".into(),
        variant: variant.into(),
        language: language.into(),
        outcome,
        ..trial("auto", 8000, 0, score)
    };
    let all = [
        of("docs", "en", 1.0, Some(Outcome::Right)),
        of("docs", "de", 0.0, Some(Outcome::WrongCited)),
        of("books", "en", 0.0, Some(Outcome::HonestMiss)),
        of("books", "en", 0.0, Some(Outcome::NoAnswer)),
        of("", "", 0.0, None),
    ];
    let report = Report { summary: Summary::of(&all), remarks: Vec::new() };
    let markdown = report.markdown();
    let tables: Vec<&str> = markdown.split("\n## ").filter(|table| table.starts_with("Outcomes")).collect();
    expect![[r#"
        Outcomes

        | how | model | trials | score | right | honest miss | no answer | wrong | wrong with a citation | tokens, median |
        |---|---|---|---|---|---|---|---|---|---|
        | auto | m | 5 | 0.20 | 1 | 1 | 1 | 1 | 1 | 8.1k |

        Outcomes by variant

        | how | model | kind | variant | trials | score | right | honest miss | no answer | wrong | wrong with a citation | tokens, median |
        |---|---|---|---|---|---|---|---|---|---|---|---|
        | auto | m | needle | books | 2 | 0.00 | 0 | 1 | 1 | 0 | 0 | 8.1k |
        | auto | m | needle | docs | 2 | 0.50 | 1 | 0 | 0 | 0 | 1 | 8.1k |

        Outcomes by language

        | how | model | language | trials | score | right | honest miss | no answer | wrong | wrong with a citation | tokens, median |
        |---|---|---|---|---|---|---|---|---|---|---|
        | auto | m | de | 1 | 0.00 | 0 | 0 | 0 | 0 | 1 | 8.1k |
        | auto | m | en | 3 | 0.33 | 1 | 1 | 1 | 0 | 0 | 8.1k |
    "#]].assert_eq(&tables.join("\n"));
    assert!(report.html().contains("<h2>Outcomes by variant</h2>"));
    assert!(report.html().contains("<th scope=\"col\">wrong with a citation</th>"));
}

#[test]
fn the_page_stands_alone_and_names_cannot_become_markup() {
    let mut all = trials(0.0);
    all[0].model = "<script>alert(1)</script>|\n".into();
    all[0].strategy = "<b>\"x".into();
    let report = Report { summary: Summary::of(&all), remarks: vec!["<i>".into()] };
    let html = report.html();
    assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("<i>"), "{html}");
    assert!(!html.contains("http") && html.contains("prefers-color-scheme: dark"), "{html}");
    assert_eq!(html.matches("<svg ").count(), 2);
    assert_eq!(html.matches("role=\"img\" aria-labelledby=").count(), 2);
    assert!(html.contains("whole: 1.00 at 8k, 0.10 at 100k"), "{html}");
    assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
    assert!(report.markdown().lines().any(|line| line.contains("<script>alert(1)</script>\\|  |")));
}

#[test]
fn nothing_gives_a_report_of_nothing() {
    let report = Report::default();
    assert!(report.html().contains("<h1>Evaluation</h1>") && !report.html().contains("<svg"));
    assert!(report.markdown().starts_with("# Evaluation\n"));
}

#[test]
fn two_sets_of_results_are_compared_pair_by_pair() {
    let (before, after) = (trials(0.0), trials(0.9));
    expect![[r#"

        ## What changed

        | how | pairs | before | after | difference [95 %] | tokens | won | lost |
        |---|---|---|---|---|---|---|---|
        | spelunk map m | 6 | 0.833 | 0.833 | +0.000 [+0.000, +0.000] | ×1.00 | 0 | 0 |
        | spelunk whole m | 6 | 0.550 | 1.000 | +0.450 [+0.150, +0.750] | ×1.00 | 3 | 0 |
    "#]]
    .assert_eq(&differences_markdown(&compare(&before, &after, Pairing::SameWay)));
    let across = compare(&before, &after, Pairing::AnyWay);
    let labels: Vec<&str> = across.iter().map(|difference| difference.label.as_str()).collect();
    assert_eq!(labels.len(), 4, "{labels:?}");
    assert_eq!(compare(&before, &[], Pairing::SameWay), []);
}
