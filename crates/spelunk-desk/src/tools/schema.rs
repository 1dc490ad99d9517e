//! The JSON Schemas of the tools, as sent to providers. Only plain types, which every provider accepts.

pub(super) const READ: &str = r#"{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The path of the file."},
    "offset": {"type": "integer", "description": "The first line, starting at 1. Default 1."},
    "limit": {"type": "integer", "description": "Number of lines. Default 400, at most 5000."},
    "byte_offset": {"type": "integer", "description": "The first byte, starting at 0, instead of lines."},
    "byte_limit": {"type": "integer", "description": "Number of bytes. Default 8000."}
  },
  "required": ["path"],
  "additionalProperties": false
}"#;

pub(super) const WRITE: &str = r#"{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The path of the file."},
    "content": {"type": "string", "description": "The text."},
    "append": {"type": "boolean", "description": "Add to the end instead of replacing."}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}"#;

pub(super) const EDIT: &str = r#"{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The path of the file."},
    "old": {"type": "string", "description": "The text to replace, exactly as in the file."},
    "new": {"type": "string", "description": "The replacement."},
    "all": {"type": "boolean", "description": "Replace every occurrence."}
  },
  "required": ["path", "old", "new"],
  "additionalProperties": false
}"#;

pub(super) const GREP: &str = r#"{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "A regular expression, matched within one line."},
    "path": {"type": "string", "description": "A file or directory. Default: all files."},
    "glob": {"type": "string", "description": "Only files whose names match, such as *.md."},
    "ignore_case": {"type": "boolean", "description": "Ignore case."},
    "literal": {"type": "boolean", "description": "Treat the pattern as a literal string."},
    "context": {"type": "integer", "description": "Lines shown around each match. Default 0."},
    "mode": {"type": "string", "enum": ["lines", "files", "count"], "description": "What to show. Default lines."},
    "limit": {"type": "integer", "description": "Maximum number of matches or files shown. Default 100, at most 2000."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}"#;

pub(super) const GLOB: &str = r#"{
  "type": "object",
  "properties": {
    "pattern": {"type": "array", "items": {"type": "string"}, "description": "Globs as in a .gitignore; the last match decides, and ! excludes."},
    "path": {"type": "string", "description": "The directory to search. Default: the whole folder."},
    "limit": {"type": "integer", "description": "Maximum number of files shown. Default 200, at most 2000."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}"#;

pub(super) const CHUNK: &str = r#"{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The file to split."},
    "by": {"type": "string", "enum": ["tokens", "lines", "paragraphs", "headings"], "description": "Default tokens."},
    "size": {"type": "integer", "description": "Tokens, lines or paragraphs per chunk; for headings, maximum tokens per chunk. Default 2000 tokens, 100 lines, 5 paragraphs."},
    "overlap": {"type": "integer", "description": "Overlap of adjacent chunks, in the same unit; at most size/2. Default 100 tokens, 5 lines, 0 paragraphs."}
  },
  "required": ["path"],
  "additionalProperties": false
}"#;

pub(super) const EVIDENCE: &str = r#"{
  "type": "object",
  "properties": {
    "tag": {"type": "string", "description": "A short word for the kind of finding."},
    "content": {"type": "string", "description": "The finding."},
    "metadata": {"type": "object", "description": "Additional data."},
    "source": {"type": "string", "description": "Its source: path:line."}
  },
  "required": ["tag", "content"],
  "additionalProperties": false
}"#;

pub(super) const BUFFER: &str = r#"{
  "type": "object",
  "properties": {
    "action": {"type": "string", "enum": ["append", "read", "list", "pop", "clear", "assemble"], "description": "The action."},
    "name": {"type": "string", "description": "The buffer: letters, digits, - and _. Not needed for list."},
    "text": {"type": "string", "description": "The part to append."},
    "path": {"type": "string", "description": "The file to assemble into."},
    "join": {"type": "string", "description": "The separator between parts. Default: a newline."},
    "first": {"type": "integer", "description": "The first part to read, starting at 1."},
    "limit": {"type": "integer", "description": "Number of parts to read."}
  },
  "required": ["action"],
  "additionalProperties": false
}"#;

pub(super) const SHELL: &str = r#"{
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "A bash script."},
    "stdin": {"type": "string", "description": "Standard input of the script."}
  },
  "required": ["command"],
  "additionalProperties": false
}"#;
