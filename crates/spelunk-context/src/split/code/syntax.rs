//! Finds definitions by parsing with tree-sitter. The best cuts are between top-level items, then between members of
//! long ones, then between statements of a long function. Repairing text that is not code takes the parser a hundred
//! times as long as reading code, so large files and those that do not look like code are left to the line rule.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

mod apart;

pub use apart::{PARSE_TASK, serve_parse};

use super::CutPoint;
use crate::kind::Language;
use crate::lines::lines;
use crate::pack::Strength;

/// Larger files are generated, or data.
const PARSED_BYTES_MAX: usize = 512 * 1024;

/// The longest broken text parsed in this process: a hostile one takes ten thousand times its size in memory.
const BROKEN_BYTES_MAX: usize = 8 * 1024;

/// Longer lines are machine-generated, and contain nothing that begins a line.
const LINE_BYTES_MAX: usize = 2000;

/// Only longer nodes are descended into.
const LONG_LINES: usize = 8;

/// How deep members are looked for.
const DEPTH_MAX: usize = 12;

pub(super) fn places(text: &str, language: Language) -> Option<Vec<CutPoint>> {
    if text.len() > PARSED_BYTES_MAX || lines(text).any(|(_, line)| line.len() > LINE_BYTES_MAX) {
        return None;
    }
    match parse(text, &grammar(language)?) {
        Parsed::Tree(tree) => Some(places_of(&tree, text)),
        Parsed::Broken => apart::places(text, language),
        Parsed::Nothing => None,
    }
}

fn places_of(tree: &Tree, text: &str) -> Vec<CutPoint> {
    let mut walk = Walk { text: text.as_bytes(), places: Vec::new() };
    let mut todo = vec![(tree.root_node(), Context::Top, 0)];
    // Each node is visited once; only nested nodes are added, and not below `DEPTH_MAX`.
    while let Some((node, context, depth)) = todo.pop() {
        walk.visit(node, context, depth, &mut todo);
    }
    walk.places
}

/// Whether code in this language is parsed.
pub(crate) fn has_grammar(language: Language) -> bool {
    GRAMMARS.iter().any(|(known, _)| *known == language)
}

fn grammar(language: Language) -> Option<tree_sitter::Language> {
    GRAMMARS.iter().find(|(known, _)| *known == language).map(|(_, grammar)| grammar())
}

/// The grammar by the name of its language, as sent to a worker process.
fn grammar_of_name(name: &str) -> Option<tree_sitter::Language> {
    GRAMMARS.iter().find(|(known, _)| known.name() == name).map(|(_, grammar)| grammar())
}

/// The languages whose code is parsed.
const GRAMMARS: [(Language, fn() -> tree_sitter::Language); 13] = [
    (Language::Rust, || tree_sitter_rust::LANGUAGE.into()),
    (Language::Python, || tree_sitter_python::LANGUAGE.into()),
    (Language::JavaScript, || tree_sitter_javascript::LANGUAGE.into()),
    (Language::TypeScript, || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
    (Language::Tsx, || tree_sitter_typescript::LANGUAGE_TSX.into()),
    (Language::Go, || tree_sitter_go::LANGUAGE.into()),
    (Language::Java, || tree_sitter_java::LANGUAGE.into()),
    (Language::C, || tree_sitter_c::LANGUAGE.into()),
    (Language::Cpp, || tree_sitter_cpp::LANGUAGE.into()),
    (Language::CSharp, || tree_sitter_c_sharp::LANGUAGE.into()),
    (Language::Ruby, || tree_sitter_ruby::LANGUAGE.into()),
    (Language::Php, || tree_sitter_php::LANGUAGE_PHP.into()),
    (Language::Bash, || tree_sitter_bash::LANGUAGE.into()),
];

/// The result of parsing a text.
enum Parsed {
    Tree(Tree),
    /// It has syntax errors and is long: repairing them may exhaust the process.
    Broken,
    /// It is so broken that repairing it takes too long.
    Nothing,
}

/// Parses a text in this process. One with syntax errors is parsed to the end only if it is short.
fn parse(text: &str, grammar: &tree_sitter::Language) -> Parsed {
    let mut is_broken = false;
    let tree = parse_until(text, grammar, |state| {
        is_broken = state.has_error() && text.len() > BROKEN_BYTES_MAX;
        is_broken
    });
    match tree {
        Some(tree) => Parsed::Tree(tree),
        None if is_broken => Parsed::Broken,
        None => Parsed::Nothing,
    }
}

/// The tree, unless the text is so broken that repairing it takes too long.
fn parse_whole(text: &str, grammar: &tree_sitter::Language) -> Option<Tree> {
    parse_until(text, grammar, |_| false)
}

fn parse_until(
    text: &str,
    grammar: &tree_sitter::Language,
    mut is_enough: impl FnMut(&tree_sitter::ParseState) -> bool,
) -> Option<Tree> {
    const BYTES_PER_CALL_MIN: usize = 32;
    const CALLS_MIN: usize = 1000;
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let calls_max = CALLS_MIN + text.len() / BYTES_PER_CALL_MIN;
    let mut n_calls = 0;
    let mut progress = |state: &tree_sitter::ParseState| {
        n_calls += 1;
        if n_calls > calls_max || is_enough(state) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut read, None, Some(options))
}

/// The kind of a node's children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    /// Top-level items of the file.
    Top,
    /// Members of an item.
    Members,
    /// Statements of a function.
    Function,
}

