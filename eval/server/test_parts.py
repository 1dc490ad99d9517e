"""Checks of the server's parts on a CPU, without a server:

    TRITON_INTERPRET=1 python3 test_parts.py MODEL.gguf     (a small model; the kernel runs in Triton's interpreter)

Compares dequantisers with the package `gguf` if it is installed; tests guides and stop strings; and
checks that reading a prompt at once, in pieces, from a copied prefix and token by token agree.
"""

import os
import random
import sys
import types

import torch

import attention
import guide
from engine import gumbel
from gguf_file import check as check_dequantisers
from model import Model
from text import Speech, Text


def guides():
    node = {"type": "object", "properties": {"k": {"$ref": "#/$defs/n"}, "v": {"type": ["number", "null"]}}, "required": ["v"]}
    names = {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "string"}}}
    names |= {"c": {"enum": ["x", "yy"]}, "d": {"$ref": "#/$defs/n"}}
    schema = {"type": "object", "properties": names, "required": ["a", "c"], "$defs": {"n": node}}
    pair = {"type": "array", "minItems": 1, "maxItems": 2}
    whole = (
        (schema, '{"a": 1, "c": "x"}'), (schema, '{ "a":-10,"b":[],"c":"yy" }'),
        (schema, '{"a":1,"b":["q\\n","\\u00e9é"],"c":"yy","d":{"k":{"v":null},"v":1.5e-3}}'),
        ({"type": "object"}, "{}"), ({"type": "object"}, '{"x":[1,2,{"y":null}],"z":true}'), ({}, "3"), (pair, "[1,2]"),
    )
    for rule, text in whole:
        made = guide.Guide(rule)
        # Tokens may end anywhere, even inside a character.
        data, at = text.encode(), 0
        while at < len(data):
            piece = data[at : at + random.randint(1, 4)]
            assert made.allows(piece), (rule, text, at)
            made.advance(piece)
            at += len(piece)
        assert made.complete(), (rule, text)
    never = (
        (schema, '{"c":"x"'), (schema, '{"a":1.5'), (schema, '{"a":1,"c":"z'), (schema, "Sure! {"), (schema, '{"a":1,}'),
        (schema, '{"a":1}'), ({"type": "object"}, '{"a":01'), ({"type": "object"}, "["), (pair, "[]"), (pair, "[1,2,"),
        ({"type": "object"}, "{" + " " * 100),
    )
    for rule, text in never:
        assert not guide.Guide(rule).allows(text.encode()), (rule, text)
    for odd in ({"minItems": "x", "type": "array"}, {"properties": {"a": 3}, "required": 5}, {"anyOf": [{"$ref": "#"}] * 2}):
        made = guide.from_format({"type": "json_schema", "json_schema": {"schema": odd}})
        made.advance(b'[1,{"')
        made.complete()
    print("guides: ok")


def speeches():
    data = "Grüße 🙂 one two STOP three".encode()
    for seed in range(50):
        rng = random.Random(seed)
        speech, out, at = Speech(["STOP", "never"]), "", 0
        while at < len(data) and not speech.stopped:
            size = rng.randint(1, 5)
            out += speech.add(data[at : at + size])
            at += size
        out += speech.add(b"", final=True)
        assert out == speech.text == "Grüße 🙂 one two ", (seed, out, speech.text)
    print("stop strings: ok")


def noise():
    drawn = gumbel([1, 2, 1], 200_000, "cpu")
    assert torch.equal(drawn[0], drawn[2]) and not torch.equal(drawn[0], drawn[1])
    assert abs(drawn[0].mean().item() - 0.5772) < 0.02 and abs(drawn[0].std().item() - 1.2825) < 0.02
    print("noise: ok")


def kernel():
    for kv_heads, group, width in ((2, 6, 128), (2, 7, 64), (3, 3, 64)):
        shape = types.SimpleNamespace(kv_heads=kv_heads, group=group, head_width=width)
        assert attention.split_agrees(torch.device("cpu"), shape, torch.float32), shape
    print("Triton kernel in the interpreter: ok")


def passes(path, with_kernel):
    model = Model(path, "cpu", 6, window=1024)
    text = Text(model.file.meta)
    ids = text.encode("The lighthouse keeper walked up the stairs every night, and 12 gulls followed. " * 20)[:200]
    want = model.prefill(0, ids, 0, True)

    def same(got, name):
        worst = (got - want).abs().max().item()
        assert worst < 1e-3, (name, worst)

    model.prefill(1, ids[:77], 0, False)
    model.prefill(1, ids[77:150], 77, False)
    same(model.prefill(1, ids[150:], 150, True), "in pieces")
    model.copy_slot(0, 3, 100)
    same(model.prefill(3, ids[100:], 100, True), "from a copied prefix")
    model.prefill(2, ids[:-1], 0, False)
    model.prefill(4, ids[:50], 0, False)
    jobs = [(2, ids[-1], len(ids) - 1), (4, ids[50], 50), (0, ids[3], 3)]
    plain = model.decode(jobs)
    same(plain[0], "by a step")
    if with_kernel:
        model.compact = True
        assert (model.decode(jobs) - plain).abs().max().item() < 1e-3
    print("prompt at once, in pieces, from a prefix, by steps: the same")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    torch.set_num_threads(1)
    guides()
    speeches()
    noise()
    interpreted = os.environ.get("TRITON_INTERPRET") == "1" and attention.triton is not None
    if interpreted:
        kernel()
    passes(sys.argv[1], interpreted)
    try:
        check_dequantisers(sys.argv[1])
    except ImportError:
        print("dequantisers: not checked, the package gguf is missing")


if __name__ == "__main__":
    main()
