"""Attention in two forms: over a piece of a prompt, and over one new token per row.

The Triton kernel reads only the tokens of each row and selects rows by slot. If it does
not run (no GPU), or its first result differs from the plain form, the plain form is used.
"""

import math
import os

import torch
import torch.nn.functional as F

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

BLOCK = 64
TILE_ROWS = 16


def causal(q, keys, values, group, flash):
    """q [heads, new, width] over keys [kv_heads, total, width]; new tokens are the last ones."""
    new, total = q.shape[1], keys.shape[1]
    keys, values = keys.repeat_interleave(group, 0), values.repeat_interleave(group, 0)
    if flash:
        # For this operator, `is_causal` aligns the last query with the last key.
        return torch.ops.aten._scaled_dot_product_flash_attention(q[None], keys[None], values[None], 0.0, True)[0][0]
    if new == total:
        return F.scaled_dot_product_attention(q[None], keys[None], values[None], is_causal=True)[0]
    mask = torch.ones(new, total, dtype=torch.bool, device=q.device).tril(total - new)
    return F.scaled_dot_product_attention(q[None], keys[None], values[None], attn_mask=mask)[0]


def flash_works(device, shape):
    """Whether the flash operator gives the masked result, with and without earlier tokens."""
    if device.type != "cuda":
        return False
    try:
        for new, total in ((64, 64), (40, 200), (1, 77)):
            q = torch.randn(shape.heads, new, shape.head_width, dtype=torch.bfloat16, device=device)
            k = torch.randn(shape.kv_heads, total, shape.head_width, dtype=torch.bfloat16, device=device)
            v = torch.randn_like(k)
            if not close(causal(q, k, v, shape.group, True), causal(q, k, v, shape.group, False)):
                return False
    except RuntimeError as error:
        print(f"flash attention is not used: {error}", flush=True)
        return False
    return True


def close(got, want):
    """Whether two results agree within the precision of bfloat16."""
    got, want = got.float(), want.float()
    return bool(((got - want).norm() / want.norm()).item() < 2e-2)


def plain_decode(q, keys, values, hidden):
    """q [rows, kv_heads, group, width] over keys [rows, kv_heads, span, width]."""
    # The operator sums in float32: this family's scores are too large for bfloat16 sums.
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=~hidden[:, None, None, :])


if triton is not None:

    @triton.jit
    def split_kernel(
        q_ptr, k_ptr, v_ptr, slots_ptr, pos_ptr, part_ptr, top_ptr, sum_ptr,
        slot_stride, head_stride, scale, idle,
        KV_HEADS: tl.constexpr, GROUP: tl.constexpr, WIDTH: tl.constexpr, SPLITS: tl.constexpr,
        ROWS: tl.constexpr, BLOCK_T: tl.constexpr,
    ):
        """Computes the partial sums of one share of a row's keys, for one key head, in float32."""
        row, head, share = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        pos = tl.load(pos_ptr + row)
        slot = tl.load(slots_ptr + row)
        length = tl.where(pos >= idle, 0, pos + 1)
        blocks = (length + BLOCK_T - 1) // BLOCK_T
        each = (blocks + SPLITS - 1) // SPLITS
        first = share * each * BLOCK_T
        end = tl.minimum(first + each * BLOCK_T, length)
        g = tl.arange(0, ROWS)
        d = tl.arange(0, WIDTH)
        t = tl.arange(0, BLOCK_T)
        q_at = q_ptr + ((row * KV_HEADS + head) * GROUP + g[:, None]) * WIDTH + d[None, :]
        q = tl.load(q_at, mask=g[:, None] < GROUP, other=0.0)
        base = slot * slot_stride + head * head_stride
        top = tl.full([ROWS], -1.0e30, tl.float32)
        total = tl.zeros([ROWS], tl.float32)
        acc = tl.zeros([ROWS, WIDTH], tl.float32)
        for at in range(first, end, BLOCK_T):
            here = at + t
            k = tl.load(k_ptr + base + here[None, :] * WIDTH + d[:, None], mask=here[None, :] < end, other=0.0)
            scores = tl.dot(q, k) * scale
            scores = tl.where(here[None, :] < end, scores, -1.0e30)
            new_top = tl.maximum(top, tl.max(scores, 1))
            shrink = tl.exp(top - new_top)
            p = tl.exp(scores - new_top[:, None])
            v = tl.load(v_ptr + base + here[:, None] * WIDTH + d[None, :], mask=here[:, None] < end, other=0.0)
            acc = acc * shrink[:, None] + tl.dot(p.to(v.dtype), v)
            total = total * shrink + tl.sum(p, 1)
            top = new_top
        out = ((row * KV_HEADS + head) * SPLITS + share) * ROWS
        tl.store(part_ptr + (out + g[:, None]) * WIDTH + d[None, :], acc)
        tl.store(top_ptr + out + g, top)
        tl.store(sum_ptr + out + g, total)

    @triton.jit
    def join_kernel(
        part_ptr, top_ptr, sum_ptr, out_ptr,
        GROUP: tl.constexpr, WIDTH: tl.constexpr, SPLITS: tl.constexpr, ROWS: tl.constexpr,
    ):
        """Combines the shares of one query head of one row."""
        pair, g = tl.program_id(0), tl.program_id(1)
        s = tl.arange(0, SPLITS)
        d = tl.arange(0, WIDTH)
        at = (pair * SPLITS + s) * ROWS + g
        tops = tl.load(top_ptr + at)
        weight = tl.exp(tops - tl.max(tops, 0))
        total = tl.sum(weight * tl.load(sum_ptr + at), 0)
        parts = tl.load(part_ptr + at[:, None] * WIDTH + d[None, :])
        mixed = tl.sum(parts * weight[:, None], 0) / tl.maximum(total, 1.0e-20)
        tl.store(out_ptr + (pair * GROUP + g) * WIDTH + d, mixed.to(out_ptr.dtype.element_ty))


