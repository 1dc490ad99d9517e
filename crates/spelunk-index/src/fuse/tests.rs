use super::*;

fn order(rankings: &[Ranking<'_, char>]) -> String {
    let mut fused: Vec<_> = fuse(rankings).into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused.iter().map(|(key, _)| key).collect()
}

#[test]
fn what_both_rank_high_comes_first() {
    let words = [(9.0, 'a'), (8.0, 'b'), (7.0, 'c')];
    let meaning = [(0.9, 'd'), (0.8, 'b'), (0.7, 'e')];
    let both = [Ranking { scored: &words, weight: 1.0 }, Ranking { scored: &meaning, weight: 1.0 }];
    assert_eq!(order(&both), "badce");
    let leaning = [Ranking { scored: &words, weight: 2.0 }, Ranking { scored: &meaning, weight: 0.1 }];
    assert_eq!(order(&leaning), "bacde");
}

#[test]
fn a_quotation_leans_on_words_and_a_question_on_meaning() {
    assert!((words_weight(1.0) - WORDS_IF_QUOTED).abs() < 1e-6);
    assert!((words_weight(0.0) - WORDS_IF_OTHER).abs() < 1e-6);
    assert!(words_weight(0.6) < words_weight(0.7) && words_weight(0.7) < words_weight(0.8));
}

proptest::proptest! {
    /// Ties may come in any order, and so may the rankings.
    #[test]
    fn the_outcome_does_not_depend_on_the_order_of_equals(
        scores in proptest::collection::vec(0_u8..4, 1..20),
        others in proptest::collection::vec(0_u8..4, 1..20),
    ) {
        let ranked = |scores: &[u8], reverse: bool| {
            let mut list: Vec<(f32, usize)> = scores.iter().enumerate().map(|(idx, s)| (f32::from(*s), idx)).collect();
            if reverse {
                list.reverse();
            }
            list.sort_by(|a, b| b.0.total_cmp(&a.0));
            list
        };
        let fused = |reverse: bool| {
            let (a, b) = (ranked(&scores, reverse), ranked(&others, reverse));
            let (a, b) = (Ranking { scored: &a, weight: 1.0 }, Ranking { scored: &b, weight: 0.5 });
            let mut fused: Vec<_> = fuse(&[a, b]).into_iter().map(|(key, score)| (key, score.to_bits())).collect();
            fused.sort_unstable();
            fused
        };
        assert_eq!(fused(false), fused(true));
    }
}
