//! Types by file name: whole names first, then extensions with a level of confidence.

use super::{ContentType, Language};

/// How far an extension is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confidence {
    /// The extension decides.
    High,
    /// The first lines may override it if they are unambiguous.
    Medium,
    /// The first lines decide; the extension is the fallback.
    Low,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExtensionType {
    pub(super) content_type: ContentType,
    pub(super) confidence: Confidence,
}

/// The name of the original of a copy or template: `Cargo.toml` for `Cargo.toml.orig`.
pub(super) fn without_copy_suffix(file_name: &str) -> &str {
    const SUFFIXES: [&str; 11] = [
        ".orig",
        ".bak",
        ".backup",
        ".old",
        ".in",
        ".example",
        ".sample",
        ".dist",
        ".template",
        ".tmpl",
        ".j2",
    ];
    let stem = SUFFIXES.iter().find_map(|suffix| file_name.strip_suffix(suffix));
    let is_known = |stem: &&str| {
        type_of_name(stem).is_some()
            || extension_of(stem).is_some_and(|extension| type_of_extension(&extension).is_some())
    };
    stem.filter(is_known).unwrap_or(file_name)
}

/// The part after the last dot, in lower case. A name whose only dot is the first character has no extension.
pub(super) fn extension_of(file_name: &str) -> Option<String> {
    let (stem, extension) = file_name.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_lowercase())
}

/// The type of files known by their whole name.
pub(super) fn type_of_name(file_name: &str) -> Option<ContentType> {
    const CONFIG: &[&str] = &[
        "makefile",
        "gnumakefile",
        "dockerfile",
        "containerfile",
        "cmakelists.txt",
        "jenkinsfile",
        "procfile",
        "pipfile",
        "build",
        "workspace",
        "build.bazel",
        "justfile",
        "caddyfile",
        "brewfile",
        "go.mod",
        "go.sum",
        "constraints.txt",
        "robots.txt",
        "codeowners",
        "kconfig",
        "kbuild",
        "setup.cfg",
        "meson.build",
    ];
    const PROSE: &[&str] = &[
        "readme",
        "license",
        "licence",
        "copying",
        "notice",
        "authors",
        "contributors",
        "changelog",
        "changes",
        "news",
        "todo",
        "install",
        "history",
    ];
    const CODE: &[&str] =
        &["rakefile", "gemfile", "vagrantfile", "podfile", "sconstruct", "sconscript", "configure"];
    let name = file_name.to_lowercase();
    let extension = extension_of(&name);
    let is_requirements = name.starts_with("requirements") && extension.as_deref() == Some("txt");
    let is_docker = name.starts_with("dockerfile.") || extension.as_deref() == Some("dockerfile");
    if is_requirements || is_docker || CONFIG.contains(&name.as_str()) {
        return Some(ContentType::Config);
    }
    if PROSE.contains(&name.as_str()) {
        return Some(ContentType::Prose);
    }
    if CODE.contains(&name.as_str()) || is_shell_start(&name) {
        return Some(ContentType::SourceCode);
    }
    // Any other name that begins with a dot is settings: `.gitignore`, `.env.local`, `.editorconfig`.
    let is_dotted = name.starts_with('.') && extension.is_none_or(|_| name.starts_with(".env."));
    is_dotted.then_some(ContentType::Config)
}

fn is_shell_start(name: &str) -> bool {
    matches!(
        name,
        ".bashrc" | ".bash_profile" | ".bash_aliases" | ".profile" | ".zshrc" | ".zshenv" | ".zprofile"
    )
}

pub(super) fn type_of_extension(extension: &str) -> Option<ExtensionType> {
    use Confidence::{High, Low, Medium};
    let known = |content_type, confidence| Some(ExtensionType { content_type, confidence });
    match extension {
        "csv" | "tsv" | "psv" => known(ContentType::StructuredData, High),
        "json" | "geojson" | "ipynb" | "webmanifest" | "har" => known(ContentType::Json, High),
        "jsonl" | "ndjson" | "ldjson" => known(ContentType::Jsonl, High),
        "log" => known(ContentType::Log, Low),
        "txt" | "text" => known(ContentType::Prose, Low),
        "md" | "rst" | "adoc" | "markdown" | "mdx" | "asciidoc" | "org" | "tex" => {
            known(ContentType::Prose, Medium)
        }
        "xml" | "html" | "htm" | "svg" | "xhtml" | "xsl" | "xsd" | "plist" | "rss" | "atom" => {
            known(ContentType::Markup, Medium)
        }
        "yaml" | "yml" | "toml" | "ini" | "conf" | "cfg" | "properties" | "env" | "tf" | "tfvars" | "hcl"
        | "cmake" | "mk" | "gradle" | "nix" | "service" | "editorconfig" => {
            known(ContentType::Config, Medium)
        }
        _ if language_of_extension(extension).is_some() || OTHER_CODE.contains(&extension) => {
            known(ContentType::SourceCode, High)
        }
        _ => None,
    }
}

pub(super) fn language_of(file_name: &str) -> Option<Language> {
    let name = file_name.to_lowercase();
    match name.as_str() {
        "rakefile" | "gemfile" | "vagrantfile" | "podfile" => Some(Language::Ruby),
        "sconstruct" | "sconscript" => Some(Language::Python),
        "configure" => Some(Language::Bash),
        _ if is_shell_start(&name) => Some(Language::Bash),
        _ => language_of_extension(&extension_of(&name)?),
    }
}

fn language_of_extension(extension: &str) -> Option<Language> {
    Some(match extension {
        "rs" => Language::Rust,
        "py" | "pyi" | "pyw" => Language::Python,
        "js" | "jsx" | "mjs" | "cjs" => Language::JavaScript,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "go" => Language::Go,
        "java" => Language::Java,
        "c" | "h" => Language::C,
        "cpp" | "hpp" | "cc" | "cxx" | "hh" | "hxx" | "c++" | "ino" => Language::Cpp,
        "cs" => Language::CSharp,
        "rb" | "rake" | "gemspec" => Language::Ruby,
        "php" => Language::Php,
        "sh" | "bash" | "zsh" | "ksh" => Language::Bash,
        "kt" | "kts" => Language::Kotlin,
        "swift" => Language::Swift,
        "scala" | "sc" => Language::Scala,
        "lua" => Language::Lua,
        "zig" => Language::Zig,
        "ex" | "exs" => Language::Elixir,
        "hs" => Language::Haskell,
        "ml" | "mli" => Language::Ocaml,
        "pl" | "pm" => Language::Perl,
        "r" => Language::R,
        "sql" => Language::Sql,
        "css" | "scss" | "less" => Language::Css,
        "dart" => Language::Dart,
        "jl" => Language::Julia,
        "erl" | "hrl" => Language::Erlang,
        "clj" | "cljs" | "cljc" => Language::Clojure,
        "groovy" => Language::Groovy,
        "proto" => Language::Proto,
        "ps1" | "psm1" => Language::PowerShell,
        _ => return None,
    })
}

/// Languages not distinguished here: the line rule treats them all alike.
const OTHER_CODE: [&str; 42] = [
    "vue", "svelte", "fish", "vim", "el", "lisp", "scm", "rkt", "nim", "d", "f90", "f", "for", "asm", "s",
    "v", "sv", "vhd", "vhdl", "pas", "cob", "cbl", "m", "mm", "cu", "glsl", "hlsl", "wgsl", "sol", "tcl",
    "awk", "bat", "cmd", "fs", "fsx", "vb", "cr", "elm", "graphql", "thrift", "y", "l",
];
