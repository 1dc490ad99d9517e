//! Schemas, with valid and invalid values.

mod extract;
mod hostile;
mod keywords;
mod refused;

use expect_test::Expect;
use serde_json::Value;

use super::Schema;

/// Validates values, one per line, against a schema; each output line says whether the value is valid, or why not.
fn check(schema: &str, values: &[&str], expected: &Expect) {
    let schema = Schema::parse(schema).unwrap();
    let mut shown = String::new();
    for value in values {
        let parsed: Value = serde_json::from_str(value).unwrap();
        match schema.check(&parsed) {
            Ok(()) => shown.push_str(&format!("{value} fits\n")),
            Err(violations) => {
                shown.push_str(&format!("{value}\n"));
                for violation in violations {
                    shown.push_str(&format!("    {violation}\n"));
                }
            }
        }
    }
    expected.assert_eq(&shown);
}
