//! How many secrets the rules find, and how often they mistake ordinary source code for one. The values are generated:
//! their alphabets and notations are defined here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use spelunk_context::{Corpus, ScanOptions, SecretSpan, SourceInput, View, find_secrets, redact};

/// The alphabets of the values.
const ALPHABETS: [(&str, &str); 8] = [
    ("lower case", "abcdefghijklmnopqrstuvwxyz"),
    ("upper case", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("letters", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    ("lower case and digits", "abcdefghijklmnopqrstuvwxyz0123456789"),
    ("letters and digits", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
    ("hex", "0123456789abcdef"),
    ("base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    ("signs", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#%*+?@^_~.-"),
];

const LENGTHS: [usize; 8] = [8, 9, 10, 12, 16, 20, 32, 64];

/// Values per alphabet and length, for each notation.
const DRAWS: usize = 6;

/// Names, and the notations in which files assign values to them; `NAME` and `VALUE` are substituted.
const FORMATS: [(&str, &[&str], &[&str]); 13] = [
    (
        ".env",
        &[
            "DB_PASS",
            "DB_PASSWORD",
            "API_KEY",
            "SECRET_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "APP_SECRET",
        ],
        &["NAME=VALUE\n", "NAME=\"VALUE\"\n", "NAME='VALUE'\n", "export NAME=VALUE\n"],
    ),
    (
        "YAML",
        &["password", "api_key", "apiKey", "client_secret", "auth_token", "db-password", "passphrase"],
        &["  NAME: VALUE\n", "NAME: \"VALUE\"\n", "  - NAME: 'VALUE'\n", "NAME: VALUE # the new one\n"],
    ),
    (
        "JSON",
        &["password", "apiKey", "clientSecret", "accessToken", "private_key", "db_password", "secret"],
        &["  \"NAME\": \"VALUE\",\n", "{\"NAME\":\"VALUE\"}", "\"{\\\"NAME\\\": \\\"VALUE\\\"}\"\n"],
    ),
    ("TOML", &["password", "token", "secret_key", "api-key"], &["NAME = \"VALUE\"\n", "NAME = 'VALUE'\n"]),
    (
        "INI",
        &["password", "passwd", "pwd", "secret", "auth_token"],
        &["NAME=VALUE\n", "NAME = VALUE\n", "NAME : VALUE\n"],
    ),
    (
        "XML",
        &["password", "Password", "apiKey", "secret", "accessToken"],
        &["<NAME>VALUE</NAME>\n", "<db NAME=\"VALUE\"/>\n", "<add key=\"NAME\" value=\"VALUE\" />\n"],
    ),
    (
        "shell",
        &["PASSWORD", "API_TOKEN", "MYSQL_PWD", "SECRET"],
        &["NAME=VALUE make\n", "export NAME=\"VALUE\"\n", "docker run -e NAME=VALUE image\n"],
    ),
    (
        "Python",
        &["password", "API_KEY", "auth_token", "SECRET_KEY"],
        &[
            "NAME = \"VALUE\"\n",
            "connect(NAME='VALUE')\n",
            "{'NAME': 'VALUE'}\n",
            "NAME: str = \"VALUE\"\n",
            "os.environ['NAME'] = 'VALUE'\n",
        ],
    ),
    (
        "JavaScript",
        &["password", "apiKey", "accessToken", "clientSecret"],
        &[
            "const NAME = 'VALUE';\n",
            "  NAME: \"VALUE\",\n",
            "config.NAME = `VALUE`;\n",
            "set('NAME', 'VALUE')\n",
        ],
    ),
    (
        "properties",
        &["spring.datasource.password", "jwt.secret", "mail.smtp.password", "service.api-key"],
        &["NAME=VALUE\n", "NAME = VALUE\n", "NAME: VALUE\n"],
    ),
    (
        "HTTP",
        &["X-Api-Key", "X-Auth-Token"],
        &[
            "NAME: VALUE\r\n",
            "Authorization: Bearer VALUE\r\n",
            "Cookie: session=VALUE\r\n",
            "Set-Cookie: sid=VALUE; Path=/\r\n",
        ],
    ),
    (
        "command lines",
        &["--password", "--token", "--api-key", "--client-secret"],
        &[
            "tool NAME=VALUE run\n",
            "tool NAME VALUE\n",
            "tool NAME \"VALUE\" run\n",
            "sshpass -p VALUE ssh host\n",
        ],
    ),
    (
        "addresses",
        &["api_key", "access_token", "password"],
        &[
            "https://host/path?NAME=VALUE&x=1\n",
            "postgres://user:VALUE@host/db\n",
            "Server=x;NAME=VALUE;Timeout=3\n",
        ],
    ),
];

/// A pseudorandom generator, deterministic per seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

/// Special characters have a meaning without quotes, so nobody writes them there.
fn is_writable(alphabet: &str, template: &str, format: &str) -> bool {
    let is_bare = !["\"VALUE", "'VALUE", "`VALUE"].iter().any(|quoted| template.contains(quoted));
    match alphabet {
        "signs" => !is_bare || format == ".env",
        // A slash ends the password of a URL.
        "base64" => format != "addresses",
        _ => true,
    }
}

#[derive(Default)]
struct Tally {
    n_found: u32,
    n_all: u32,
}

impl Tally {
    fn share(&self) -> f64 {
        f64::from(self.n_found) / f64::from(self.n_all)
    }
}

#[test]
fn of_generated_secrets_nearly_all_are_found() {
    let mut draw = Draw(7);
    let (mut of_format, mut of_alphabet) = (BTreeMap::<&str, Tally>::new(), BTreeMap::<&str, Tally>::new());
    let (mut of_length, mut all) = (BTreeMap::<usize, Tally>::new(), Tally::default());
    let mut missed = BTreeMap::<String, u32>::new();
    for (format, names, templates) in FORMATS {
        for template in templates {
            for (alphabet, letters) in
                ALPHABETS.into_iter().filter(|(name, _)| is_writable(name, template, format))
            {
                for length in LENGTHS {
                    for _ in 0..DRAWS {
                        let value = draw.text(letters, length);
                        let name = names[draw.below(names.len())];
                        let text = template.replace("NAME", name).replace("VALUE", &value);
                        let is_found = !redact(&text).0.contains(&value);
                        let tallies = [
                            of_format.entry(format).or_default(),
                            of_alphabet.entry(alphabet).or_default(),
                            of_length.entry(length).or_default(),
                            &mut all,
                        ];
                        for tally in tallies {
                            tally.n_all += 1;
                            tally.n_found += u32::from(is_found);
                        }
                        if !is_found {
                            *missed
                                .entry(format!("{template:?}, {alphabet}, {length}: {text:?}"))
                                .or_default() += 1;
                        }
                    }
                }
            }
        }
    }
    let shares: Vec<String> = of_format
        .iter()
        .chain(&of_alphabet)
        .map(|(what, tally)| format!("{what} {:.3}", tally.share()))
        .chain(of_length.iter().map(|(length, tally)| format!("{length} characters {:.3}", tally.share())))
        .collect();
    let shown: Vec<&String> = missed.keys().take(40).collect();
    let report = format!("{:.4} of {}: {}\n{shown:#?}", all.share(), all.n_all, shares.join(", "));
    assert!(all.share() >= 0.98, "{report}");
    for tally in of_format.values().chain(of_alphabet.values()).chain(of_length.values()) {
        assert!(tally.share() >= 0.95, "{report}");
    }
}

#[test]
fn of_ten_thousand_lines_of_code_less_than_one_is_taken_for_a_secret() {
    let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    // Tests of secrets contain many.
    let (include, exclude) = (globs(&["*.rs"]), globs(&["tests", "tests.rs", "secrets", "target"]));
    let options = ScanOptions { include, exclude, allow_secrets: true, ..ScanOptions::default() };
    let crates = SourceInput::Path(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let view = View::of(Arc::new(Corpus::scan(&[crates], &options, &mut |_| {}).unwrap()));
    let (mut n_lines, mut finds) = (0, Vec::new());
    for document in view.documents() {
        let text = view.read_owned(document).unwrap();
        n_lines += text.lines().count();
        let shown = |span: SecretSpan| format!("{}: {:?}", document.name, text.get(span.bytes));
        finds.extend(find_secrets(&text).into_iter().map(shown));
    }
    assert!(n_lines > 50_000, "{n_lines} lines");
    assert!(finds.len() * 10_000 < n_lines, "{n_lines} lines: {finds:#?}");
}

#[test]
fn code_that_speaks_of_secrets_stays() {
    for line in [
        "let token = lexer.next_token();",
        "password: String,",
        "secret: &str,",
        "key = \"name\"",
        "token: \"identifier\"",
        "password: str",
        "self.password = password",
        "password = os.environ[\"DB_PASSWORD\"]",
        "password=settings.DB_PASSWORD,",
        "pwd = os.getcwd()",
        "DB_PASSWORD=${DB_PASS}",
        "DB_PASSWORD=$DB_PASS",
        "password: {{ vault_db_password }}",
        "password = <password>",
        "password: changeme",
        "api_key: xxxxxxxxxxxx",
        "api_key = \"your-api-key-here\"",
        "secret = None",
        "\"password\": null,",
        "password: true",
        "const tokenType: string = 'application/json';",
        "<input type=\"password\" name=\"password\" placeholder=\"Enter your password\">",
        "passwordLabel: \"Please enter your password\"",
        "credentials: 'same-origin',",
        "enum Token { Ident, Number }",
        "token == Token::OpenParen",
        "  --password string   the password to use",
        "if token.kind == TokenKind::Identifier {",
        "auth: Authentication::default(),",
        "const SECRET_FLAGS: &[&str] = &[\"--token\", \"--api-key\", \"--password\"];",
        "private_key_path = \"/etc/ssl/private/server.key\"",
    ] {
        assert_eq!(redact(line).0, line);
    }
}
