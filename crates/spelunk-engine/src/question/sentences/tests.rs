use super::sentences;

#[test]
fn lines_are_cut_into_sentences() {
    let cut: Vec<&str> = sentences("It is 3.5 m. So? Yes! e.g. this. Ärger. ").collect();
    assert_eq!(cut, ["It is 3.5 m.", "So?", "Yes! e.g. this.", "Ärger."]);
    assert_eq!(sentences("").count(), 0);
}
