//! The shared files of the AWS tools (`~/.aws/credentials` and `~/.aws/config`): sections, each a profile with keys and
//! values. Parsed leniently, as those tools do.

use std::collections::BTreeMap;

const FILE_BYTES_MAX: usize = 1_000_000;

/// The settings of a profile, from the credentials file first and the config file second.
pub(crate) fn profile(
    name: &str,
    credentials_file: Option<&str>,
    config_file: Option<&str>,
) -> Option<BTreeMap<String, String>> {
    let in_credentials = credentials_file.and_then(|text| section(text, |head| head == name));
    let in_config = config_file.and_then(|text| {
        // Only the default profile may omit the word `profile`.
        section(text, |head| {
            head.strip_prefix("profile ").map(str::trim) == Some(name) || head == name && name == "default"
        })
    });
    match (in_credentials, in_config) {
        (Some(mut first), second) => {
            for (key, value) in second.unwrap_or_default() {
                first.entry(key).or_insert(value);
            }
            Some(first)
        }
        (None, second) => second,
    }
}

fn section(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<BTreeMap<String, String>> {
    let mut found: Option<BTreeMap<String, String>> = None;
    let mut is_inside = false;
    let mut n_bytes = 0;
    for line in text.lines() {
        n_bytes += line.len();
        if n_bytes > FILE_BYTES_MAX {
            break;
        }
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(head) = trimmed.strip_prefix('[') {
            let head = head.split(']').next().unwrap_or_default().trim();
            is_inside = is_wanted(head);
            if is_inside {
                found.get_or_insert_default();
            }
            continue;
        }
        // Indented lines belong to a nested setting that we do not use.
        let is_nested = line.starts_with([' ', '\t']);
        if let (true, false, Some((key, value))) = (is_inside, is_nested, trimmed.split_once('=')) {
            // A comment after a value needs a space before it: keys may contain a `#`.
            let value = value.split(" #").next().unwrap_or_default().trim();
            found.get_or_insert_default().insert(key.trim().to_ascii_lowercase(), value.to_owned());
        }
    }
    found
}

/// Splits a command line into words at whitespace, respecting quotes. There is no shell.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in command.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            Some(_) | None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "\
# keys
[default]
aws_access_key_id = AKID1
aws_secret_access_key=abc#def # mine
[work]
AWS_ACCESS_KEY_ID = AKID2
";
    const CONFIG: &str = "\
[default]
region = eu-west-1
[profile work]
region = us-east-2
s3 =
  max_concurrent_requests = 20
credential_process = get-keys --for work
[work]
region = nowhere
";

    fn value(profile_name: &str, key: &str) -> Option<String> {
        profile(profile_name, Some(CREDENTIALS), Some(CONFIG))?.get(key).cloned()
    }

    #[test]
    fn a_profile_is_read_from_both_files() {
        assert_eq!(value("default", "aws_access_key_id").as_deref(), Some("AKID1"));
        assert_eq!(value("default", "aws_secret_access_key").as_deref(), Some("abc#def"));
        assert_eq!(value("default", "region").as_deref(), Some("eu-west-1"));
        assert_eq!(value("work", "aws_access_key_id").as_deref(), Some("AKID2"));
        assert_eq!(value("work", "region").as_deref(), Some("us-east-2"));
        assert_eq!(value("work", "credential_process").as_deref(), Some("get-keys --for work"));
        assert_eq!(value("work", "max_concurrent_requests"), None);
        assert_eq!(value("none", "region"), None);
    }

    #[test]
    fn junk_is_no_profile_and_no_panic() {
        assert_eq!(profile("default", Some("= =\n[[\n]\n[default"), None), Some(BTreeMap::new()));
        assert_eq!(profile("default", Some("aws_access_key_id = lost"), Some("")), None);
    }

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(
            words("get-keys  --for 'my work' \"a b\"c ''"),
            ["get-keys", "--for", "my work", "a bc", ""]
        );
        assert_eq!(words("  "), [""; 0]);
        assert_eq!(words("\"open"), ["open"]);
    }
}
