//! Programming languages, as far as splitting code must distinguish them.

macro_rules! languages {
    ($($variant:ident $name:literal;)+) => {
        /// A programming language.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the names say it")]
        pub enum Language { $($variant,)+ }

        impl Language {
            /// The name in prompts and reports: `c_sharp`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

languages! {
    Rust "rust";
    Python "python";
    JavaScript "javascript";
    TypeScript "typescript";
    Tsx "tsx";
    Go "go";
    Java "java";
    C "c";
    Cpp "cpp";
    CSharp "c_sharp";
    Ruby "ruby";
    Php "php";
    Bash "bash";
    Kotlin "kotlin";
    Swift "swift";
    Scala "scala";
    Lua "lua";
    Zig "zig";
    Elixir "elixir";
    Haskell "haskell";
    Ocaml "ocaml";
    Perl "perl";
    R "r";
    Sql "sql";
    Css "css";
    Dart "dart";
    Julia "julia";
    Erlang "erlang";
    Clojure "clojure";
    Groovy "groovy";
    Proto "protobuf";
    PowerShell "powershell";
}
