class Chunk:
    """A chunk of a file. Lines start at 1 and include the end; bytes start at 0 and exclude it."""

    def __init__(self, fields, source_file, content):
        self.content = content
        self.index = fields["index"]
        self.start_line = fields["start_line"]
        self.end_line = fields["end_line"]
        self.start_byte = fields["start_byte"]
        self.end_byte = fields["end_byte"]
        self.token_estimate = fields["token_estimate"]
        self.source_file = source_file
        self.chunk_id = fields["chunk_id"]

    def __repr__(self):
        return "Chunk(" + self.chunk_id + ", lines " + str(self.start_line) + "-" + str(self.end_line) + ")"


class Chunker:
    """Splits a file into chunks, and writes a manifest without the text to cache/indexes/."""

    def __init__(self, path="input/prompt.md"):
        self.path = str(path)

    def _cut(self, by, size, overlap):
        cut = _agent_chunk(self.path, by, size, overlap)
        return [Chunk(fields, self.path, text) for fields, text in zip(cut["chunks"], cut["texts"])]

    def chunk_by_tokens(self, max_tokens=2000, overlap_tokens=None):
        return self._cut("tokens", max_tokens, overlap_tokens)

    def chunk_by_lines(self, lines_per_chunk=100, overlap=None):
        return self._cut("lines", lines_per_chunk, overlap)

    def chunk_by_paragraphs(self, paragraphs_per_chunk=5):
        return self._cut("paragraphs", paragraphs_per_chunk, None)

    def chunk_by_headings(self, max_tokens=None):
        return self._cut("headings", max_tokens, None)

    def build_index(self, path=None, index_type="headings"):
        """The headings of a file: a dict whose `entries` are dicts with type, level, title, line."""
        if index_type != "headings":
            raise ValueError("there is no index type '" + str(index_type) + "': use 'headings'")
        return _agent_headings(self.path if path is None else str(path))

    def get_lines(self, start, end):
        """Lines from start to end, both included."""
        return _agent_lines(self.path, start, end)


def chunk_prompt(max_tokens=2000, overlap_tokens=None):
    """The job itself, in chunks."""
    return Chunker("input/prompt.md").chunk_by_tokens(max_tokens, overlap_tokens)


def build_index(path, index_type="headings"):
    """The headings of a file: a dict whose `entries` are dicts with type, level, title, line."""
    return Chunker(path).build_index(index_type=index_type)
