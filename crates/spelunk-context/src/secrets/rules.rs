//! The rules for secrets in text: the token formats that issuers publish, one line each. A rule begins at a keyword;
//! `head` is kept, `value` is replaced. Both are anchored regular expressions over bytes. Written for this project.

pub(super) struct Rule {
    /// Used in the marker, in reports and in the documentation.
    pub(super) name: &'static str,
    /// Where to look, separated by `|`; matched in any case, so the expressions decide which case counts.
    pub(super) keywords: &'static str,
    pub(super) before: Before,
    pub(super) head: &'static str,
    pub(super) value: &'static str,
    pub(super) after: After,
    pub(super) judge: Judge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Anything,
    /// No letter, digit or underscore: `ask-` is not `sk-`.
    Edge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Anything,
    /// No letter, digit or underscore.
    Edge,
    At,
}

/// Further conditions on a value. Placeholders are never secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judge {
    Random,
    /// It looks random and not like words, for a form that names in code also have.
    RandomWords,
    /// It is not a word: its position is sufficient evidence.
    Wordless,
    /// Its form is sufficient evidence.
    Form,
    /// It is assigned to a name that indicates a secret; see `assigned`.
    Assigned,
    /// Cookie pairs, one of them random.
    Cookie,
    KeyBody,
}

impl Rule {
    /// Whether a byte may follow a keyword of three bytes.
    pub(super) fn may_continue_with(&self, byte: u8) -> bool {
        let is_in_value = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        is_in_value || !self.head.is_empty() || self.judge == Judge::Assigned
    }
}

