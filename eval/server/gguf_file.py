"""Reads GGUF files with only the standard library, numpy and torch.

The evaluation machine cannot install packages, so this file has its own header reader
and dequantisers. `python gguf_file.py check FILE` compares every dequantiser with the
reference package `gguf`, which must be installed.
"""

import struct
import sys

import numpy as np
import torch

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
STRING_BYTES_MAX = 1 << 28

# Type number: (name, values per block, bytes per block).
TYPES = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 30: ("BF16", 1, 2),
    2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210),
}


class GgufError(Exception):
    """The file is not a GGUF file this program can read."""


class Gguf:
    """The metadata of a file and the positions of its tensors."""

    def __init__(self, path):
        self.path = path
        self.data = np.memmap(path, dtype=np.uint8, mode="r")
        self.at = 0
        self.meta = {}
        self.tensors = {}  # name: (shape in torch's order, type number, first byte, bytes)
        if bytes(self.data[:4]) != b"GGUF":
            raise GgufError(f"{path}: does not begin with GGUF")
        self.at = 4
        version, count, pairs = self._scalar("<I"), self._scalar("<Q"), self._scalar("<Q")
        if version not in (2, 3):
            raise GgufError(f"{path}: version {version} is unknown")
        for _ in range(pairs):
            key = self._string()
            self.meta[key] = self._value(self._scalar("<I"))
        self._places(count)

    def _places(self, count):
        rows = []
        for _ in range(count):
            name = self._string()
            dims = [self._scalar("<Q") for _ in range(self._scalar("<I"))]
            rows.append((name, dims, self._scalar("<I"), self._scalar("<Q")))
        align = self.meta.get("general.alignment", 32)
        base = (self.at + align - 1) // align * align
        for name, dims, kind, offset in rows:
            if kind not in TYPES:
                raise GgufError(f"{self.path}: tensor {name} has the unknown type {kind}")
            _, values, size = TYPES[kind]
            total = 1
            for dim in dims:
                total *= dim
            self.tensors[name] = (tuple(reversed(dims)), kind, base + offset, total // values * size)

    def _scalar(self, form):
        size = struct.calcsize(form)
        value = struct.unpack(form, self.data[self.at : self.at + size].tobytes())[0]
        self.at += size
        return value

    def _string(self):
        size = self._scalar("<Q")
        if size > STRING_BYTES_MAX:
            raise GgufError(f"{self.path}: a string of {size} bytes in the header")
        text = self.data[self.at : self.at + size].tobytes().decode("utf-8", "replace")
        self.at += size
        return text

    def _value(self, kind):
        if kind == STRING:
            return self._string()
        if kind == ARRAY:
            inner, count = self._scalar("<I"), self._scalar("<Q")
            if inner in SCALARS:
                form = SCALARS[inner]
                size = struct.calcsize(form) * count
                raw = self.data[self.at : self.at + size].tobytes()
                self.at += size
                return list(struct.unpack(f"<{count}{form[1]}", raw))
            return [self._value(inner) for _ in range(count)]
        return self._scalar(SCALARS[kind])

    def tensor(self, name, device="cpu", dtype=torch.float32):
        """One tensor, dequantised."""
        shape, kind, first, size = self.tensors[name]
        raw = torch.from_numpy(np.array(self.data[first : first + size])).to(device)
        return dequantise(raw, kind).to(dtype).reshape(shape)


def dequantise(raw, kind):
    """The values of raw bytes: float32, or float16 or bfloat16 if stored as such."""
    name, _, size = TYPES[kind]
    if name in ("F32", "F16", "BF16"):
        return raw.view({"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}[name])
    return DEQUANTISERS[name](raw.view(-1, size)).reshape(-1)


def half(blocks, first):
    """The half-precision number at a byte offset in every block, as a column."""
    return blocks[:, first : first + 2].contiguous().view(torch.float16).float()


def nibbles(part):
    """The low halves of all bytes, then the high halves."""
    return torch.cat([part & 15, part >> 4], dim=1)


def fifth_bits(part):
    """The 32 single bits of four bytes."""
    shifts = torch.arange(8, dtype=torch.uint8, device=part.device)
    return ((part[:, :, None] >> shifts) & 1).reshape(part.shape[0], 32)


def q4_0(b):
    return half(b, 0) * (nibbles(b[:, 2:]).float() - 8)


def q4_1(b):
    return half(b, 0) * nibbles(b[:, 4:]).float() + half(b, 2)


def q5_0(b):
    return half(b, 0) * ((nibbles(b[:, 6:]) | (fifth_bits(b[:, 2:6]) << 4)).float() - 16)


def q5_1(b):
    return half(b, 0) * (nibbles(b[:, 8:]) | (fifth_bits(b[:, 4:8]) << 4)).float() + half(b, 2)


def q8_0(b):
    return half(b, 0) * b[:, 2:].contiguous().view(torch.int8).float()


def k_scales(part):
    """The eight 6-bit scales and minima packed into twelve bytes."""
    low, mid, high = part[:, 0:4], part[:, 4:8], part[:, 8:12]
    scales = torch.cat([low & 63, (high & 15) | ((low >> 6) << 4)], dim=1)
    minima = torch.cat([mid & 63, (high >> 4) | ((mid >> 6) << 4)], dim=1)
    return scales.float(), minima.float()


def k_values(part):
    """The 256 nibbles of 128 bytes as eight groups: low and high halves of each 32 bytes."""
    part = part.reshape(-1, 4, 32)
    return torch.stack([part & 15, part >> 4], dim=2).reshape(-1, 8, 32)


def q4_k(b):
    scales, minima = k_scales(b[:, 4:16])
    values = k_values(b[:, 16:]).float()
    return values * (half(b, 0) * scales)[:, :, None] - (half(b, 2) * minima)[:, :, None]


def q5_k(b):
    scales, minima = k_scales(b[:, 4:16])
    shifts = torch.arange(8, dtype=torch.uint8, device=b.device)
    fifth = (b[:, 16:48][:, None, :] >> shifts[None, :, None]) & 1
    values = (k_values(b[:, 48:]) | (fifth << 4)).float()
    return values * (half(b, 0) * scales)[:, :, None] - (half(b, 2) * minima)[:, :, None]


def q6_k(b):
    low = b[:, :128].reshape(-1, 2, 64)
    low = torch.stack([low & 15, low >> 4], dim=2).reshape(-1, 8, 32)
    shifts = torch.tensor([0, 2, 4, 6], dtype=torch.uint8, device=b.device)
    high = b[:, 128:192].reshape(-1, 2, 1, 32) >> shifts[None, None, :, None] & 3
    values = ((low | (high.reshape(-1, 8, 32) << 4)).float() - 32).reshape(-1, 16, 16)
    scales = b[:, 192:208].contiguous().view(torch.int8).float()
    return values * (half(b, 208) * scales)[:, :, None]


DEQUANTISERS = {
    "Q4_0": q4_0, "Q4_1": q4_1, "Q5_0": q5_0, "Q5_1": q5_1, "Q8_0": q8_0, "Q4_K": q4_k, "Q5_K": q5_k, "Q6_K": q6_k,
}


def check(path):
    """Compares every type on random blocks, and the file's tensors, with the package `gguf`."""
    from gguf import GGMLQuantizationType, GGUFReader
    from gguf.quants import dequantize

    rng = np.random.default_rng(7)
    for kind, (name, _, size) in TYPES.items():
        if name not in DEQUANTISERS:
            continue
        raw = rng.integers(0, 256, (512, size), dtype=np.uint8)
        want = dequantize(raw, GGMLQuantizationType[name])
        got = dequantise(torch.from_numpy(raw).reshape(-1), kind).numpy().reshape(want.shape)
        good = np.isfinite(want)
        worst = np.abs(np.where(good, got - want, 0) / np.maximum(np.abs(np.where(good, want, 1)), 1e-6)).max()
        print(f"{name}: largest relative difference {worst:.2e} over {good.sum()} values")
        if not worst < 1e-4:
            raise SystemExit(f"{name} is wrong")
    ours = Gguf(path)
    seen = {}
    for tensor in GGUFReader(path).tensors:
        if seen.get(tensor.tensor_type.name, 0) >= 3 or tensor.n_bytes > 20_000_000:
            continue
        seen[tensor.tensor_type.name] = seen.get(tensor.tensor_type.name, 0) + 1
        want = dequantize(tensor.data, tensor.tensor_type)
        got = ours.tensor(tensor.name).numpy()
        if got.shape != want.shape or not np.allclose(got, want, rtol=1e-5, atol=1e-8):
            raise SystemExit(f"{tensor.name} ({tensor.tensor_type.name}) is wrong")
    print(f"{path}: {seen} tensors equal")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "check":
        raise SystemExit("usage: gguf_file.py check FILE")
    check(sys.argv[2])