struct Walk<'t> {
    text: &'t [u8],
    places: Vec<CutPoint>,
}

impl Walk<'_> {
    fn visit<'n>(
        &mut self,
        node: Node<'n>,
        context: Context,
        depth: usize,
        todo: &mut Vec<(Node<'n>, Context, usize)>,
    ) {
        match node.kind() {
            "token_tree" => return self.visit_tokens(node, depth, todo),
            "token_tree_pattern" => return,
            _ => {}
        }
        // Comments and attributes directly above an item belong to it.
        let mut above: Option<(usize, usize)> = None;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let (first_row, last_row) = (child.start_position().row, child.end_position().row);
            let touching = above.filter(|(_, row)| row + 1 >= first_row).map(|(at, _)| at);
            let start = touching.unwrap_or(child.start_byte());
            if is_remark(child) {
                above = Some((start, last_row - usize::from(child.end_position().column == 0)));
                continue;
            }
            above = None;
            let strength = match context {
                Context::Top if is_definition(child) => Strength::Section,
                Context::Top | Context::Members => Strength::Item,
                Context::Function => Strength::Paragraph,
            };
            self.places.extend(self.line_start(start).map(|at| CutPoint { at, strength }));
            if last_row - first_row >= LONG_LINES && depth < DEPTH_MAX && context != Context::Function {
                let inner = if is_function(child) { Context::Function } else { Context::Members };
                todo.push((child, inner, depth + 1));
            } else if context == Context::Function && is_block(child) && depth < DEPTH_MAX {
                todo.push((child, Context::Function, depth + 1));
            }
        }
    }

    /// The arguments of a Rust macro are not parsed: definitions are recognised by their first words.
    fn visit_tokens<'n>(&mut self, node: Node<'n>, depth: usize, todo: &mut Vec<(Node<'n>, Context, usize)>) {
        let mut above: Option<(usize, usize)> = None;
        let mut column = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let (start, end) = (child.start_position(), child.end_position());
            if child.kind() == "token_tree" && end.row - start.row >= LONG_LINES && depth < DEPTH_MAX {
                todo.push((child, Context::Members, depth + 1));
            }
            let begins_line = self.line_start(child.start_byte()).is_some();
            if !begins_line || start.column != *column.get_or_insert(start.column) {
                continue;
            }
            let touching = above.take().filter(|(_, row)| row + 1 >= start.row).map(|(at, _)| at);
            let at = touching.unwrap_or(child.start_byte());
            if child.kind() == "#" || is_remark(child) {
                above = Some((at, end.row - usize::from(end.column == 0)));
            } else if begins_definition(child) {
                self.places.extend(self.line_start(at).map(|at| CutPoint { at, strength: Strength::Item }));
            }
        }
    }

    /// The start of the line, if only whitespace precedes the offset.
    fn line_start(&self, at: usize) -> Option<usize> {
        let before = self.text.get(..at)?;
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        before.get(start..)?.iter().all(u8::is_ascii_whitespace).then_some(start)
    }
}

fn is_remark(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.contains("comment") || kind.contains("attribute_item") || matches!(kind, "decorator" | "annotation")
}

/// Whether this token and the next few begin a Rust definition.
fn begins_definition(token: Node<'_>) -> bool {
    const TOKENS_MAX: usize = 8;
    const MODIFIERS: [&str; 8] =
        ["pub", "token_tree", "async", "unsafe", "const", "extern", "string_literal", "default"];
    const DEFINERS: [&str; 9] = ["fn", "struct", "enum", "trait", "impl", "mod", "type", "union", "static"];
    let behind = std::iter::successors(Some(token), Node::next_sibling).take(TOKENS_MAX);
    let word = behind.map(|token| token.kind()).find(|kind| !MODIFIERS.contains(kind));
    word.is_some_and(|word| DEFINERS.contains(&word)) && token.kind() != "token_tree"
}

fn is_function(node: Node<'_>) -> bool {
    let kind = node.kind();
    ["function", "method", "constructor", "lambda"].iter().any(|word| kind.contains(word))
}

/// The body of a function, whose children are its statements.
fn is_block(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "block" | "statement_block" | "compound_statement" | "body_statement" | "function_body"
    )
}

fn is_definition(node: Node<'_>) -> bool {
    let kind = node.kind();
    let is_import = kind.contains("import") || kind.contains("use_declaration") || kind.contains("using");
    let has_word = ["function", "class", "method", "module", "definition", "declaration", "_item", "export"]
        .iter()
        .any(|word| kind.contains(word));
    has_word && !is_import
}
