"""The loop that serves many requests with one model: continuous batching.

Waiting requests get a slot as soon as one is free. Prompts are read in pieces between
steps, so that running requests continue. A new prompt starts from the longest prefix that
any slot contains. One thread owns the model; others only submit requests.
"""

import collections
import queue
import random
import threading
import time

import numpy as np
import torch

from text import Speech

PREFILL_TOKENS = 8192
PREFIX_MIN = 32
GUIDE_LOOK = 256
GUIDE_LOOK_FAR = 20_000
MASK64 = (1 << 64) - 1


class Request:
    """A chat completion in progress: the request, and the reply so far."""

    def __init__(self, ids, options, guide=None):
        self.ids = ids
        self.tokens_max = options["max_tokens"]
        self.temperature = options["temperature"]
        self.top_p = options["top_p"]
        self.top_k = options["top_k"]
        self.seed = options["seed"] if options["seed"] is not None else random.getrandbits(62)
        self.speech = Speech(options["stop"])
        self.stream = options["stream"]
        self.logprobs = [] if options["logprobs"] else None  # one per token of `out`
        self.guide = guide
        self.events = queue.SimpleQueue()  # ("text", piece) while streaming; ("end", reason) or ("error", text) last
        self.cancelled = False
        self.slot = None
        self.out = []
        self.cached = 0
        self.read = 0
        self.began = time.monotonic()
        self.first_at = None


class Slot:
    """A row of the cache: its tokens, and whether a request uses it."""

    def __init__(self, index, window):
        self.index = index
        self.tokens = np.zeros(window, dtype=np.int32)
        self.held = 0
        self.busy = False
        self.used = 0

    def common(self, ids):
        """The length of the prefix that this slot shares with a prompt."""
        count = min(self.held, len(ids))
        differ = np.flatnonzero(self.tokens[:count] != ids[:count])
        return int(differ[0]) if differ.size else count


def mix(value):
    """Mixes the bits of a 64-bit number (splitmix64)."""
    value = (value + 0x9E3779B97F4A7C15) & MASK64
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK64
    return value ^ (value >> 31)


def signed(value):
    """The same 64 bits as a signed integer, which torch needs."""
    return value - (1 << 64) if value >> 63 else value


def gumbel(bases, count, device):
    """Noise for every row and token, which depends only on the row's base."""
    index = torch.arange(count, dtype=torch.int64, device=device)[None, :]
    z = torch.tensor([signed(base) for base in bases], dtype=torch.int64, device=device)[:, None]
    z = z + index * signed(0x9E3779B97F4A7C15)
    z = (z ^ ((z >> 30) & ((1 << 34) - 1))) * signed(0xBF58476D1CE4E5B9)
    z = (z ^ ((z >> 27) & ((1 << 37) - 1))) * signed(0x94D049BB133111EB)
    z = z ^ ((z >> 31) & ((1 << 33) - 1))
    uniform = (((z >> 12) & ((1 << 52) - 1)).double() + 0.5) / (1 << 52)
    return -torch.log(-torch.log(uniform)).float()


def cut_tail(scaled, requests):
    """Removes what top_k and top_p exclude."""
    if all(request.top_p >= 1 and request.top_k <= 0 for request in requests):
        return scaled
    look = min(256, scaled.shape[1])
    values = scaled.topk(look, dim=-1).values
    share = torch.exp(values - torch.logsumexp(scaled, dim=-1, keepdim=True))
    before = share.cumsum(-1) - share
    top_p = torch.tensor([request.top_p for request in requests], device=scaled.device)[:, None]
    top_k = torch.tensor([request.top_k if request.top_k > 0 else look for request in requests], device=scaled.device)
    keep = (before < top_p) & (torch.arange(look, device=scaled.device)[None, :] < top_k[:, None])
    keep[:, 0] = True
    floor = values.masked_fill(~keep, float("inf")).amin(-1, keepdim=True)
    # A row without top_p and top_k has no floor.
    free = torch.tensor([r.top_p >= 1 and r.top_k <= 0 for r in requests], device=scaled.device)[:, None]
    return scaled.masked_fill((scaled < floor) & ~free, float("-inf"))


@torch.inference_mode()
def sample(logits, requests, text):
    """The next token of every row."""
    scores = logits.float()
    warm = [row for row, request in enumerate(requests) if request.temperature > 0]
    if warm:
        some = [requests[row] for row in warm]
        where = torch.tensor(warm, device=scores.device)
        heat = torch.tensor([request.temperature for request in some], device=scores.device)[:, None]
        bases = [mix(mix(request.seed & MASK64) + len(request.out)) for request in some]
        part = cut_tail(scores[where] / heat, some) + gumbel(bases, scores.shape[1], scores.device)
        scores = scores.index_copy(0, where, part)
    ids = scores.argmax(-1).tolist()
    for row, request in enumerate(requests):
        if request.guide is not None:
            ids[row] = guided(scores[row], request, text, ids[row])
    with_logprobs = [row for row, request in enumerate(requests) if request.logprobs is not None]
    if with_logprobs:
        chances = torch.log_softmax(logits[with_logprobs].float(), -1)
        chosen = torch.tensor([ids[row] for row in with_logprobs], device=logits.device)
        for row, chance in zip(with_logprobs, chances.gather(1, chosen[:, None])[:, 0].tolist()):
            requests[row].logprobs.append(chance)
    return ids


