use proptest::prelude::*;

use super::*;
use crate::REDACT_REACH_BYTES;

/// Letters and digits that look random, deterministic per seed. Generated so that the source contains no real-looking
/// token.
fn noise(alphabet: &str, length: usize, seed: u32) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        alphabet[usize::try_from(state >> 16).unwrap() % alphabet.len()]
    };
    (0..length).map(|_| next()).collect()
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn alnum(length: usize) -> String {
    noise(ALNUM, length, 7)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redact(text).0, expected, "{text}");
}

/// Checks that the token is replaced by itself, in quotes and in a sentence.
#[track_caller]
fn check_token(token: &str, rule: &str) {
    check(token, &format!("[secret:{rule}]"));
    check(&format!("x = \"{token}\";\n"), &format!("x = \"[secret:{rule}]\";\n"));
    check(&format!("it is {token}, keep it\n"), &format!("it is [secret:{rule}], keep it\n"));
}

/// The pass for keywords relies on it.
#[test]
fn no_value_continues_a_keyword_of_three_bytes_with_a_byte_that_was_ruled_out() {
    for rule in RULES {
        let value = regex::bytes::Regex::new(&format!("^(?:{})", rule.value)).unwrap();
        for keyword in rule.keywords.split('|').filter(|keyword| keyword.len() == 3) {
            let token = |byte: u8| [keyword.as_bytes(), &[byte], alnum(200).as_bytes()].concat();
            for byte in (0..=u8::MAX).filter(|&byte| !rule.may_continue_with(byte)) {
                assert!(!value.is_match(&token(byte)), "{keyword} {byte}");
            }
        }
    }
    assert!(RULES.iter().any(|rule| !rule.may_continue_with(b' ')));
}

#[test]
fn tokens_of_known_makers_are_replaced() {
    for kind in ["AKIA", "ASIA"] {
        check_token(&format!("{kind}{}", noise(UPPER, 16, 3)), "aws-access-key");
    }
    for kind in ["ghp", "gho", "ghu", "ghs", "ghr"] {
        check_token(&format!("{kind}_{}", alnum(36)), "github-token");
    }
    check_token(&format!("github_pat_{}_{}", alnum(22), alnum(59)), "github-token");
    check_token(&format!("glpat-{}", alnum(20)), "gitlab-token");
    check_token(&format!("xoxb-{}-{}", noise("0123456789", 12, 5), alnum(24)), "slack-token");
    check_token(&format!("xapp-1-{}-{}", noise(UPPER, 11, 5), alnum(40)), "slack-token");
    check_token(&format!("sk_live_{}", alnum(24)), "stripe-key");
    check_token(&format!("rk_test_{}", alnum(24)), "stripe-key");
    check_token(&format!("whsec_{}", alnum(32)), "stripe-key");
    check_token(&format!("sk-{}", alnum(48)), "openai-key");
    check_token(&format!("sk-proj-{}", alnum(64)), "openai-key");
    check_token(&format!("sk-ant-api03-{}", alnum(90)), "anthropic-key");
    check_token(&format!("gsk_{}", alnum(52)), "groq-key");
    check_token(&format!("AIza{}", alnum(35)), "google-api-key");
    check_token(&format!("ya29.{}", alnum(60)), "google-oauth");
    check_token(&format!("GOCSPX-{}", alnum(28)), "google-oauth");
    check_token(&format!("npm_{}", alnum(36)), "npm-token");
    check_token(&format!("pypi-{}", alnum(120)), "pypi-token");
    check_token(&format!("SG.{}.{}", alnum(22), alnum(43)), "sendgrid-key");
    check_token(&format!("SK{}", noise(HEX, 32, 9)), "twilio-key");
    check_token(&format!("hf_{}", alnum(34)), "huggingface-token");
    check_token(&format!("dop_v1_{}", noise(HEX, 64, 9)), "digitalocean-token");
    check_token(&format!("shpat_{}", noise(HEX, 32, 9)), "shopify-token");
    check_token(&format!("dapi{}", noise(HEX, 32, 9)), "databricks-token");
    check_token(&format!("hvs.{}", alnum(90)), "vault-token");
    check_token(&format!("ATATT3{}", alnum(180)), "atlassian-token");
    check_token(&format!("lin_api_{}", alnum(40)), "linear-key");
    check_token(&format!("r8_{}", alnum(37)), "replicate-token");
    check_token(&format!("AGE-SECRET-KEY-1{}", noise(UPPER, 58, 3)), "age-key");
    check_token(&format!("eyJ{}.eyJ{}.{}", alnum(30), alnum(80), alnum(43)), "jwt");
}

