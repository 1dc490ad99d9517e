//! The JSON Schemas of the tools, as sent to providers. Only plain types, which every provider accepts.

/// The schema of an object: the required properties, and all properties.
macro_rules! schema {
    ([$required:literal] $first:literal $($property:literal)*) => {
        concat!(
            "{\"type\": \"object\", \"properties\": {", $first, $(", ", $property,)* "}, \"required\": [", $required,
            "], \"additionalProperties\": false}"
        )
    };
}

pub(super) const READ: &str = schema! {
    [r#""path""#]
    r#""path": {"type": "string", "description": "The path of the file."}"#
    r#""offset": {"type": "integer", "description": "The first line, starting at 1. Default 1."}"#
    r#""limit": {"type": "integer", "description": "Number of lines. Default 400, at most 5000."}"#
    r#""byte_offset": {"type": "integer", "description": "The first byte, starting at 0, instead of lines."}"#
    r#""byte_limit": {"type": "integer", "description": "Number of bytes. Default 8000."}"#
};

pub(super) const WRITE: &str = schema! {
    [r#""path", "content""#]
    r#""path": {"type": "string", "description": "The path of the file."}"#
    r#""content": {"type": "string", "description": "The text."}"#
    r#""append": {"type": "boolean", "description": "Add to the end instead of replacing."}"#
};

pub(super) const EDIT: &str = schema! {
    [r#""path", "old", "new""#]
    r#""path": {"type": "string", "description": "The path of the file."}"#
    r#""old": {"type": "string", "description": "The text to replace, exactly as in the file."}"#
    r#""new": {"type": "string", "description": "The replacement."}"#
    r#""all": {"type": "boolean", "description": "Replace every occurrence."}"#
};

pub(super) const GREP: &str = schema! {
    [r#""pattern""#]
    r#""pattern": {"type": "string", "description": "A regular expression, matched within one line."}"#
    r#""path": {"type": "string", "description": "A file or directory. Default: all files."}"#
    r#""glob": {"type": "string", "description": "Only files whose names match, such as *.md."}"#
    r#""ignore_case": {"type": "boolean", "description": "Ignore case."}"#
    r#""literal": {"type": "boolean", "description": "Treat the pattern as a literal string."}"#
    r#""context": {"type": "integer", "description": "Lines shown around each match. Default 0."}"#
    r#""mode": {"type": "string", "enum": ["lines", "files", "count"], "description": "What to show. Default lines."}"#
    r#""limit": {"type": "integer", "description": "Maximum number of matches or files shown. Default 100, at most 2000."}"#
};

pub(super) const GLOB: &str = schema! {
    [r#""pattern""#]
    r#""pattern": {"type": "array", "items": {"type": "string"}, "description": "Globs as in a .gitignore; the last match decides, and ! excludes."}"#
    r#""path": {"type": "string", "description": "The directory to search. Default: the whole folder."}"#
    r#""limit": {"type": "integer", "description": "Maximum number of files shown. Default 200, at most 2000."}"#
};

pub(super) const CHUNK: &str = schema! {
    [r#""path""#]
    r#""path": {"type": "string", "description": "The file to split."}"#
    r#""by": {"type": "string", "enum": ["tokens", "lines", "paragraphs", "headings"], "description": "Default tokens."}"#
    r#""size": {"type": "integer", "description": "Tokens, lines or paragraphs per chunk; for headings, maximum tokens per chunk. Default 2000 tokens, 100 lines, 5 paragraphs."}"#
    r#""overlap": {"type": "integer", "description": "Overlap of adjacent chunks, in the same unit; at most size/2. Default 100 tokens, 5 lines, 0 paragraphs."}"#
};

pub(super) const EVIDENCE: &str = schema! {
    [r#""tag", "content""#]
    r#""tag": {"type": "string", "description": "A short word for the kind of finding."}"#
    r#""content": {"type": "string", "description": "The finding."}"#
    r#""metadata": {"type": "object", "description": "Additional data."}"#
    r#""source": {"type": "string", "description": "Its source: path:line."}"#
};

pub(super) const BUFFER: &str = schema! {
    [r#""action""#]
    r#""action": {"type": "string", "enum": ["append", "read", "list", "pop", "clear", "assemble"], "description": "The action."}"#
    r#""name": {"type": "string", "description": "The buffer: letters, digits, - and _. Not needed for list."}"#
    r#""text": {"type": "string", "description": "The part to append."}"#
    r#""path": {"type": "string", "description": "The file to assemble into."}"#
    r#""join": {"type": "string", "description": "The separator between parts. Default: a newline."}"#
    r#""first": {"type": "integer", "description": "The first part to read, starting at 1."}"#
    r#""limit": {"type": "integer", "description": "Number of parts to read."}"#
};

pub(super) const SHELL: &str = schema! {
    [r#""command""#]
    r#""command": {"type": "string", "description": "A bash script."}"#
    r#""stdin": {"type": "string", "description": "Standard input of the script."}"#
};
