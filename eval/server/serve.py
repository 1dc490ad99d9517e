"""An OpenAI-compatible server for one GGUF model: the evaluation's model on a GPU machine.

    python3 serve.py --model coder-1.5b.gguf --port 8000

POST /v1/chat/completions (streaming or not), GET /v1/models, GET /health,
GET /usage (token sums per API key, or per `X-Task` header if one is sent),
GET /stats (throughput). Needs torch, numpy, tokenizers and jinja2.
"""

import argparse
import collections
import http.server
import json
import queue
import select
import socket
import sys
import threading
import time
import urllib.parse
import uuid

import torch

import guide
from engine import Engine, Request
from model import Model
from text import Text

BODY_BYTES_MAX = 64 << 20
KEYS_MAX = 100_000
STOPS_MAX = 16
LOGGED_CHARS = 6_000


class Refusal(Exception):
    """A rejected request; its error reply has the format of the OpenAI API."""

    def __init__(self, status, message, code=None, param=None, kind="invalid_request_error"):
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


class Usage:
    """Sums per key, and a log of all requests."""

    def __init__(self, log_path, bodies):
        self.lock = threading.Lock()
        self.keys = {}
        self.log = open(log_path, "a", encoding="utf-8") if log_path else None
        self.bodies = bodies

    def add(self, key, counts, detail):
        with self.lock:
            if key in self.keys or len(self.keys) < KEYS_MAX:
                self.keys.setdefault(key, collections.Counter()).update(counts)
            if self.log:
                self.log.write(json.dumps({"key": key, **counts, **detail}, ensure_ascii=False) + "\n")
                self.log.flush()

    def sums(self, key=None):
        names = ("calls", "errors", "prompt_tokens", "cached_tokens", "completion_tokens", "busy_ms")
        with self.lock:
            if key is not None:
                return {name: self.keys.get(key, {}).get(name, 0) for name in names}
            return {each: {name: sums.get(name, 0) for name in names} for each, sums in self.keys.items()}


class State:
    """State shared by all handlers."""

    def __init__(self, args, model, text, engine):
        self.args = args
        self.name = args.name
        self.model = model
        self.text = text
        self.engine = engine
        self.usage = Usage(args.log, args.log_bodies)
        self.began = time.time()


def number(body, name, default, low, high, whole=False):
    """A number from the request, checked against its bounds."""
    value = body.get(name)
    if value is None:
        return default
    good = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not good or not low <= value <= high:
        raise Refusal(400, f"'{name}' must be a {'whole ' if whole else ''}number from {low} to {high}.", param=name)
    return value


def content_text(content, at):
    """The text of one message's content."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = []
        for part in content:
            if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
                raise Refusal(400, "Only text parts are supported.", param=f"messages[{at}].content")
            parts.append(part["text"])
        return "".join(parts)
    raise Refusal(400, "Content must be a string or a list of text parts.", param=f"messages[{at}].content")


def messages_of(body):
    """The conversation, checked."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refusal(400, "'messages' must be a list with at least one message.", param="messages")
    checked = []
    for at, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("system", "developer", "user", "assistant", "tool"):
            raise Refusal(400, f"Message {at} has no known role.", param=f"messages[{at}].role")
        role = "system" if role == "developer" else role
        checked.append({"role": role, "content": content_text(message.get("content"), at)})
    return checked