#[test]
fn what_names_a_secret_stays_and_the_value_goes() {
    let (key, password) = (alnum(40), "s3cr3t-P4ssw0rd");
    for (before, value, rule, after) in [
        ("aws_secret_access_key = ", key.as_str(), "aws-secret-key", "\n"),
        ("\"SecretAccessKey\": \"", &key, "aws-secret-key", "\","),
        ("https://hooks.slack.com/services/", "T0AB12CD3/B0EF45GH6/aB3dE5fG7hJ9", "slack-webhook", " now"),
        ("AccountKey=", &alnum(86), "azure-key", ";"),
        ("Authorization: Bearer ", &alnum(32), "bearer-token", "\n"),
        ("postgres://admin:", "hunter22", "basic-auth-url", "@db:5432/x"),
        ("redis://:", "hunter22", "basic-auth-url", "@cache"),
        ("DB_PASSWORD=", password, "assigned-secret", "\n"),
        ("export API_KEY='", &alnum(24), "assigned-secret", "'"),
        ("\"clientSecret\" : \"", &alnum(24), "assigned-secret", "\"}"),
        ("password: ", "x9!kQ2#vL", "assigned-secret", "\r\n"),
        ("secret_key := `", &noise(HEX, 32, 1), "assigned-secret", "`"),
        ("token => '", &alnum(20), "assigned-secret", "'"),
        ("--api-key=", &alnum(20), "assigned-secret", " run"),
    ] {
        check(&format!("{before}{value}{after}"), &format!("{before}[secret:{rule}]{after}"));
    }
}

#[test]
fn the_lines_of_a_private_key_are_replaced_one_by_one() {
    for kind in ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""] {
        let text = format!(
            "a\n-----BEGIN {kind}PRIVATE KEY-----\n{}\r\n{}==\n-----END {kind}PRIVATE KEY-----\nb\n",
            alnum(64),
            alnum(22)
        );
        let expected = format!(
            "a\n-----BEGIN {kind}PRIVATE KEY-----\n[secret:private-key]\r\n[secret:private-key]\n-----END {kind}PRIVATE KEY-----\nb\n"
        );
        check(&text, &expected);
    }
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
        alnum(64)
    );
    let line = "[secret:private-key]";
    check(
        &pgp,
        &format!(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{line}\n\n{line}\n-----END PGP PRIVATE KEY BLOCK-----"
        ),
    );
    let in_json =
        format!("{{\"key\":\"-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n\"}}", alnum(64));
    check(
        &in_json,
        &format!("{{\"key\":\"-----BEGIN PRIVATE KEY-----{line}-----END PRIVATE KEY-----\\n\"}}"),
    );
    let torn =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n{}\nand then prose goes on\n", alnum(64), alnum(64));
    check(&torn, &format!("-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\nand then prose goes on\n"));
}

#[test]
fn redactions_know_their_line_and_their_rule() {
    let text = format!("a\nb ghp_{} c\n\nDB_PASSWORD=s3cr3t-P4ssw0rd\n", alnum(36));
    let (redacted, redactions) = redact(&text);
    assert_eq!(redacted, "a\nb [secret:github-token] c\n\nDB_PASSWORD=[secret:assigned-secret]\n");
    let expected =
        [Redaction { line: 2, rule: "github-token" }, Redaction { line: 4, rule: "assigned-secret" }];
    assert_eq!(redactions, expected);
}

