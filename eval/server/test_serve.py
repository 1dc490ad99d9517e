"""Checks a running server: python3 test_serve.py http://127.0.0.1:8000 [--speed N]

Without --speed: answers, batching, streaming, stops, seeds, JSON, errors, usage.
With --speed N: N requests at once, then prompts of several lengths; prints rates.
"""

import argparse
import concurrent.futures
import json
import time
import urllib.error
import urllib.request


def call(base, body, key="test", path="/v1/chat/completions"):
    """The status and the parsed reply."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=600) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def get(base, path):
    with urllib.request.urlopen(base + path, timeout=60) as reply:
        return json.loads(reply.read())


def ask(text, **more):
    return {"model": "m", "messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 24, **more}


def reply_text(reply):
    return reply["choices"][0]["message"]["content"]


def stream(base, body):
    """The pieces of a streamed reply, and its last chunk with usage."""
    body = {**body, "stream": True, "stream_options": {"include_usage": True}}
    request = urllib.request.Request(base + "/v1/chat/completions", json.dumps(body).encode())
    chunks = []
    with urllib.request.urlopen(request, timeout=600) as reply:
        for line in reply:
            line = line.decode().strip()
            if line == "data: [DONE]":
                return chunks
            if line:
                chunks.append(json.loads(line.removeprefix("data: ")))
    raise SystemExit("the stream ended without [DONE]")


def check(name, good, shown=""):
    print(("ok    " if good else "FAIL  ") + name, shown, flush=True)
    return bool(good)


def correctness(base):
    good = []
    status, reply = call(base, ask("What is the capital of France? One word."))
    good.append(check("answers", status == 200 and "Paris" in reply_text(reply), reply_text(reply)))
    questions = [f"Write the number {n} as an English word, then one short fact about it." for n in (3, 7, 12, 20, 31, 44, 58, 99)]
    alone = [reply_text(call(base, ask(q))[1]) for q in questions]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        together = [reply_text(reply) for _, reply in pool.map(lambda q: call(base, ask(q)), questions)]
    same = sum(a == b for a, b in zip(alone, together))
    good.append(check("greedy alone equals greedy in a batch of 8", same == 8, f"{same}/8 (bf16 may differ in a few)"))
    chunks = stream(base, ask(questions[0]))
    text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"])
    good.append(check("streaming gives the same text", text == alone[0] and chunks[-1]["usage"]["completion_tokens"] > 0))
    chances = [c["choices"][0]["logprobs"] for c in stream(base, ask(questions[0], logprobs=True)) if c["choices"]]
    spelled = [token for chance in chances if chance for token in chance["content"]]
    whole = call(base, ask(questions[0], logprobs=True))[1]["choices"][0]["logprobs"]["content"]
    is_right = "".join(token["token"] for token in spelled) == alone[0] and all(token["logprob"] <= 0 for token in spelled)
    good.append(check("probabilities of the tokens", is_right and len(whole) == len(spelled), len(spelled)))
    full = reply_text(call(base, ask("Repeat exactly: alpha beta gamma delta"))[1])
    cut = reply_text(call(base, ask("Repeat exactly: alpha beta gamma delta", stop=["gamma"]))[1])
    streamed = stream(base, ask("Repeat exactly: alpha beta gamma delta", stop=["gamma"]))
    streamed = "".join(c["choices"][0]["delta"].get("content", "") for c in streamed if c["choices"])
    good.append(check("stop strings", "gamma" in full and cut == full.split("gamma")[0] == streamed, repr(cut)))
    warm = [reply_text(call(base, ask("Invent a name for a cat.", temperature=1.2, seed=s))[1]) for s in (1, 1, 2)]
    good.append(check("seeds repeat", warm[0] == warm[1], repr(warm)))
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "people": {"type": "integer"}}, "required": ["city", "people"]}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    status, reply = call(base, ask("Tell me about Paris.", response_format=form, max_tokens=60, temperature=0.7, seed=5))
    try:
        good.append(check("json_schema", set(json.loads(reply_text(reply))) == {"city", "people"}, reply_text(reply)))
    except ValueError:
        good.append(check("json_schema", False, reply_text(reply)))
    good += errors(base)
    before = get(base, "/usage?key=sum")
    _, reply = call(base, ask("Hello"), key="sum")
    after = get(base, "/usage?key=sum")
    counted = after["completion_tokens"] - before["completion_tokens"] == reply["usage"]["completion_tokens"]
    good.append(check("usage per key", counted and after["calls"] == before["calls"] + 1))
    return all(good)


def errors(base):
    window = get(base, "/v1/models")["data"][0]["max_model_len"]
    status, reply = call(base, ask("word " * (window + 10)))
    code = reply["error"]["code"]
    good = [check("too long is refused", status == 400 and code == "context_length_exceeded", reply["error"]["message"][:90])]
    for name, body in (
        ("not JSON", b"{"),
        ("no messages", {"model": "m"}),
        ("bad role", {"messages": [{"role": "x", "content": "y"}]}),
        ("bad temperature", ask("x", temperature="hot")),
        ("bad stop", ask("x", stop=[1])),
        ("image part", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
    ):
        status, reply = call(base, body)
        good.append(check(f"refuses: {name}", status == 400 and "error" in reply))
    good.append(check("unknown path", call(base, {}, path="/v1/other")[0] == 404))
    return good


def speed(base, at_once):
    """Rates, measured by a client."""
    body = ask("Write a long story about a lighthouse.", max_tokens=256, temperature=0.8, stop=None)
    for count in (1, at_once):
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            replies = list(pool.map(lambda n: call(base, {**body, "seed": n})[1], range(count)))
        took = time.monotonic() - began
        made = sum(reply["usage"]["completion_tokens"] for reply in replies)
        print(f"{count} at once: {made} tokens in {took:.2f} s = {made / took:.0f} tokens/s", flush=True)
    window = get(base, "/v1/models")["data"][0]["max_model_len"]
    for tokens in (1_000, 4_000, 16_000, 30_000):
        if tokens > window - 1000:
            continue
        text = " ".join(str((n * 7919) % 1000) for n in range(tokens // 4))
        began = time.monotonic()
        _, reply = call(base, ask(f"{tokens} numbers: {text}\nSay ok.", max_tokens=1))
        took = time.monotonic() - began
        read = reply["usage"]["prompt_tokens"]
        print(f"prompt of {read} tokens: {took:.2f} s = {read / took:.0f} tokens/s", flush=True)
    print(get(base, "/stats"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base")
    parser.add_argument("--speed", type=int)
    args = parser.parse_args()
    if args.speed:
        speed(args.base, args.speed)
    elif not correctness(args.base):
        raise SystemExit("some checks failed")


if __name__ == "__main__":
    main()
