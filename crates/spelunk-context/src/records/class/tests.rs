use expect_test::expect;

use super::FieldClass;

#[test]
fn a_class_is_told_by_whole_words() {
    let class = |key: &str| FieldClass::of(&[key]).map_or("-", FieldClass::name);
    let told: Vec<String> = [
        "ts",
        "events",
        "createdAt",
        "updated_at",
        "eventTime",
        "runtime",
        "log.level",
        "logLevel",
        "errors",
        "referrer",
        "traceId",
        "trace-id",
        "id",
        "context",
        "text",
        "encode",
        "status_code",
        "resource",
        "source",
        "HOSTNAME",
    ]
    .iter()
    .map(|key| format!("{key} {}", class(key)))
    .collect();
    expect!["ts timestamp, events -, createdAt timestamp, updated_at -, eventTime timestamp, runtime -, log.level level, logLevel level, errors error, referrer -, traceId identifier, trace-id identifier, id -, context -, text message, encode -, status_code status, resource -, source source, HOSTNAME source"].assert_eq(&told.join(", "));
}
