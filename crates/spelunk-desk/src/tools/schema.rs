//! The JSON Schemas of the tools, as sent to providers. Only plain types, which every provider accepts.

pub(super) const READ: &str = r#"{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The file, from the top of the desk."},
    "offset": {"type": "integer", "description": "The first line, from 1. Default 1."},
    "limit": {"type": "integer", "description": "How many lines. Default 400, at most 5000."},
    "byte_offset": {"type": "integer", "description": "The first byte, from 0, instead of lines."},
    "byte_limit": {"type": "integer", "description": "How many bytes. Default 8000."}
  },
  "required": ["path"],
  "additionalProperties": false
}"#;

pub(super) const WRITE: &str = r#"{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The file, from the top of the desk."},
    "content": {"type": "string", "description": "The text."},
    "append": {"type": "boolean", "description": "Add to the end instead of replacing."}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}"#;

pub(super) const EDIT: &str = r#"{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The file, from the top of the desk."},
    "old": {"type": "string", "description": "The text to replace, exactly as it is in the file."},
    "new": {"type": "string", "description": "The text in its place."},
    "all": {"type": "boolean", "description": "Replace every occurrence."}
  },
  "required": ["path", "old", "new"],
  "additionalProperties": false
}"#;

pub(super) const GREP: &str = r#"{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "A regular expression, matched within one line."},
    "path": {"type": "string", "description": "A file or a directory. Default: everything."},
    "glob": {"type": "string", "description": "Only files whose names match, such as *.md."},
    "ignore_case": {"type": "boolean", "description": "Whether A and a are the same."},
    "literal": {"type": "boolean", "description": "Take every character of the pattern as itself."},
    "context": {"type": "integer", "description": "Lines shown around each match. Default 0."},
    "mode": {"type": "string", "enum": ["lines", "files", "count"], "description": "What to show. Default lines."},
    "limit": {"type": "integer", "description": "Matches or files shown. Default 100, at most 2000."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}"#;

pub(super) const GLOB: &str = r#"{
  "type": "object",
  "properties": {
    "pattern": {"type": "array", "items": {"type": "string"}, "description": "Globs as in a .gitignore; the last that matches decides, and ! leaves out."},
    "path": {"type": "string", "description": "The directory to look in. Default: the top of the desk."},
    "limit": {"type": "integer", "description": "Files shown. Default 200, at most 2000."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}"#;

pub(super) const CHUNK: &str = r#"{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "The file to cut."},
    "by": {"type": "string", "enum": ["tokens", "lines", "paragraphs", "headings"], "description": "Default tokens."},
    "size": {"type": "integer", "description": "Tokens, lines or paragraphs of a chunk; for headings the most tokens of one. Default 2000 tokens, 100 lines, 5 paragraphs."},
    "overlap": {"type": "integer", "description": "How much two neighbours share, in the same unit; at most size/2. Default 100 tokens, 5 lines, 0 paragraphs."}
  },
  "required": ["path"],
  "additionalProperties": false
}"#;

pub(super) const EVIDENCE: &str = r#"{
  "type": "object",
  "properties": {
    "tag": {"type": "string", "description": "A short word for the kind of finding."},
    "content": {"type": "string", "description": "What was found."},
    "metadata": {"type": "object", "description": "Anything that belongs to it."},
    "source": {"type": "string", "description": "Where it was found: path:line."}
  },
  "required": ["tag", "content"],
  "additionalProperties": false
}"#;

pub(super) const BUFFER: &str = r#"{
  "type": "object",
  "properties": {
    "action": {"type": "string", "enum": ["append", "read", "list", "pop", "clear", "assemble"], "description": "What to do."},
    "name": {"type": "string", "description": "The buffer: letters, digits, - and _. Not needed for list."},
    "text": {"type": "string", "description": "The part to append."},
    "path": {"type": "string", "description": "The file to assemble into."},
    "join": {"type": "string", "description": "What stands between two parts. Default a line end."},
    "first": {"type": "integer", "description": "The first part to read, from 1."},
    "limit": {"type": "integer", "description": "How many parts to read."}
  },
  "required": ["action"],
  "additionalProperties": false
}"#;

pub(super) const SHELL: &str = r#"{
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "A bash script."},
    "stdin": {"type": "string", "description": "What the script reads as its standard input."}
  },
  "required": ["command"],
  "additionalProperties": false
}"#;
