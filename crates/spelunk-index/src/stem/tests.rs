use super::*;

#[track_caller]
fn check(words: &str, expected: &str) {
    let stems: Vec<String> = words
        .split(' ')
        .map(|word| {
            let mut bytes = word.as_bytes().to_vec();
            let n = stem(&mut bytes);
            bytes.truncate(n);
            String::from_utf8(bytes).unwrap()
        })
        .collect();
    assert_eq!(stems.join(" "), expected);
}

#[test]
fn forms_of_a_word_meet() {
    check("retry retries retried retrying", "retry retry retry retry");
    check("cache caches cached caching", "cach cach cach cach");
    check("run runs running", "run run run");
    check("index indexes indexed indexing", "index index index index");
    check("class classes", "class class");
    check("call calls called calling", "call call call call");
    check("policy policies", "policy policy");
    check("timeout timeouts", "timeout timeout");
    check("match matches matching matched", "match match match match");
}

#[test]
fn words_that_only_look_like_forms_stay() {
    check(
        "status analysis string thing bring speed need red bus",
        "status analysis string thing bring speed need red bus",
    );
    check("is as was ring sing king", "is as was ring sing king");
    check("sha256s utf8s v2s", "sha256s utf8s v2s");
    check("é naïves", "é naïves");
}
