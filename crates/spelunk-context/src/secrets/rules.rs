//! The rules by which a secret is known in text: what the makers of tokens publish about their form, one line each.
//! A rule begins at a keyword; `head` is what is kept before the value, `value` is what is replaced. Both are anchored
//! regular expressions over bytes. Written for this project.

/// One form of secret.
pub(super) struct Rule {
    /// In the marker, in reports and in the documentation.
    pub(super) name: &'static str,
    /// Where to look; found in any case, so the expressions say which case counts.
    pub(super) keywords: &'static [&'static str],
    pub(super) before: Before,
    pub(super) head: &'static str,
    pub(super) value: &'static str,
    pub(super) after: After,
    pub(super) judge: Judge,
}

/// What may stand before a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Anything,
    /// No letter, digit or underscore: `ask-` is not `sk-`.
    Edge,
}

/// What must stand behind a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Anything,
    /// No letter, digit or underscore.
    Edge,
    At,
}

/// What else must be true of a value. Placeholders are never secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judge {
    /// Looks drawn at random.
    Random,
    /// The same, where names in code have that form too.
    RandomWords,
    /// Its form says enough.
    Form,
    /// A password that a person assigned: random enough, and not a name, a number or a path.
    Assigned,
    /// The lines of a key.
    KeyBody,
}

const fn token(name: &'static str, keywords: &'static [&'static str], value: &'static str) -> Rule {
    Rule {
        name,
        keywords,
        before: Before::Edge,
        head: "",
        value,
        after: After::Anything,
        judge: Judge::Random,
    }
}

/// The specific ones first: of several that overlap, the first in this list gives the name.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "private-key",
        keywords: &["-----begin "],
        before: Before::Anything,
        head: "-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----",
        // The body ends at its footer, or where lines stop looking like one; see `find`.
        value: "",
        after: After::Anything,
        judge: Judge::KeyBody,
    },
    Rule {
        after: After::Edge,
        ..token("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], "A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}")
    },
    Rule {
        before: Before::Anything,
        head: "(?i)secret[_-]?(?:access[_-]?)?key[\"']?[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}[\"']?",
        after: After::Edge,
        ..token(
            "aws-secret-key",
            &["secret_access_key", "secretaccesskey", "secret_key", "secret-access-key", "secretkey"],
            "[A-Za-z0-9/+]{40}",
        )
    },
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "gh[pousr]_[A-Za-z0-9]{36,}"),
    token("github-token", &["github_pat_"], "github_pat_[A-Za-z0-9_]{60,}"),
    token(
        "gitlab-token",
        &["glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glsoat-", "glft-", "glimt-", "glagent-", "gloas-"],
        "gl(?:pat|dt|ptt|rt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{20,}",
    ),
    token(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        "xox[abeoprs]-[A-Za-z0-9-]{10,}",
    ),
    token("slack-token", &["xapp-"], "xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    Rule {
        before: Before::Anything,
        head: "hooks\\.slack\\.com/(?:services|workflows)/",
        ..token("slack-webhook", &["hooks.slack.com/"], "[A-Za-z0-9/]{20,}")
    },
    token(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        "[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    ),
    token("stripe-key", &["whsec_"], "whsec_[A-Za-z0-9+/]{24,}=*"),
    token("anthropic-key", &["sk-ant-"], "sk-ant-[A-Za-z0-9_-]{20,}"),
    Rule { judge: Judge::RandomWords, ..token("openai-key", &["sk-"], "sk-[A-Za-z0-9_-]{20,}") },
    token("groq-key", &["gsk_"], "gsk_[A-Za-z0-9]{40,}"),
    token("google-api-key", &["AIza"], "AIza[A-Za-z0-9_-]{35,}"),
    token("google-oauth", &["ya29."], "ya29\\.[A-Za-z0-9_-]{20,}"),
    token("google-oauth", &["GOCSPX-"], "GOCSPX-[A-Za-z0-9_-]{20,}"),
    token("npm-token", &["npm_"], "npm_[A-Za-z0-9]{36,}"),
    token("pypi-token", &["pypi-"], "pypi-[A-Za-z0-9_-]{50,}"),
    token("sendgrid-key", &["SG."], "SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,}"),
    Rule {
        after: After::Edge,
        // With the first digit, because two letters are in every other line.
        ..token(
            "twilio-key",
            &[
                "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc",
                "SKd", "SKe", "SKf",
            ],
            "SK[0-9a-f]{32}",
        )
    },
    token("huggingface-token", &["hf_"], "hf_[A-Za-z0-9]{30,}"),
    token("digitalocean-token", &["doo_v1_", "dop_v1_", "dor_v1_"], "do[opr]_v1_[0-9A-Za-z]{40,}"),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], "shp(?:at|ca|pa|ss)_[0-9A-Za-z]{32,}"),
    Rule { after: After::Edge, ..token("databricks-token", &["dapi"], "dapi[0-9a-f]{32}") },
    token("vault-token", &["hvs."], "hvs\\.[A-Za-z0-9_-]{24,}"),
    token("atlassian-token", &["ATATT3"], "ATATT3[A-Za-z0-9_=-]{60,}"),
    token("linear-key", &["lin_api_"], "lin_api_[A-Za-z0-9]{32,}"),
    token("replicate-token", &["r8_"], "r8_[A-Za-z0-9]{37,}"),
    token("age-key", &["AGE-SECRET-KEY-1"], "AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    Rule {
        before: Before::Anything,
        head: "(?:AccountKey|SharedAccessKey)=",
        ..token("azure-key", &["AccountKey=", "SharedAccessKey="], "[A-Za-z0-9/+]{40,}={0,2}")
    },
    token("jwt", &["eyJ"], "eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}"),
    Rule {
        head: "(?i)bearer[ \t]{1,4}",
        judge: Judge::RandomWords,
        ..token("bearer-token", &["bearer "], "[A-Za-z0-9._~+/-]{20,}=*")
    },
    Rule {
        before: Before::Anything,
        head: "://[^\\s/:@\\[\\]\"'<>{}$]{0,64}:",
        after: After::At,
        judge: Judge::Form,
        ..token("basic-auth-url", &["://"], "[^\\s/:@\\[\\]\"'<>{}$]{3,128}")
    },
    Rule {
        before: Before::Anything,
        head: ASSIGNMENT,
        judge: Judge::Assigned,
        ..token(
            "assigned-secret",
            &[
                "passw",
                "pwd",
                "secret",
                "token",
                "api_key",
                "apikey",
                "api-key",
                "private_key",
                "access_key",
                "accesskey",
            ],
            "[!-~\\x80-\\xff&&[^\"'`\\[\\]<>{}(),;\\\\]]{8,}",
        )
    },
];

/// A name that says secret, and the sign that gives it a value: `DB_PASSWORD=`, `"apiKey": "`, `secret_key := '`.
const ASSIGNMENT: &str = concat!(
    "(?i)(?:passw(?:or)?d|passwrd|pwd|secret|token|api[_-]?key|private[_-]key|access[_-]?key)",
    "(?:[_-]?(?:access|key|value|hash|prod|production|dev|live|base64|b64|hex|string|data))*",
    "[\"']?[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}[\"'`]?",
);