#[test]
fn a_token_that_is_assigned_is_one_secret() {
    let text = format!("GITHUB_TOKEN=ghp_{}\n", alnum(36));
    assert_eq!(
        redact(&text),
        ("GITHUB_TOKEN=[secret:github-token]\n".into(), vec![Redaction { line: 1, rule: "github-token" }])
    );
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "GITHUB_TOKEN=ghp_your_token_goes_here",
        "sk-loading-spinner-component-wrapper-inner",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ask-00112233445566778899aabbccddeeff",
        "npm_config_registry npm_lifecycle_event",
        "password = changeme",
        "password: <your password>",
        "password = os.environ['DB_PASSWORD']",
        "password = get_password(user_id2)",
        "DB_PASSWORD=${DB_PASSWORD}",
        "password: {{ vault_password_1 }}",
        "token = self.tokenizer.next_token_v2",
        "let token: u64 = 12345678901234567890;",
        "max_tokens=16384 n_tokens: 1234567890",
        "tokenizer: \"cl100k_base\"",
        "let hashed_password = &self.owner_password;",
        "let is_secret = !self.options.allow_secrets_2",
        "colon_token: syn::Token![:]",
        "secret_path = \"/run/secrets/db_password_v2\"",
        "token_url: https://auth.host42.net/oauth2/token9",
        "http://localhost:8080/@user",
        "https://user:password@host/",
        "git@github.com:a/b.git",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "eyJhbGciOi.not a token",
        "Bearer of good news and other things",
        "the secret: nobody knows it; the token: a ring",
        "pwd",
        "secret:",
        "[secret:github-token] [secret:assigned-secret]",
    ] {
        assert_eq!(redact(text), (Cow::Borrowed(text), vec![]));
    }
}

#[test]
fn a_secret_may_stand_at_the_very_end_and_beside_letters_of_any_kind() {
    let token = format!("ghp_{}", alnum(36));
    check(&format!("é{token}é"), "é[secret:github-token]é");
    check(&format!("日本={token}"), "日本=[secret:github-token]");
    check("password=é9!kQ2#vL日本", "password=[secret:assigned-secret]");
}

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("password=".to_owned()),
        Just("secret:".to_owned()),
        Just("[secret:".to_owned()),
        Just("token: \"".to_owned()),
        Just("://u:".to_owned()),
        Just("@".to_owned()),
        Just("Bearer ".to_owned()),
        Just("-----BEGIN RSA PRIVATE KEY-----\n".to_owned()),
        Just("-----END RSA PRIVATE KEY-----".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("é".to_owned()),
        "[a-zA-Z0-9_\\-\\]\\[]{1,40}",
        (0_u32..50).prop_map(|seed| format!("ghp_{}", noise(ALNUM, 36, seed))),
        (0_u32..50).prop_map(|seed| format!("sk-{}", noise(ALNUM, 30, seed))),
        (0_u32..50).prop_map(|seed| format!("AKIA{}", noise(UPPER, 16, seed))),
        (0_u32..50).prop_map(|seed| noise(ALNUM, 64, seed)),
        ".{0,10}",
    ]
}

proptest! {
    #[test]
    fn lines_stay_and_redacting_twice_is_redacting_once(parts in proptest::collection::vec(fragment(), 0..12)) {
        let text = parts.concat();
        let (once, redactions) = redact(&text);
        prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
        let n_lines = text.matches('\n').count() as u64 + 1;
        prop_assert!(redactions.iter().all(|redaction| redaction.line <= n_lines));
        let (twice, again) = redact(&once);
        prop_assert_eq!((twice.as_ref(), again), (once.as_ref(), vec![]));
    }

    #[test]
    fn any_text_at_all_is_survived(text in "\\PC{0,200}") {
        let (redacted, _) = redact(&text);
        prop_assert_eq!(redacted.lines().count(), text.lines().count());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    // The guarantee that readers of part of a text rely on.
    #[test]
    fn what_is_found_depends_on_nothing_out_of_reach(
        before in proptest::collection::vec(fragment(), 0..12),
        after in proptest::collection::vec(fragment(), 1..12),
    ) {
        let filler = "plain words on a line\n".repeat(REDACT_REACH_BYTES / 20);
        let text = [before.concat(), "\n".to_owned(), filler.clone(), after.concat()].concat();
        let start = text.len() - after.concat().len();
        let whole: Vec<_> = find_secrets(&text).into_iter().filter(|span| span.bytes.start >= start).collect();
        let shift = start - filler.len();
        let part = find_secrets(text.get(shift..).unwrap()).into_iter();
        let part: Vec<_> = part
            .map(|span| SecretSpan { bytes: span.bytes.start + shift..span.bytes.end + shift, ..span })
            .filter(|span| span.bytes.start >= start)
            .collect();
        prop_assert_eq!(whole, part);
    }
}
