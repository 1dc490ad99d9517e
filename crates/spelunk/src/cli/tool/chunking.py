"""Splits files of this folder into chunks with `spelunk tool chunk`, and writes a manifest without the text to
cache/indexes/."""
import json
import subprocess
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parent.parent


class Chunk:
    """A chunk of a file. Lines start at 1 and include the end; bytes start at 0 and exclude it."""

    def __init__(self, fields, source_file, content):
        self.__dict__.update(fields)
        self.source_file = source_file
        self.content = content


class Chunker:
    def __init__(self, path="input/prompt.md"):
        self.path = str(path)

    def _cut(self, by, size=None, overlap=None):
        command = ["spelunk", "tool", "chunk", self.path, "--by", by]
        for flag, value in (("--size", size), ("--overlap", overlap)):
            command += [flag, str(value)] if value is not None else []
        ran = subprocess.run(command, cwd=WORKSPACE, capture_output=True, text=True)
        if ran.returncode != 0:
            raise ValueError(ran.stderr.strip())
        return WORKSPACE / "cache/indexes", Path(self.path).name

    def _chunks(self, by, size=None, overlap=None):
        indexes, name = self._cut(by, size, overlap)
        chunks = json.loads((indexes / f"{name}_chunks.json").read_text())["chunks"]
        return [Chunk(fields, self.path, self.get_lines(fields["start_line"], fields["end_line"])) for fields in chunks]

    def chunk_by_tokens(self, max_tokens=2000, overlap_tokens=None):
        return self._chunks("tokens", max_tokens, overlap_tokens)

    def chunk_by_lines(self, lines_per_chunk=100, overlap=None):
        return self._chunks("lines", lines_per_chunk, overlap)

    def chunk_by_paragraphs(self, paragraphs_per_chunk=5):
        return self._chunks("paragraphs", paragraphs_per_chunk)

    def chunk_by_headings(self, max_tokens=None):
        return self._chunks("headings", max_tokens)

    def build_index(self, path=None, index_type="headings"):
        """The headings of a file: a dict whose `entries` are dicts with type, level, title, line."""
        if index_type != "headings":
            raise ValueError(f"there is no index type '{index_type}': use 'headings'")
        chunker = self if path is None else Chunker(path)
        try:
            indexes, name = chunker._cut("headings")
        except ValueError as error:
            if "has no headings" not in str(error):
                raise
            return {"source_file": chunker.path, "entries": []}
        return json.loads((indexes / f"{name}_headings_index.json").read_text())

    def get_lines(self, start, end):
        """Lines from start to end, both included. A document is read where it is."""
        file = WORKSPACE / self.path
        if file.is_file():
            lines = file.read_text().splitlines()[start - 1 : end]
        else:
            command = ["spelunk", "tool", "read", self.path, "--offset", str(start), "--limit", str(end - start + 1)]
            ran = subprocess.run(command, cwd=WORKSPACE, capture_output=True, text=True, check=True)
            lines = [line.split("\t", 1)[1] for line in ran.stdout.splitlines() if "\t" in line]
        return "\n".join(lines)


def chunk_prompt(max_tokens=2000, overlap_tokens=None):
    """The job itself, in chunks."""
    return Chunker("input/prompt.md").chunk_by_tokens(max_tokens, overlap_tokens)


def build_index(path, index_type="headings"):
    """The headings of a file: a dict whose `entries` are dicts with type, level, title, line."""
    return Chunker(path).build_index(index_type=index_type)
