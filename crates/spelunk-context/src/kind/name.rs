//! Types by file name: whole names first, then extensions with a level of confidence.

use super::ContentType;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confidence {
    High,
    /// The first lines may override it if they are unambiguous.
    Medium,
    /// The first lines decide; the extension is the fallback.
    Low,
}

/// The name of the original of a copy or template: `Cargo.toml` for `Cargo.toml.orig`.
pub(super) fn without_copy_suffix(file_name: &str) -> &str {
    const SUFFIXES: &str = ".orig .bak .backup .old .in .example .sample .dist .template .tmpl .j2";
    let stem = SUFFIXES.split(' ').find_map(|suffix| file_name.strip_suffix(suffix));
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

pub(super) fn type_of_name(file_name: &str) -> Option<ContentType> {
    let name = file_name.to_lowercase();
    let extension = extension_of(&name);
    let is_requirements = name.starts_with("requirements") && extension.as_deref() == Some("txt");
    let is_docker = name.starts_with("dockerfile.") || extension.as_deref() == Some("dockerfile");
    if is_requirements || is_docker {
        return Some(ContentType::Config);
    }
    if language_of_name(&name).is_some() {
        return Some(ContentType::SourceCode);
    }
    match name.as_str() {
        "makefile" | "gnumakefile" | "dockerfile" | "containerfile" | "cmakelists.txt" | "jenkinsfile"
        | "procfile" | "pipfile" | "build" | "workspace" | "build.bazel" | "justfile" | "caddyfile"
        | "brewfile" | "go.mod" | "go.sum" | "constraints.txt" | "robots.txt" | "codeowners" | "kconfig"
        | "kbuild" | "setup.cfg" | "meson.build" => return Some(ContentType::Config),
        "readme" | "license" | "licence" | "copying" | "notice" | "authors" | "contributors"
        | "changelog" | "changes" | "news" | "todo" | "install" | "history" => {
            return Some(ContentType::Prose);
        }
        _ => {}
    }
    // Any other name that begins with a dot is settings: `.gitignore`, `.env.local`, `.editorconfig`.
    let is_dotted = name.starts_with('.') && extension.is_none_or(|_| name.starts_with(".env."));
    is_dotted.then_some(ContentType::Config)
}

/// The type that an extension names, and how far it is trusted.
pub(super) fn type_of_extension(extension: &str) -> Option<(ContentType, Confidence)> {
    use Confidence::{High, Low, Medium};
    Some(match extension {
        "csv" | "tsv" | "psv" => (ContentType::StructuredData, High),
        "json" | "geojson" | "ipynb" | "webmanifest" | "har" => (ContentType::Json, High),
        "jsonl" | "ndjson" | "ldjson" => (ContentType::Jsonl, High),
        "log" => (ContentType::Log, Low),
        "txt" | "text" => (ContentType::Prose, Low),
        "md" | "rst" | "adoc" | "markdown" | "mdx" | "asciidoc" | "org" | "tex" => {
            (ContentType::Prose, Medium)
        }
        "xml" | "html" | "htm" | "svg" | "xhtml" | "xsl" | "xsd" | "plist" | "rss" | "atom" => {
            (ContentType::Markup, Medium)
        }
        "yaml" | "yml" | "toml" | "ini" | "conf" | "cfg" | "properties" | "env" | "tf" | "tfvars" | "hcl"
        | "cmake" | "mk" | "gradle" | "nix" | "service" | "editorconfig" => (ContentType::Config, Medium),
        _ if language_of_extension(extension).is_some() || OTHER_CODE.contains(&extension) => {
            (ContentType::SourceCode, High)
        }
        _ => return None,
    })
}

/// The programming language of a file, as prompts and reports name it: `c_sharp`.
pub(super) fn language_of(file_name: &str) -> Option<&'static str> {
    let name = file_name.to_lowercase();
    language_of_name(&name).or_else(|| language_of_extension(&extension_of(&name)?))
}

fn language_of_name(name: &str) -> Option<&'static str> {
    match name {
        "rakefile" | "gemfile" | "vagrantfile" | "podfile" => Some("ruby"),
        "sconstruct" | "sconscript" => Some("python"),
        "configure" | ".bashrc" | ".bash_profile" | ".bash_aliases" | ".profile" | ".zshrc" | ".zshenv"
        | ".zprofile" => Some("bash"),
        _ => None,
    }
}

fn language_of_extension(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "rs" => "rust",
        "py" | "pyi" | "pyw" => "python",
        "js" | "jsx" | "mjs" | "cjs" => "javascript",
        "ts" | "mts" | "cts" => "typescript",
        "tsx" => "tsx",
        "go" => "go",
        "java" => "java",
        "c" | "h" => "c",
        "cpp" | "hpp" | "cc" | "cxx" | "hh" | "hxx" | "c++" | "ino" => "cpp",
        "cs" => "c_sharp",
        "rb" | "rake" | "gemspec" => "ruby",
        "php" => "php",
        "sh" | "bash" | "zsh" | "ksh" => "bash",
        "kt" | "kts" => "kotlin",
        "swift" => "swift",
        "scala" | "sc" => "scala",
        "lua" => "lua",
        "zig" => "zig",
        "ex" | "exs" => "elixir",
        "hs" => "haskell",
        "ml" | "mli" => "ocaml",
        "pl" | "pm" => "perl",
        "r" => "r",
        "sql" => "sql",
        "css" | "scss" | "less" => "css",
        "dart" => "dart",
        "jl" => "julia",
        "erl" | "hrl" => "erlang",
        "clj" | "cljs" | "cljc" => "clojure",
        "groovy" => "groovy",
        "proto" => "protobuf",
        "ps1" | "psm1" => "powershell",
        _ => return None,
    })
}

/// Languages not distinguished here: the line rule treats them all alike.
const OTHER_CODE: [&str; 42] = [
    "vue", "svelte", "fish", "vim", "el", "lisp", "scm", "rkt", "nim", "d", "f90", "f", "for", "asm", "s",
    "v", "sv", "vhd", "vhdl", "pas", "cob", "cbl", "m", "mm", "cu", "glsl", "hlsl", "wgsl", "sol", "tcl",
    "awk", "bat", "cmd", "fs", "fsx", "vb", "cr", "elm", "graphql", "thrift", "y", "l",
];
