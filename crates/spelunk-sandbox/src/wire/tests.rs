use std::borrow::Cow;

use proptest::prelude::*;

use super::value::DEPTH_MAX;
use super::*;
use crate::{
    CellEnd, Handle, HostCall, HostFunction, HostReply, Output, Raised, SandboxLimits, Setup, Step, Value,
};

fn text_of(value: &Value) -> String {
    serde_json::to_string(value).unwrap()
}

fn value_of(text: &str) -> Result<Value, String> {
    decode::<Value>(text.as_bytes()).map_err(|error| {
        let text = error.to_string();
        text.split(" at line").next().unwrap_or_default().to_owned()
    })
}

#[test]
fn every_kind_of_value_has_one_form() {
    let handle = Handle { class: "Text".into(), id: 7 };
    let forms = [
        (Value::None, "null"),
        (Value::Bool(true), "true"),
        (Value::Int(-1), "-1"),
        (Value::BigInt("123456789012345678901".into()), r#"{"$i":"123456789012345678901"}"#),
        (Value::Float(1.0), "1.0"),
        (Value::Float(1.5), "1.5"),
        (Value::Float(-0.0), "-0.0"),
        (Value::Float(0.1 + 0.2), r#"{"$f":"0.30000000000000004"}"#),
        (Value::Float(1e300), r#"{"$f":"1e300"}"#),
        (Value::Float(f64::INFINITY), r#"{"$f":"inf"}"#),
        (Value::Float(f64::NEG_INFINITY), r#"{"$f":"-inf"}"#),
        (Value::Str("a\"b\n".into()), r#""a\"b\n""#),
        (Value::Bytes(vec![0, 255, 16]), r#"{"$b":"00ff10"}"#),
        (Value::List(vec![Value::Int(1)]), "[1]"),
        (Value::Tuple(vec![Value::Int(1)]), r#"{"$t":[1]}"#),
        (Value::Set(vec![Value::Int(1)]), r#"{"$set":[1]}"#),
        (Value::Dict(vec![(Value::Int(1), Value::None)]), r#"{"$d":[[1,null]]}"#),
        (Value::Slice(Some(1), None, Some(-1)), r#"{"$s":[1,null,-1]}"#),
        (Value::Handle(handle), r#"{"$h":["Text",7]}"#),
        (
            Value::Opaque { type_name: "module".into(), repr: "<module 're'>".into() },
            r#"{"$o":["module","<module 're'>"]}"#,
        ),
    ];
    for (value, text) in forms {
        assert_eq!(text_of(&value), text);
        assert_eq!(value_of(text), Ok(value));
    }
    assert_eq!(text_of(&Value::Float(f64::NAN)), r#"{"$f":"nan"}"#);
    assert!(matches!(value_of(r#"{"$f":"nan"}"#), Ok(Value::Float(number)) if number.is_nan()));
}

#[test]
fn what_is_no_value_is_refused() {
    let refusals = [
        (r#"{}"#, "an object without a key"),
        (r#"{"a":1}"#, "`a` is not a known tag"),
        (r#"{"$t":[],"$d":[]}"#, "an object with two keys"),
        (r#"{"$i":"0x10"}"#, "`$i` is not an integer"),
        (r#"{"$i":"-"}"#, "`$i` is not an integer"),
        (r#"{"$b":"abc"}"#, "`$b` is not hexadecimal text"),
        (r#"{"$b":"zz"}"#, "`$b` is not hexadecimal text"),
        (r#"{"$f":"many"}"#, "`$f` is not a number"),
        (r#"{"$h":["Text",-1]}"#, "invalid value: integer `-1`, expected u64"),
        ("[1", "EOF while parsing a list"),
        ("", "EOF while parsing a value"),
    ];
    for (text, refusal) in refusals {
        assert_eq!(value_of(text), Err(refusal.to_owned()), "{text}");
    }
}

/// A value nested `depth` times, of the kind that takes the most brackets.
fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Int(1), |inner, _| Value::Dict(vec![(Value::Int(0), inner)]))
}

#[test]
fn the_deepest_value_fits_the_deepest_message_and_a_deeper_one_is_cut() {
    let call = |value| {
        let call =
            HostCall { name: "f".into(), receiver: None, args: vec![], kwargs: vec![("x".into(), value)] };
        Step::Calls(vec![call])
    };
    let sent = |step: &Step| {
        let frame = encode(&Response::Step(Cow::Borrowed(step)), RESPONSE_BYTES_MAX).unwrap();
        let Response::Step(step) = read(&mut frame.as_slice(), RESPONSE_BYTES_MAX).unwrap().unwrap() else {
            panic!("it was a step")
        };
        step.into_owned()
    };
    let deepest = call(nested(DEPTH_MAX));
    assert_eq!(sent(&deepest), deepest);
    let cut = (0..DEPTH_MAX)
        .fold(Value::Opaque { type_name: "dict".into(), repr: "...".into() }, |inner, _| {
            Value::Dict(vec![(Value::Int(0), inner)])
        });
    assert_eq!(sent(&call(nested(DEPTH_MAX + 1))), call(cut.clone()));
    assert_eq!(sent(&call(nested(DEPTH_MAX + 60))), call(cut));
}

#[test]
fn hostile_frames_are_refused_before_they_cost_anything() {
    let refused = |bytes: &[u8]| {
        let mut input = bytes;
        read::<Response<'_>>(&mut input, RESPONSE_BYTES_MAX).unwrap_err().to_string()
    };
    let framed = |body: &[u8]| {
        let mut frame = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        frame.extend(body);
        frame
    };
    assert_eq!(refused(&[255; 8]), "a frame of 4294967295 bytes; the maximum is 134217728");
    assert_eq!(refused(&framed(b"hello")), "expected value at line 1 column 1");
    assert_eq!(refused(&framed(&[255; 8])), "expected value at line 1 column 1");
    assert_eq!(refused(&framed(&b"[".repeat(1000))), "a frame nested deeper than 127");
    let many = [b"{\"variable\":[".as_slice(), &b"[],".repeat(8_000_000), b"1]}"].concat();
    assert_eq!(refused(&framed(&many)), "a frame of more than 8000000 values");
    assert_eq!(
        refused(&framed(br#"{"feed":{"code":"1"}}"#)),
        "unknown variant `feed`, expected one of `opened`, `step`, `variable`, `no_variable`, `closed`, `broken`, \
         `unconfined` at line 1 column 7"
    );
    assert_eq!(refused(&framed(br#"{"step":{"done":{}}}"#)), "missing field `output` at line 1 column 18");
}

#[test]
fn commas_and_brackets_in_text_are_not_counted() {
    let text = r#"[,\"{"#.repeat(20_000_000);
    let body = format!("{{\"variable\":\"{text}\"}}");
    assert!(shape::check(body.as_bytes()).is_ok());
}

#[test]
fn a_stream_that_ends_within_a_frame_has_ended() {
    for cut in [0, 3, 4, 6] {
        let frame = encode(&Response::Opened, RESPONSE_BYTES_MAX).unwrap();
        let mut input = frame.get(..cut).unwrap();
        assert!(read::<Response<'_>>(&mut input, RESPONSE_BYTES_MAX).unwrap().is_none(), "{cut}");
    }
}

#[test]
fn a_message_that_is_too_long_is_not_sent() {
    let request = Request::Feed { code: "x".repeat(100).into(), cell_ms_max: 1 };
    let refusal = encode(&request, 99).unwrap_err().to_string();
    assert_eq!(refusal, "a frame of 136 bytes; the maximum is 99");
}

#[test]
fn a_setup_arrives_as_it_was_sent() {
    let setup = Setup {
        functions: vec![HostFunction { name: "ask".into(), doc: "ask(text)".into(), is_awaitable: true }],
        variables: vec![("context".into(), Value::Handle(Handle { class: "Text".into(), id: 1 }))],
        exceptions: vec!["BudgetError".into()],
        prelude: "x = 1".into(),
        files: vec![("a.json".into(), "{}".into())],
        clock_ms: 1_700_000_000_000,
        seed: u64::MAX,
        limits: SandboxLimits {
            cell_ms_max: 1,
            memory_bytes_max: 2,
            recursion_max: 3,
            output_chars_max: 4,
            cell_calls_max: 5,
        },
    };
    let request = Request::Open { parent: 9, setup: Cow::Borrowed(&setup) };
    let frame = encode(&request, REQUEST_BYTES_MAX).unwrap();
    let Request::Open { parent: 9, setup: arrived } =
        read(&mut frame.as_slice(), REQUEST_BYTES_MAX).unwrap().unwrap()
    else {
        panic!("it was an open")
    };
    assert_eq!(*arrived, setup);
}

#[test]
fn every_end_of_a_cell_arrives_as_it_was_sent() {
    let output = Output { head: "a".into(), tail: "z".into(), n_chars: 26 };
    let raised = Raised {
        kind: "KeyError".into(),
        message: "'a'".into(),
        traceback: "line 1".into(),
        is_poisoned: true,
    };
    for end in [
        CellEnd::Done { output: output.clone() },
        CellEnd::Raised { output: output.clone(), raised },
        CellEnd::Finished { output },
    ] {
        let step = Step::Finished(end);
        let text = serde_json::to_string(&step).unwrap();
        assert_eq!(serde_json::from_str::<Step>(&text).unwrap(), step);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        "-?[1-9][0-9]{19,40}".prop_map(Value::BigInt),
        any::<f64>().prop_filter("NaN is not equal to itself", |f| !f.is_nan()).prop_map(Value::Float),
        any::<String>().prop_map(Value::Str),
        any::<Vec<u8>>().prop_map(Value::Bytes),
        any::<(Option<i64>, Option<i64>, Option<i64>)>().prop_map(|(a, b, c)| Value::Slice(a, b, c)),
        any::<(String, u64)>().prop_map(|(class, id)| Value::Handle(Handle { class, id })),
        any::<(String, String)>().prop_map(|(type_name, repr)| Value::Opaque { type_name, repr }),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Tuple),
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Set),
            proptest::collection::vec((inner.clone(), inner), 0..6).prop_map(Value::Dict),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_arrives_as_it_was_sent(value in any_value()) {
        prop_assert_eq!(value_of(&text_of(&value)), Ok(value.clone()));
        let reply = HostReply::Return(value);
        let frame = encode(&Request::Resume { replies: vec![reply.clone()] }, REQUEST_BYTES_MAX).unwrap();
        let Request::Resume { replies } = read(&mut frame.as_slice(), REQUEST_BYTES_MAX).unwrap().unwrap() else {
            panic!("it was a resume")
        };
        prop_assert_eq!(replies, vec![reply]);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in any::<Vec<u8>>()) {
        drop(decode::<Response<'_>>(&bytes));
        drop(read::<Response<'_>>(&mut bytes.as_slice(), RESPONSE_BYTES_MAX));
    }

    #[test]
    fn no_brackets_make_the_reader_panic(text in "[\\[\\]{}\",:$tdsh0-9a-z\\\\]{0,80}") {
        drop(decode::<Response<'_>>(text.as_bytes()));
        drop(value_of(&text));
    }
}
