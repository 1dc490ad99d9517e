"""Text and tokens: the tokenizer and the chat template of a GGUF file."""

import codecs
import datetime

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers import decoders
from tokenizers.models import BPE

QWEN2_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CONTROL, USER_DEFINED = 3, 4
ENDS = ("<|im_end|>", "<|endoftext|>", "<|im_start|>", "</s>", "<|eot_id|>")


def byte_letters():
    """The letters that byte-level vocabularies use for the 256 bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in plain}
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(256 + len(letters) - len(plain))
    return letters


class Text:
    """Tokens of chat messages, and the bytes of tokens."""

    def __init__(self, meta):
        words = meta["tokenizer.ggml.tokens"]
        kinds = meta.get("tokenizer.ggml.token_type", [1] * len(words))
        merges = [tuple(merge.split(" ", 1)) for merge in meta["tokenizer.ggml.merges"]]
        self.tokenizer = Tokenizer(BPE({word: index for index, word in enumerate(words)}, merges))
        if meta.get("tokenizer.ggml.pre") == "smollm":
            first = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        else:
            self.tokenizer.normalizer = normalizers.NFC()
            first = [
                pre_tokenizers.Split(Regex(QWEN2_WORDS), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        self.tokenizer.pre_tokenizer = pre_tokenizers.Sequence(first)
        self.tokenizer.decoder = decoders.ByteLevel()
        special = [index for index, kind in enumerate(kinds) if kind in (CONTROL, USER_DEFINED)]
        self.tokenizer.add_special_tokens([AddedToken(words[index], special=True) for index in special])
        back = {letter: byte for byte, letter in byte_letters().items()}
        control = {index for index, kind in enumerate(kinds) if kind == CONTROL}
        self.bytes = [
            b"" if index in control else bytes(back[c] for c in word) if all(c in back for c in word) else word.encode()
            for index, word in enumerate(words)
        ]
        self.ends = {index for index, word in enumerate(words) if word in ENDS and index in control}
        self.ends.add(meta["tokenizer.ggml.eos_token_id"])
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = self._refuse
        environment.globals["strftime_now"] = lambda form: datetime.datetime(2026, 1, 1).strftime(form)
        self.template = environment.from_string(meta["tokenizer.chat_template"])

    @staticmethod
    def _refuse(message):
        raise ValueError(message)

    def prompt(self, messages):
        """The tokens of a conversation, up to the start of the assistant's reply."""
        return self.encode(self.template.render(messages=messages, add_generation_prompt=True, tools=None))

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids


class Speech:
    """The text of one reply as it grows, cut at stop strings."""

    def __init__(self, stops):
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.stops = stops
        self.hold = max((len(stop) for stop in stops), default=1) - 1
        self.text = ""
        self.sent = 0
        self.stopped = False

    def add(self, piece, final=False):
        """Adds bytes. Returns the text that can be sent now."""
        if self.stopped:
            piece, final = b"", False
        before = len(self.text)
        self.text += self.decoder.decode(piece, final)
        for stop in () if self.stopped else self.stops:
            at = self.text.find(stop, max(0, before - len(stop)))
            if at >= 0:
                self.text = self.text[:at]
                self.stopped = True
        end = len(self.text) if final or self.stopped else max(self.sent, len(self.text) - self.hold)
        out = self.text[self.sent : end]
        self.sent = max(self.sent, end)
        return out