def guided(scores, request, text, best):
    """The best token that the request's grammar allows."""
    for look in (1, GUIDE_LOOK, GUIDE_LOOK_FAR):
        tokens = [best] if look == 1 else scores.topk(min(look, scores.shape[0])).indices.tolist()
        for token in tokens:
            if token in text.ends:
                if request.guide.complete():
                    return token
            elif text.bytes[token] and request.guide.allows(text.bytes[token]):
                return token
    return min(text.ends)


class Engine:
    """Owns the model and its slots."""

    def __init__(self, model, text):
        self.model = model
        self.text = text
        self.slots = [Slot(index, model.window + 128) for index in range(model.slots)]
        self.incoming = queue.SimpleQueue()
        self.waiting = collections.deque()
        self.reading = None
        self.running = []
        self.clock = 0
        self.stats = collections.Counter()
        self.lock = threading.Lock()

    def submit(self, request):
        self.incoming.put(request)

    def run(self):
        """Serves forever."""
        while True:
            self._receive()
            try:
                self._read_prompts()
                self._step()
            except Exception as error:  # a failed pass must fail its requests, never the server
                print(f"engine: {type(error).__name__}: {error}", flush=True)
                self._fail_all(f"{type(error).__name__}: {error}")

    def _receive(self):
        idle = not (self.waiting or self.running or self.reading)
        while True:
            try:
                self.waiting.append(self.incoming.get(block=idle))
                idle = False
            except queue.Empty:
                return

    def _fail_all(self, message):
        failed = [request for request in [self.reading, *self.running] if request]
        self.reading, self.running = None, []
        for request in failed:
            slot = self.slots[request.slot]
            slot.held, slot.busy = 0, False
            request.events.put(("error", message))

    def _admit(self, request):
        """Assigns a slot to a request, with the longest prefix of its prompt that any slot contains."""
        ids = np.asarray(request.ids, dtype=np.int32)
        best = max(self.slots, key=lambda slot: slot.common(ids))
        shared = min(best.common(ids), len(ids) - 1)
        free = [slot for slot in self.slots if not slot.busy]
        if shared >= PREFIX_MIN and not best.busy:
            slot = best
        else:
            slot = self._oldest(free)
            if shared >= PREFIX_MIN:
                self.model.copy_slot(best.index, slot.index, shared)
            else:
                shared = 0
        self.clock += 1
        slot.busy, slot.used = True, self.clock
        slot.tokens[: len(ids)] = ids
        slot.held = shared
        request.slot, request.read, request.cached = slot.index, shared, shared
        self.stats["cached_tokens"] += shared

    def _oldest(self, free):
        """The least recently used free slot; one of the first if steps run over a range of slots."""
        if not self.model.compact:
            for bound in (8, 16, 32, 64):
                near = [slot for slot in free if slot.index < bound]
                if near:
                    free = near
                    break
        return min(free, key=lambda slot: slot.used)

    def _read_prompts(self):
        budget = PREFILL_TOKENS
        while budget > 0:
            if self.reading is None:
                while self.waiting and self.waiting[0].cancelled:
                    self.waiting.popleft()
                if not self.waiting or all(slot.busy for slot in self.slots):
                    return
                self.reading = self.waiting.popleft()
                self._admit(self.reading)
            request = self.reading
            if request.cancelled:
                self._release(request)
                self.reading = None
                continue
            budget -= self._read_piece(request, budget)

    def _read_piece(self, request, budget):
        began = time.monotonic()
        slot = self.slots[request.slot]
        count = min(budget, len(request.ids) - request.read)
        end = request.read + count
        last = end == len(request.ids)
        logits = self.model.prefill(slot.index, request.ids[request.read : end], request.read, last)
        request.read = end
        slot.held = end
        if last:
            self.reading = None
            token = sample(logits[None], [request], self.text)[0]
            request.first_at = time.monotonic()
            if self._take(request, token):
                self.running.append(request)
        self.stats["prompt_tokens"] += count
        self.stats["prefill_us"] += int((time.monotonic() - began) * 1e6)
        return count

    def _step(self):
        for request in [request for request in self.running if request.cancelled]:
            self.running.remove(request)
            self._release(request)
        if not self.running:
            return
        began = time.monotonic()
        jobs = [(r.slot, r.out[-1], len(r.ids) + len(r.out) - 1) for r in self.running]
        tokens = sample(self.model.decode(jobs), self.running, self.text)
        for (index, token, pos) in jobs:
            slot = self.slots[index]
            slot.tokens[pos] = token
            slot.held = pos + 1
        self.running = [request for request, token in zip(self.running, tokens) if self._take(request, token)]
        self.stats["steps"] += 1
        self.stats["rows"] += len(jobs)
        self.stats["decode_us"] += int((time.monotonic() - began) * 1e6)

    def _take(self, request, token):
        """Adds a token to a reply. Returns whether the reply continues."""
        request.out.append(token)
        if token in self.text.ends:
            return self._finish(request, "stop")
        if request.guide is not None:
            request.guide.advance(self.text.bytes[token])
        piece = request.speech.add(self.text.bytes[token])
        if piece and request.stream:
            request.events.put(("text", piece))
        if request.speech.stopped:
            return self._finish(request, "stop")
        full = len(request.ids) + len(request.out) >= self.model.window
        if len(request.out) >= request.tokens_max or full:
            return self._finish(request, "length")
        return True

    def _finish(self, request, reason):
        piece = request.speech.add(b"", final=True)
        if piece and request.stream:
            request.events.put(("text", piece))
        self.stats["generated_tokens"] += len(request.out)
        self.stats["requests"] += 1
        self._release(request)
        request.events.put(("end", reason))
        return False

    def _release(self, request):
        self.slots[request.slot].busy = False