def options_of(body, args):
    """The sampling options, checked, with the server's defaults."""
    stop = body.get("stop") or []
    stop = [stop] if isinstance(stop, str) else stop
    if not isinstance(stop, list) or len(stop) > STOPS_MAX or not all(isinstance(s, str) for s in stop):
        raise Refusal(400, f"'stop' must be a string or a list of at most {STOPS_MAX} strings.", param="stop")
    if body.get("n") not in (None, 1):
        raise Refusal(400, "Only n = 1 is supported.", param="n")
    most = 1 << 31
    max_tokens = number(body, "max_completion_tokens", None, 1, most, True) or number(body, "max_tokens", None, 1, most, True)
    return {
        "max_tokens": max_tokens or args.default_max_tokens,
        "temperature": number(body, "temperature", args.default_temperature, 0, 2),
        "top_p": number(body, "top_p", args.default_top_p, 0, 1),
        "top_k": number(body, "top_k", args.default_top_k, 0, most, True),
        "seed": number(body, "seed", None, -(1 << 63), (1 << 63) - 1, True),
        "stop": [s for s in stop if s],
        "stream": body.get("stream") is True,
        "logprobs": body.get("logprobs") is True,
    }


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    state = None
    # Headers and body in one write, so that small packets do not wait for each other.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def log_message(self, *_args):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path in ("/v1/models", "/models"):
            model = {"id": self.state.name, "object": "model", "created": int(self.state.began), "owned_by": "local"}
            model["max_model_len"] = self.state.model.window
            self._json(200, {"object": "list", "data": [model]})
        elif url.path == "/health":
            self._json(200, {"status": "ok"})
        elif url.path == "/usage":
            key = urllib.parse.parse_qs(url.query).get("key", [None])[0]
            self._json(200, self.state.usage.sums(key))
        elif url.path == "/stats":
            self._json(200, stats(self.state.engine))
        else:
            self._json(404, Refusal(404, f"Unknown path {url.path}.", "not_found").body)

    def do_POST(self):
        key = self._key()
        began = time.monotonic()
        try:
            body = self._body()
            if urllib.parse.urlsplit(self.path).path not in ("/v1/chat/completions", "/chat/completions"):
                raise Refusal(404, f"Unknown path {self.path}.", "not_found")
            self._chat(body, key)
        except Refusal as refusal:
            counts = {"calls": 1, "errors": 1, "busy_ms": int((time.monotonic() - began) * 1000)}
            self.state.usage.add(key, counts, {"refused": str(refusal)})
            self._json(refusal.status, refusal.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except Exception as error:  # the client must get a reply even to an internal error
            print(f"request: {type(error).__name__}: {error}", flush=True)
            self.close_connection = True
            self._json(500, Refusal(500, f"{type(error).__name__}: {error}", kind="server_error").body)

    def _key(self):
        task = self.headers.get("X-Task")
        bearer = self.headers.get("Authorization", "")
        return (task or bearer.removeprefix("Bearer ").strip() or "none")[:200]

    def _body(self):
        try:
            size = int(self.headers.get("Content-Length", ""))
        except ValueError:
            self.close_connection = True
            raise Refusal(411, "A Content-Length is needed.") from None
        if not 0 <= size <= BODY_BYTES_MAX:
            self.close_connection = True
            raise Refusal(413, f"The body may have at most {BODY_BYTES_MAX} bytes.")
        try:
            body = json.loads(self.rfile.read(size))
        except (ValueError, RecursionError):
            raise Refusal(400, "The body is not JSON.") from None
        if not isinstance(body, dict):
            raise Refusal(400, "The body must be a JSON object.")
        return body

    def _chat(self, body, key):
        state = self.state
        messages = messages_of(body)
        options = options_of(body, state.args)
        try:
            ids = state.text.prompt(messages)
        except Exception as error:  # the template comes from the model file and may raise anything
            raise Refusal(400, f"The chat template refused the messages: {error}", param="messages") from error
        window = state.model.window
        if len(ids) >= window:
            raise Refusal(
                400,
                f"This model's maximum context length is {window} tokens. However, your messages resulted in "
                f"{len(ids)} tokens. Please reduce the length of the messages.",
                "context_length_exceeded",
                "messages",
            )
        request = Request(ids, options, guide.from_format(body.get("response_format")))
        state.engine.submit(request)
        reply = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": state.name}
        try:
            if options["stream"]:
                include = isinstance(body.get("stream_options"), dict) and body["stream_options"].get("include_usage")
                reason = self._stream(request, reply, include)
            else:
                reason = self._whole(request, reply)
        finally:
            request.cancelled = True
            self._account(request, key, messages)
        return reason

    def _account(self, request, key, messages):
        now = time.monotonic()
        busy_ms = int((now - request.began) * 1000)
        counts = {"calls": 1, "prompt_tokens": len(request.ids), "cached_tokens": request.cached}
        counts |= {"completion_tokens": len(request.out), "busy_ms": busy_ms}
        first_ms = int((request.first_at - request.began) * 1000) if request.first_at else None
        detail = {"first_ms": first_ms}
        if self.state.usage.bodies:
            last = messages[-1]["content"]
            detail["last_message"] = last if len(last) <= LOGGED_CHARS else last[:3000] + " […] " + last[-3000:]
            detail["reply"] = request.speech.text[:LOGGED_CHARS]
        self.state.usage.add(key, counts, detail)

    def _gone(self):
        """Whether the client has hung up."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def _next(self, request):
        """The next event of a request. Raises `BrokenPipeError` if the client has hung up."""
        while True:
            try:
                event = request.events.get(timeout=1.0)
            except queue.Empty:  # check whether the client still waits
                if self._gone():
                    raise BrokenPipeError from None
                continue
            if event[0] == "error":
                raise Refusal(500, event[1], kind="server_error")
            return event

    def _whole(self, request, reply):
        kind, value = self._next(request)
        while kind != "end":
            kind, value = self._next(request)
        message = {"role": "assistant", "content": request.speech.text, "refusal": None}
        logprobs = self._logprobs(request, 0, len(request.out))
        choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": value}
        self._json(200, {**reply, "object": "chat.completion", "choices": [choice], "usage": usage_of(request)})
        return value

    def _logprobs(self, request, start, end):
        """The probabilities of some tokens of a reply, if they were requested."""
        if request.logprobs is None:
            return None
        tokens = zip(request.out[start:end], request.logprobs[start:end])
        spelled = [(self.state.text.bytes[token], chance) for token, chance in tokens if token not in self.state.text.ends]
        content = [
            {"token": word.decode("utf-8", "replace"), "logprob": chance, "bytes": list(word), "top_logprobs": []}
            for word, chance in spelled
        ]
        return {"content": content, "refusal": None}

    def _stream(self, request, reply, include_usage):
        event = self._next(request)  # an early failure still gets an error status
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        reply = {**reply, "object": "chat.completion.chunk"}
        usage = {"usage": None} if include_usage else {}

        sent = 0

        def send(delta, finish=None):
            nonlocal sent
            logprobs = None
            if delta.get("content"):
                logprobs, sent = self._logprobs(request, sent, len(request.out)), len(request.out)
            choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
            self._chunk(json.dumps({**reply, "choices": [choice], **usage}))

        send({"role": "assistant", "content": ""})
        try:
            while event[0] != "end":
                send({"content": event[1]})
                event = self._next(request)
            send({}, event[1])
            if include_usage:
                self._chunk(json.dumps({**reply, "choices": [], "usage": usage_of(request)}))
        except Refusal as refusal:
            self._chunk(json.dumps(refusal.body))
        self._chunk("[DONE]")
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
        return event[1]

    def _chunk(self, text):
        data = f"data: {text}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _json(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def usage_of(request):
    """The usage block of a reply."""
    return {
        "prompt_tokens": len(request.ids),
        "completion_tokens": len(request.out),
        "total_tokens": len(request.ids) + len(request.out),
        "prompt_tokens_details": {"cached_tokens": request.cached},
    }


def stats(engine):
    """The engine's counters, with rates over its busy time."""
    counts = dict(engine.stats)
    prefill_s, decode_s = counts.get("prefill_us", 0) / 1e6, counts.get("decode_us", 0) / 1e6
    counts["prompt_tokens_per_s"] = round(counts.get("prompt_tokens", 0) / prefill_s) if prefill_s else None
    counts["generated_per_s"] = round(counts.get("rows", 0) / decode_s) if decode_s else None
    counts["running"] = len(engine.running)
    counts["waiting"] = len(engine.waiting) + engine.incoming.qsize()
    if torch.cuda.is_available():
        counts["gpu_bytes"] = torch.cuda.memory_allocated()
    return counts


class Server(http.server.ThreadingHTTPServer):
    """Serves connections in threads. Clients that hang up early are not logged."""

    request_queue_size = 512
    daemon_threads = True

    def handle_error(self, request, client_address):
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="GGUF file (architecture qwen2 or llama)")
    parser.add_argument("--name", default="local", help="model name to report")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--slots", type=int, default=64, help="requests decoded at once (at most 128)")
    parser.add_argument("--window", type=int, help="tokens per request; default: the model's")
    parser.add_argument("--yarn", type=float, help="stretch the trained window by this factor, e.g. 4 with --window 131072")
    parser.add_argument("--tie", action="store_true", help="use the output matrix for the input too (token_embd left out)")
    parser.add_argument("--kernel", choices=("auto", "triton", "plain"), default="auto")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads of torch")
    parser.add_argument("--default-temperature", type=float, default=0.7)
    parser.add_argument("--default-top-p", type=float, default=0.8)
    parser.add_argument("--default-top-k", type=int, default=20)
    parser.add_argument("--default-max-tokens", type=int, default=4096)
    parser.add_argument("--log", help="JSON lines, one per request")
    parser.add_argument("--log-bodies", action="store_true", help="with the last message and the reply of each")
    return parser.parse_args()


def main():
    args = arguments()
    if not 1 <= args.slots <= 128:
        raise SystemExit("--slots must be from 1 to 128")
    # The engine's thread must regain the interpreter lock quickly after each GPU step.
    sys.setswitchinterval(0.0005)
    if args.threads:
        torch.set_num_threads(args.threads)
    began = time.monotonic()
    report = lambda text: print(f"[{time.monotonic() - began:6.1f} s] {text}", flush=True)  # noqa: E731
    model = Model(args.model, args.device, args.slots, args.window, args.yarn, args.tie, args.kernel)
    report(f"{args.model}: {model.shape.layers} layers on {args.device}, window {model.window}, {args.slots} slots")
    text = Text(model.file.meta)
    model.warm(report)
    engine = Engine(model, text)
    Handler.state = State(args, model, text, engine)
    server = Server((args.host, args.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    report(f"ready at http://{args.host}:{args.port}/v1")
    try:
        engine.run()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
