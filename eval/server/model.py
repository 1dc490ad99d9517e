"""A decoder (Qwen2 or Llama architecture) from a GGUF file, for many requests at once.

Every request owns a slot: a row of the key-value cache with room for a whole window.
`prefill` reads a piece of one prompt into a slot; `decode` computes one step for many
slots. On a GPU, steps are recorded once per batch size as CUDA graphs and replayed.
"""

import math

import torch
import torch.nn.functional as F

import attention
from gguf_file import Gguf, GgufError

BATCHES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128)
SPANS_MIN = 1024


class Shape:
    """The sizes of the network, from the file's metadata."""

    def __init__(self, meta):
        arch = meta["general.architecture"]
        if arch not in ("qwen2", "llama"):
            raise GgufError(f"architecture {arch} is not supported: qwen2 or llama")
        self.arch = arch
        self.layers = meta[f"{arch}.block_count"]
        self.width = meta[f"{arch}.embedding_length"]
        self.heads = meta[f"{arch}.attention.head_count"]
        self.kv_heads = meta[f"{arch}.attention.head_count_kv"]
        self.head_width = meta.get(f"{arch}.attention.key_length", self.width // self.heads)
        self.eps = meta[f"{arch}.attention.layer_norm_rms_epsilon"]
        self.rope_base = meta.get(f"{arch}.rope.freq_base", 10000.0)
        self.window = meta[f"{arch}.context_length"]
        # Llama files store query and key rows in the order of interleaved rotation.
        self.interleaved = arch == "llama"
        self.group = self.heads // self.kv_heads


class Layer:
    """The weights of one block; matrices with the same input are concatenated."""

    def __init__(self, take, shape, index):
        def name(part):
            return f"blk.{index}.{part}"

        def rows(part):
            weight = take(name(f"{part}.weight"))
            bias = take(name(f"{part}.bias"), optional=True)
            if shape.interleaved and part in ("attn_q", "attn_k"):
                weight = weight.reshape(-1, shape.head_width // 2, 2, weight.shape[1]).transpose(1, 2)
                weight = weight.reshape(-1, weight.shape[-1])
            return weight, bias

        parts = [rows(part) for part in ("attn_q", "attn_k", "attn_v")]
        self.qkv = torch.cat([weight for weight, _ in parts]).contiguous()
        biases = [bias for _, bias in parts]
        self.qkv_bias = None if biases[0] is None else torch.cat(biases).contiguous()
        self.out = take(name("attn_output.weight"))
        self.gate_up = torch.cat([take(name("ffn_gate.weight")), take(name("ffn_up.weight"))]).contiguous()
        self.down = take(name("ffn_down.weight"))
        self.attn_norm = take(name("attn_norm.weight"))
        self.ffn_norm = take(name("ffn_norm.weight"))


class Model:
    """Weights, cache and the two passes over them."""

    def __init__(self, path, device, slots, window=None, yarn=None, tie=False, kernel="auto"):
        self.file = Gguf(path)
        self.shape = shape = Shape(self.file.meta)
        self.device = torch.device(device)
        self.dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        self.window = window or shape.window
        self.slots = slots
        self._weights(tie)
        self._rotation(yarn)
        # Idle rows of a step write to a position past the window.
        room = self.window + 128
        size = (slots, shape.kv_heads, room, shape.head_width)
        self.keys = [torch.zeros(size, dtype=self.dtype, device=self.device) for _ in range(shape.layers)]
        self.values = [torch.zeros(size, dtype=self.dtype, device=self.device) for _ in range(shape.layers)]
        self.idle_pos = self.window
        self.compact = attention.choose(self.device, shape, kernel)
        self.flash = attention.flash_works(self.device, shape)
        self.recorded = self.device.type == "cuda"
        self.graphs = {}
        self.pool = None
        rows = BATCHES[-1]
        self.tokens_in = torch.zeros(rows, dtype=torch.long, device=self.device)
        self.slots_in = torch.zeros(rows, dtype=torch.long, device=self.device)
        self.pos_in = torch.full((rows,), self.idle_pos, dtype=torch.long, device=self.device)
        self.heads_index = torch.arange(shape.kv_heads, device=self.device)[None, :]

    def _weights(self, tie):
        def take(name, optional=False):
            if name not in self.file.tensors:
                if optional:
                    return None
                raise GgufError(f"{self.file.path}: tensor {name} is missing")
            return self.file.tensor(name, self.device, self.dtype)

        self.layers = [Layer(take, self.shape, index) for index in range(self.shape.layers)]
        self.norm = take("output_norm.weight")
        head = take("output.weight", optional=True)
        self.embed = head if tie and head is not None else take("token_embd.weight")
        self.head = self.embed if head is None else head

    def _rotation(self, yarn):
        """Computes the tables of cosines and sines; `yarn` extends the trained window by that factor."""
        half = self.shape.head_width // 2
        base = self.shape.rope_base
        freq = base ** (-torch.arange(half, dtype=torch.float64) / half)
        scale = 1.0
        if yarn and yarn > 1:
            trained = self.shape.window

            def turn(rotations):
                return half * math.log(trained / (rotations * 2 * math.pi)) / math.log(base)

            low, high = max(math.floor(turn(32)), 0), min(math.ceil(turn(1)), half - 1)
            ramp = ((torch.arange(half, dtype=torch.float64) - low) / max(high - low, 1e-3)).clamp(0, 1)
            freq = freq / yarn * ramp + freq * (1 - ramp)
            scale = 0.1 * math.log(yarn) + 1.0
        angle = torch.arange(self.window + 128, dtype=torch.float64)[:, None] * freq[None, :]
        self.cos = (angle.cos() * scale).float().to(self.device)
        self.sin = (angle.sin() * scale).float().to(self.device)

    def _qkv(self, layer, x, cos, sin):
        """Queries, keys and values of every row, rotated: [rows, heads, head_width]."""
        shape = self.shape
        rows = x.shape[0]
        normed = F.rms_norm(x, (shape.width,), layer.attn_norm, shape.eps)
        joined = F.linear(normed, layer.qkv, layer.qkv_bias).view(rows, -1, shape.head_width)
        rotated = joined[:, : shape.heads + shape.kv_heads].float()
        first, second = rotated.chunk(2, dim=-1)
        cos, sin = cos[:, None, :], sin[:, None, :]
        rotated = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(self.dtype)
        return rotated[:, : shape.heads], rotated[:, shape.heads :], joined[:, shape.heads + shape.kv_heads :]

    def _after(self, layer, x, mixed):
        x = x + F.linear(mixed, layer.out)
        normed = F.rms_norm(x, (self.shape.width,), layer.ffn_norm, self.shape.eps)
        gate, up = F.linear(normed, layer.gate_up).chunk(2, dim=-1)
        return x + F.linear(F.silu(gate) * up, layer.down)

    def _logits(self, x):
        return F.linear(F.rms_norm(x, (self.shape.width,), self.norm, self.shape.eps), self.head)

    @torch.inference_mode()
    def prefill(self, slot, tokens, start, last):
        """Reads tokens into a slot from position `start`. Returns the next token's logits if `last`."""
        count = len(tokens)
        ids = torch.as_tensor(tokens, dtype=torch.long, device=self.device)
        x = F.embedding(ids, self.embed)
        cos, sin = self.cos[start : start + count], self.sin[start : start + count]
        total = start + count
        for index, layer in enumerate(self.layers):
            q, k, v = self._qkv(layer, x, cos, sin)
            keys, values = self.keys[index][slot], self.values[index][slot]
            keys[:, start:total] = k.transpose(0, 1)
            values[:, start:total] = v.transpose(0, 1)
            mixed = attention.causal(q.transpose(0, 1), keys[:, :total], values[:, :total], self.shape.group, self.flash)
            x = self._after(layer, x, mixed.transpose(0, 1).reshape(count, -1))
        return self._logits(x[-1:])[0] if last else None

    def _step(self, rows, span):
        """Computes one token for `rows` rows, with inputs from the fixed buffers."""
        shape = self.shape
        pos, slots = self.pos_in[:rows], self.slots_in[:rows]
        x = F.embedding(self.tokens_in[:rows], self.embed)
        cos, sin = self.cos[pos], self.sin[pos]
        where = (slots[:, None], self.heads_index, pos[:, None])
        hidden = None
        if not self.compact:
            hidden = torch.arange(span, device=self.device)[None, :] > pos[:, None]
        for index, layer in enumerate(self.layers):
            q, k, v = self._qkv(layer, x, cos, sin)
            keys, values = self.keys[index], self.values[index]
            keys.index_put_(where, k)
            values.index_put_(where, v)
            q = q.reshape(rows, shape.kv_heads, shape.group, shape.head_width)
            if self.compact:
                mixed = attention.split_decode(q, keys, values, slots, pos, self.idle_pos)
            else:
                mixed = attention.plain_decode(q, keys[:rows, :, :span], values[:rows, :, :span], hidden)
            x = self._after(layer, x, mixed.reshape(rows, -1))
        return self._logits(x)

    def _graph(self, rows, span):
        """The recorded step of this size, recorded on first use."""
        key = (rows, 0 if self.compact else span)
        if key not in self.graphs:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(2):
                    self._step(rows, span)
            torch.cuda.current_stream().wait_stream(side)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self.pool):
                logits = self._step(rows, span)
            self.pool = self.pool or graph.pool()
            self.graphs[key] = (graph, logits)
        return self.graphs[key]

    def _replay(self, rows, span):
        """Replays the recorded step. If recording fails, this and all later steps run unrecorded."""
        try:
            graph, logits = self._graph(rows, span)
        except RuntimeError as error:
            print(f"steps are not recorded, which is slower: {error}", flush=True)
            self.recorded = False
            torch.cuda.synchronize()
            return self._step(rows, span)
        graph.replay()
        return logits

    def _plan(self, jobs):
        """The number of rows of the step, the row of every job, and a span that covers all positions."""
        need = len(jobs) if self.compact else max(slot for slot, _, _ in jobs) + 1
        rows = next(size for size in BATCHES if size >= need)
        if not self.compact:
            rows = min(rows, self.slots)
        longest = max(pos for _, _, pos in jobs) + 1
        span = SPANS_MIN
        while span < longest:
            span *= 2
        places = list(range(len(jobs))) if self.compact else [slot for slot, _, _ in jobs]
        return rows, places, min(span, self.window)

    @torch.inference_mode()
    def decode(self, jobs):
        """Computes one step for jobs (slot, token, position). Returns their logits, in order."""
        rows, places, span = self._plan(jobs)
        tokens, slots, pos = [0] * rows, list(range(rows)), [self.idle_pos] * rows
        if self.compact:
            # Idle rows share the first job's slot; they write past its window, which is never read.
            slots = [jobs[0][0]] * rows
        for place, (slot, token, at) in zip(places, jobs):
            tokens[place], slots[place], pos[place] = token, slot, at
        packed = torch.tensor([tokens, slots, pos], dtype=torch.long).to(self.device)
        self.tokens_in[:rows].copy_(packed[0])
        self.slots_in[:rows].copy_(packed[1])
        self.pos_in[:rows].copy_(packed[2])
        logits = self._replay(rows, span) if self.recorded else self._step(rows, span)
        if places == list(range(len(jobs))):
            return logits[: len(jobs)]
        return logits[torch.tensor(places, device=self.device)]

    @torch.inference_mode()
    def copy_slot(self, source, target, count):
        """Copies the first `count` positions of one slot to another."""
        for keys, values in zip(self.keys, self.values):
            keys[target, :, :count] = keys[source, :, :count]
            values[target, :, :count] = values[source, :, :count]

    def warm(self, report):
        """Runs every size once, so that no request pays for compiling or recording."""
        for count in (16, 512, 8192) if self.device.type == "cuda" else (16,):
            self.prefill(0, [0] * min(count, self.window), 0, True)
        sizes = [size for size in BATCHES if size <= self.slots] if self.device.type == "cuda" else []
        for rows in sizes:
            self.decode([(slot, 0, 1) for slot in range(rows)])
        if sizes:
            torch.cuda.synchronize()
            report(f"recorded {len(sizes)} steps; compact={self.compact} flash={self.flash} recorded={self.recorded}")