def split_decode(q, keys, values, slots, pos, idle):
    """As `plain_decode`, over whole caches [slots, kv_heads, room, width] and per-row lengths."""
    q = q.contiguous()
    rows, kv_heads, group, width = q.shape
    splits = 64 if rows <= 2 else 32 if rows <= 8 else 16
    part = torch.empty(rows, kv_heads, splits, TILE_ROWS, width, dtype=torch.float32, device=q.device)
    top = torch.empty(rows, kv_heads, splits, TILE_ROWS, dtype=torch.float32, device=q.device)
    total = torch.empty_like(top)
    out = torch.empty_like(q)
    split_kernel[(rows, kv_heads, splits)](
        q, keys, values, slots, pos, part, top, total, keys.stride(0), keys.stride(1), 1.0 / math.sqrt(width), idle,
        KV_HEADS=kv_heads, GROUP=group, WIDTH=width, SPLITS=splits, ROWS=TILE_ROWS, BLOCK_T=BLOCK,
    )
    join_kernel[(rows * kv_heads, group)](
        part, top, total, out, GROUP=group, WIDTH=width, SPLITS=splits, ROWS=TILE_ROWS
    )
    return out


def split_agrees(device, shape, dtype):
    """Whether the kernel gives the plain result on random rows of different lengths."""
    room, lengths = 2048, [1, 64, 65, 700, 1500]
    size = (8, shape.kv_heads, room, shape.head_width)
    keys = torch.randn(size, dtype=dtype, device=device)
    values = torch.randn(size, dtype=dtype, device=device)
    slots = torch.tensor([5, 0, 7, 2, 3], device=device)
    pos = torch.tensor(lengths, device=device) - 1
    q = torch.randn(len(lengths), shape.kv_heads, shape.group, shape.head_width, dtype=dtype, device=device)
    hidden = torch.arange(room, device=device)[None, :] > pos[:, None]
    want = plain_decode(q, keys[slots], values[slots], hidden)
    return close(split_decode(q, keys, values, slots, pos, room), want)


def choose(device, shape, kernel):
    """Whether steps use the Triton kernel: `auto` (if it agrees), `triton` or `plain`."""
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    usable = triton is not None and (device.type == "cuda" or interpreted)
    usable = usable and shape.group <= TILE_ROWS and shape.head_width & (shape.head_width - 1) == 0
    if kernel == "plain" or not usable or (kernel == "auto" and interpreted):
        return False
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    try:
        if split_agrees(device, shape, dtype):
            return True
        print("the Triton kernel gives other numbers than the plain form: it is not used", flush=True)
    except Exception as error:  # compiler errors have many types; the plain form is the fallback for all
        print(f"the Triton kernel does not run and is not used: {error}", flush=True)
    if kernel == "triton":
        raise RuntimeError("the Triton kernel was asked for and does not work here")
    return False