const fn token(name: &'static str, keywords: &'static str, value: &'static str) -> Rule {
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

/// Specific rules first: of several that overlap, the first in this list gives the name.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "private-key",
        keywords: "-----begin ",
        before: Before::Anything,
        head: "-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----",
        // The body ends at its footer, or where lines stop looking like part of a key; see `find`.
        value: "",
        after: After::Anything,
        judge: Judge::KeyBody,
    },
    Rule {
        after: After::Edge,
        ..token("aws-access-key", "AKIA|ASIA|ABIA|ACCA", "A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}")
    },
    Rule {
        before: Before::Anything,
        head: "(?i)secret[_-]?(?:access[_-]?)?key[\"']?[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}[\"']?",
        after: After::Edge,
        ..token(
            "aws-secret-key",
            "secret_access_key|secretaccesskey|secret_key|secret-access-key|secretkey",
            "[A-Za-z0-9/+]{40}",
        )
    },
    token("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", "gh[pousr]_[A-Za-z0-9]{36,}"),
    token("github-token", "github_pat_", "github_pat_[A-Za-z0-9_]{60,}"),
    token(
        "gitlab-token",
        "glpat-|gldt-|glptt-|glrt-|glcbt-|glsoat-|glft-|glimt-|glagent-|gloas-",
        "gl(?:pat|dt|ptt|rt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{20,}",
    ),
    token(
        "slack-token",
        "xoxa-|xoxb-|xoxc-|xoxd-|xoxe-|xoxo-|xoxp-|xoxr-|xoxs-",
        "xox[abcdeoprs]-[A-Za-z0-9-]{10,}",
    ),
    token("slack-token", "xapp-", "xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    Rule {
        before: Before::Anything,
        head: "hooks\\.slack\\.com/(?:services|workflows|triggers)/",
        ..token("slack-webhook", "hooks.slack.com/", "[A-Za-z0-9/]{20,}")
    },
    token("stripe-key", "sk_live_|sk_test_|rk_live_|rk_test_", "[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    token("stripe-key", "whsec_", "whsec_[A-Za-z0-9+/]{24,}=*"),
    token("anthropic-key", "sk-ant-", "sk-ant-[A-Za-z0-9_-]{20,}"),
    Rule { judge: Judge::RandomWords, ..token("openai-key", "sk-", "sk-[A-Za-z0-9_-]{20,}") },
    token("groq-key", "gsk_", "gsk_[A-Za-z0-9]{40,}"),
    token("google-api-key", "AIza", "AIza[A-Za-z0-9_-]{35,}"),
    token("google-oauth", "ya29.", "ya29\\.[A-Za-z0-9_-]{20,}"),
    token("google-oauth", "GOCSPX-", "GOCSPX-[A-Za-z0-9_-]{20,}"),
    token("npm-token", "npm_", "npm_[A-Za-z0-9]{36,}"),
    token("pypi-token", "pypi-", "pypi-[A-Za-z0-9_-]{50,}"),
    token("sendgrid-key", "SG.", "SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,}"),
    Rule {
        after: After::Edge,
        // Includes the first digit, because the two letters alone occur in every other line.
        ..token(
            "twilio-key",
            "SK0|SK1|SK2|SK3|SK4|SK5|SK6|SK7|SK8|SK9|SKa|SKb|SKc|SKd|SKe|SKf",
            "SK[0-9a-f]{32}",
        )
    },
    token("huggingface-token", "hf_", "hf_[A-Za-z0-9]{30,}"),
    token("digitalocean-token", "doo_v1_|dop_v1_|dor_v1_", "do[opr]_v1_[0-9A-Za-z]{40,}"),
    token("shopify-token", "shpat_|shpca_|shppa_|shpss_", "shp(?:at|ca|pa|ss)_[0-9A-Za-z]{32,}"),
    Rule { after: After::Edge, ..token("databricks-token", "dapi", "dapi[0-9a-f]{32}") },
    token("vault-token", "hvs.", "hvs\\.[A-Za-z0-9_-]{24,}"),
    token("atlassian-token", "ATATT3", "ATATT3[A-Za-z0-9_=-]{60,}"),
    token("linear-key", "lin_api_", "lin_api_[A-Za-z0-9]{32,}"),
    token("replicate-token", "r8_", "r8_[A-Za-z0-9]{37,}"),
    token("alibaba-key", "LTAI", "LTAI[A-Za-z0-9]{16,24}"),
    token("artifactory-key", "AKCp", "AKCp[A-Za-z0-9]{60,}"),
    token("aws-bedrock-key", "ABSK", "ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    token("doppler-token", "dp.pt.|dp.st.|dp.ct.", "dp\\.(?:pt|st|ct)\\.[A-Za-z0-9.]{40,}"),
    token("docker-token", "dckr_pat_|dckr_oat_", "dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    token("dynatrace-token", "dt0c01.", "dt0c01\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}"),
    token("easypost-key", "EZAK|EZTK", "EZ[AT]K[A-Za-z0-9]{54}"),
    token("figma-token", "figd_", "figd_[A-Za-z0-9_-]{40,}"),
    token("fly-token", "fo1_|fm1a_|fm1r_|fm2_", "f(?:o1|m1[ar]|m2)_[A-Za-z0-9+/_-]{40,}={0,3}"),
    token("gitlab-token", "GR1348941", "GR1348941[A-Za-z0-9_-]{20,}"),
    token("grafana-token", "glsa_", "glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    token("grafana-token", "glc_", "glc_[A-Za-z0-9+/]{32,}={0,3}"),
    token("heroku-key", "HRKU-", "HRKU-[A-Za-z0-9_-]{30,}"),
    token("mapbox-token", "sk.eyJ", "sk\\.eyJ[A-Za-z0-9_-]{20,}\\.[A-Za-z0-9_-]{20,}"),
    token("new-relic-key", "NRAK-|NRII-", "NR(?:AK|II)-[A-Za-z0-9-]{27,}"),
    token("notion-token", "ntn_", "ntn_[A-Za-z0-9]{40,}"),
    token("1password-token", "ops_eyJ", "ops_eyJ[A-Za-z0-9+/]{100,}={0,3}"),
    token("openrouter-key", "sk-or-v1-", "sk-or-v1-[0-9a-f]{40,}"),
    token("openshift-token", "sha256~", "sha256~[A-Za-z0-9_-]{43}"),
    token("perplexity-key", "pplx-", "pplx-[A-Za-z0-9]{40,}"),
    token("planetscale-token", "pscale_", "pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,}"),
    token("postman-key", "PMAK-", "PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    token("pulumi-token", "pul-", "pul-[a-f0-9]{40}"),
    token("readme-key", "rdme_", "rdme_[a-z0-9]{70}"),
    token("rubygems-key", "rubygems_", "rubygems_[a-f0-9]{48}"),
    token("sendinblue-key", "xkeysib-", "xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("sentry-token", "sntrys_|sntryu_", "sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    token("shippo-token", "shippo_", "shippo_(?:live|test)_[A-Fa-f0-9]{40}"),
    token("sourcegraph-token", "sgp_", "sgp_(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}"),
    token("square-token", "sq0atp-|sq0csp-", "sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}"),
    token("supabase-token", "sbp_", "sbp_[a-f0-9]{40}"),
    token("terraform-token", ".atlasv1.", "\\.atlasv1\\.[A-Za-z0-9_=-]{60,}"),
    token("vault-token", "hvb.", "hvb\\.[A-Za-z0-9_-]{100,}"),
    token("xai-key", "xai-", "xai-[A-Za-z0-9]{60,}"),
    Rule {
        before: Before::Anything,
        head: "(?i)discord(?:app)?\\.com/api/(?:v[0-9]{1,2}/)?webhooks/",
        ..token("discord-webhook", "discord.com/api/|discordapp.com/api/", "[0-9]{15,22}/[A-Za-z0-9_-]{30,}")
    },
    Rule {
        before: Before::Anything,
        head: "(?i)(?:webhook\\.office\\.com/webhookb2|outlook\\.office(?:365)?\\.com/webhook)/",
        ..token(
            "teams-webhook",
            "webhook.office.com/|outlook.office.com/|outlook.office365.com/",
            "[A-Za-z0-9@/-]{40,}",
        )
    },
    Rule {
        before: Before::Anything,
        head: "(?i)api\\.telegram\\.org/(?:file/)?bot",
        ..token("telegram-token", "api.telegram.org/", "[0-9]{5,16}:[A-Za-z0-9_-]{30,}")
    },
    token("telegram-token", ":AA", ":AA[A-Za-z0-9_-]{33}"),
    token("age-key", "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    Rule {
        before: Before::Anything,
        head: "(?:AccountKey|SharedAccessKey)=",
        ..token("azure-key", "AccountKey=|SharedAccessKey=", "[A-Za-z0-9/+]{40,}={0,2}")
    },
    token("jwt", "eyJ", "eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}"),
    Rule {
        head: "(?i)bearer[ \t]{1,4}",
        judge: Judge::RandomWords,
        ..token("bearer-token", "bearer ", "[A-Za-z0-9._~+/-]{20,}=*")
    },
    Rule {
        head: "(?i)authorization[\"']?[ \t]{0,8}[:=,][ \t]{0,8}[\"']?(?:[a-z]{3,9}[ \t]{1,4})?",
        before: Before::Anything,
        judge: Judge::Wordless,
        ..token("authorization", "authorization", "[A-Za-z0-9._~+/:-]{8,}=*")
    },
    Rule {
        head: "sshpass[ \\t]{1,4}-p[ \\t]{0,4}[\"']?",
        judge: Judge::Form,
        ..token("assigned-secret", "sshpass ", "[!-~&&[^\"'$<>]]{4,}")
    },
    Rule {
        head: "(?:curl|wget)[ \\t][^|;\\n]{0,512}?[ \\t](?:-u|--user)[ \\t=][\"']?[^\\s:\"']{1,64}:",
        judge: Judge::Form,
        ..token("assigned-secret", "curl |wget ", "[!-~&&[^\"'$<>]]{3,}")
    },
    Rule {
        head: "mysql(?:dump|admin)?[ \\t][^|;\\n]{0,256}?[ \\t]-p",
        judge: Judge::Form,
        ..token("assigned-secret", "mysql", "[!-~&&[^\"'$<>-]][!-~&&[^\"'$<>]]{5,}")
    },
    Rule {
        head: "(?i)basic[ \t]{1,4}",
        judge: Judge::Wordless,
        ..token("authorization", "basic ", "[A-Za-z0-9+/]{10,}={0,2}")
    },
    Rule {
        head: "(?i)(?:set-)?cookie[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?",
        judge: Judge::Cookie,
        ..token("cookie", "cookie:|cookie\":|cookie':", "[!-~ \t&&[^\"'`<>\\\\]]{8,}")
    },
    Rule {
        head: "://",
        before: Before::Anything,
        after: After::At,
        judge: Judge::RandomWords,
        ..token("basic-auth-url", "://", "[A-Za-z0-9_-]{20,128}")
    },
    Rule {
        before: Before::Anything,
        head: "://[^\\s/:@\\[\\]\"'<>{}$]{0,64}:",
        after: After::At,
        judge: Judge::Form,
        ..token("basic-auth-url", "://", "[^\\s/:@\\[\\]\"'<>{}$]{3,128}")
    },
    Rule {
        before: Before::Anything,
        judge: Judge::Assigned,
        ..token(
            "assigned-secret",
            "passw|passp|passc|pass=|pass:|pass\"|pass'|pass =|-pass |pwd|secret|token|api_key|\
             apikey|api-key|api.key|access_key|accesskey|access-key|private_key|privatekey|\
             private-key|signing_key|signingkey|encryption_key|encryptionkey|auth_key|authkey|\
             master_key|masterkey|account_key|accountkey|shared_key|sharedkey|session_key|hmac_key|\
             webhook_key|credential|jwt=|jwt:|jwt\"|auth\"|auth'|auth=|auth:|auth =",
            // `assigned` parses the name and value.
            "",
        )
    },
];
