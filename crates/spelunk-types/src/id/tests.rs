use super::*;

fn check<T: FromStr<Err = IdError> + fmt::Display>(text: &str, expected: Result<&str, &str>) {
    let got = text.parse::<T>().map(|id| id.to_string()).map_err(|error| error.to_string());
    assert_eq!(got.as_deref().map_err(String::as_str), expected);
}

#[test]
fn ids_print_as_they_parse_and_have_one_spelling() {
    check::<FrameId>("0.3.12", Ok("0.3.12"));
    check::<FrameId>("0.03", Err("`0.03` is not a frame id"));
    check::<FrameId>("", Err("`` is not a frame id"));
    check::<FrameId>("0..1", Err("`0..1` is not a frame id"));
    check::<FrameId>("0.+1", Err("`0.+1` is not a frame id"));
    check::<CallId>("0.3#2", Ok("0.3#2"));
    check::<CallId>("0.3", Err("`0.3` is not a call id"));
    check::<CallId>("0#4294967296", Err("`0#4294967296` is not a call id"));
    check::<RunId>("rlm-20260822T101403Z-3f9a2b1c", Ok("rlm-20260822T101403Z-3f9a2b1c"));
    check::<RunId>("rlm-20260822T101403Z-../../x", Err("`rlm-20260822T101403Z-../../x` is not a run id"));
    check::<BlobId>("9F", Err("`9F` is not a blob id"));
}

#[test]
fn a_run_id_carries_its_utc_second() {
    assert_eq!(RunId::new(0, 1).to_string(), "rlm-19700101T000000Z-00000001");
    assert_eq!(RunId::new(1_787_400_843_999, 0x3f9a_2b1c).to_string(), "rlm-20260822T121403Z-3f9a2b1c");
    assert_eq!(RunId::new(951_782_400_000, 0).to_string(), "rlm-20000229T000000Z-00000000");
    assert_eq!(RunId::new(0, 0xab).short(), "000000ab");
}

#[test]
fn the_tree_is_in_the_id() {
    let child = FrameId::root().child(3).child(0);
    assert_eq!((child.to_string().as_str(), child.depth()), ("0.3.0", 2));
    assert_eq!(child.parent(), Some(FrameId::root().child(3)));
    assert_eq!(FrameId::root().parent(), None);
}
