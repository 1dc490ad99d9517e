//! A large text that is not ASCII, given by the host: code that looks at places in it is rewritten, and finds the same.

use spelunk_sandbox::{CellEnd, Interpreter, MontyInterpreter, Step, Value};

use super::stage::{Stage, cases, setup};

#[test]
fn places_in_a_given_text_are_those_of_python() {
    let case = cases(include_str!("plain.txt"))
        .into_iter()
        .find(|case| case.title == "places in a large text that is not ASCII")
        .unwrap();
    let (_, code) = case.code.split_once('\n').unwrap();
    let lines = (0..5000).map(|i| format!("line {i} – value {}\n", i * i)).collect::<Vec<_>>().concat();
    let mut setup = setup(&Stage::default());
    setup.variables.push(("text".to_owned(), Value::Str(format!("é{lines}"))));
    let mut interpreter = MontyInterpreter::open(&setup).unwrap();
    let Step::Finished(CellEnd::Done { output }) = interpreter.feed(code).unwrap() else { panic!("it ran") };
    assert_eq!(output.render(), case.expected);
}
