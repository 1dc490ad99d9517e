"""Checks recorded traffic between the adapters and the scripted server with the providers' own libraries.

Each line of `FOLDER/*.jsonl` is a request and, unless the server answered with an error, its reply. A request must match
the provider's types and have no other fields. A reply must match them too, and the provider's client must read the
scripted text, tool calls and token counts from it.

In the other direction, the adapter reads, with `PROGRAM URL`, the streams that a provider recorded for its client's
tests: adapter and client must read the same from them.
"""

import base64
import json
import pathlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import get_args

import anthropic
import botocore.auth
import botocore.awsrequest
import botocore.credentials
import botocore.session
import botocore.validate
import openai
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google import genai
from google.genai import types as gemini
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

# The keys of the contract tests.
SECRETS = {"AKIDEXAMPLE": "sk-very-secret"}
# Fewer of any kind mean that the recording is incomplete.
REQUESTS_MIN, REPLIES_MIN, RECORDED_MIN = 20, 10, 15

CHAT = TypeAdapter(CompletionCreateParamsStreaming)
RESPONSES = TypeAdapter(ResponseCreateParamsStreaming)
MESSAGES = TypeAdapter(MessageCreateParamsStreaming)
CHAT_EVENT = TypeAdapter(ChatCompletionChunk)
# Events are validated one type at a time, because the errors of a union would name all types.
RESPONSES_EVENTS = {
    get_args(event.model_fields["type"].annotation)[0]: event for event in get_args(get_args(ResponseStreamEvent)[0])
}
MESSAGES_EVENT = TypeAdapter(RawMessageStreamEvent)


class Replay:
    """A server that answers every request with one recorded reply, and records the request."""

    def __init__(self):
        replay = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers.get("content-length", 0))
                replay.request = self.rfile.read(length)
                self.send_response(200)
                self.send_header("content-type", replay.reply["content_type"])
                body = bytes.fromhex(replay.reply["hex"])
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.reply = self.request = None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


REPLAY = Replay()
OPENAI = openai.OpenAI(api_key="k", base_url=f"{REPLAY.address}/v1", max_retries=0)
ANTHROPIC = anthropic.Anthropic(api_key="k", base_url=REPLAY.address, max_retries=0)
GEMINI = genai.Client(api_key="k", http_options=gemini.HttpOptions(base_url=REPLAY.address))
AWS = botocore.session.get_session()
BEDROCK = AWS.create_client(
    "bedrock-runtime",
    region_name="us-east-1",
    endpoint_url=REPLAY.address,
    aws_access_key_id="k",
    aws_secret_access_key="s",
)


def plain(value):
    """The value with pydantic's lazy lists evaluated."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (str, bytes, int, float, bool, type(None))):
        return value
    return [plain(inner) for inner in value]


def same(here, there, what):
    assert here == there, f"{what}: {here!r} is not {there!r}"


def typed(adapter, body):
    """Checks a request with the provider's types, which drop unknown fields."""
    same(plain(adapter.validate_python(body)), body, "the maker's types keep")


def events(reply):
    for line in bytes.fromhex(reply["hex"]).decode().splitlines():
        data = line.removeprefix("data: ")
        if data != line and data != "[DONE]":
            yield json.loads(data)


def arguments(text):
    return json.loads(text) if text else {}


def calls(reply):
    return [(call["name"], arguments(call["arguments"])) for call in reply["tool_calls"]]


class OpenAi:
    def request(self, record, body):
        typed(CHAT, {"model": "deployment", **body} if "/deployments/" in record["path"] else body)

    def reply(self, record, body, reply):
        for event in events(reply):
            CHAT_EVENT.validate_python(event)
        text, drafts, usage = "", {}, None
        for chunk in OPENAI.chat.completions.create(**{"model": "deployment", **body}):
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for call in choice.delta.tool_calls or []:
                    draft = drafts.setdefault(call.index, ["", ""])
                    draft[0] += call.function.name or ""
                    draft[1] += call.function.arguments or ""
            usage = chunk.usage or usage
        return text, [(name, arguments(text)) for name, text in drafts.values()], (
            usage.prompt_tokens,
            usage.completion_tokens,
        )


class Responses:
    def request(self, record, body):
        typed(RESPONSES, body)

    def reply(self, record, body, reply):
        for event in events(reply):
            RESPONSES_EVENTS[event["type"]].model_validate(event)
        text, last = "", None
        for event in OPENAI.responses.create(**body):
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type in ("response.completed", "response.incomplete"):
                last = event.response
        found = [(item.name, arguments(item.arguments)) for item in last.output if item.type == "function_call"]
        return text, found, (last.usage.input_tokens, last.usage.output_tokens)


class Anthropic:
    def request(self, record, body):
        headers = dict(map(tuple, record["headers"]))
        same(headers["anthropic-version"], ANTHROPIC.default_headers["anthropic-version"], "the version")
        typed(MESSAGES, body)

    def reply(self, record, body, reply):
        for event in events(reply):
            if event["type"] != "ping":
                MESSAGES_EVENT.validate_python(event)
        streaming = {key: value for key, value in body.items() if key not in ("stream", "output_config")}
        with ANTHROPIC.messages.stream(**streaming) as stream:
            message: Message = stream.get_final_message()
        text = "".join(block.text for block in message.content if block.type == "text")
        found = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
        usage = message.usage
        read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        return text, found, (usage.input_tokens + read + written, usage.output_tokens)


class Gemini:
    FIELDS = {
        "systemInstruction": lambda value: gemini.Content.model_validate(value),
        "contents": lambda value: [gemini.Content.model_validate(content) for content in value],
        "generationConfig": lambda value: gemini.GenerationConfig.model_validate(value),
        "tools": lambda value: [gemini.Tool.model_validate(tool) for tool in value],
        "toolConfig": lambda value: gemini.ToolConfig.model_validate(value),
    }

    def request(self, record, body):
        for name, value in body.items():
            self.FIELDS[name](value)
        same(record["path"].split("?")[1], "alt=sse", "the query")

    def reply(self, record, body, reply):
        for event in events(reply):
            gemini.GenerateContentResponse.model_validate(event)
        text, found, usage = "", [], None
        for chunk in GEMINI.models.generate_content_stream(model="scripted", contents=body["contents"]):
            for part in (chunk.candidates[0].content.parts or []) if chunk.candidates[0].content else []:
                if part.function_call:
                    found.append((part.function_call.name, part.function_call.args or {}))
                elif not part.thought:
                    text += part.text or ""
            usage = chunk.usage_metadata or usage
        written = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        return text, found, (usage.prompt_token_count, written)


def with_bytes(body):
    """The parameters in the form that the provider's client expects: images and documents as bytes."""
    body = json.loads(json.dumps(body))
    for message in body["messages"]:
        for block in message["content"]:
            for kind in {"image", "document"} & block.keys():
                source = block[kind]["source"]
                source["bytes"] = base64.b64decode(source["bytes"], validate=True)
    return body


class Bedrock:
    operation = BEDROCK.meta.service_model.operation_model("ConverseStream")

    def request(self, record, body):
        report = botocore.validate.ParamValidator().validate({"modelId": "m", **with_bytes(body)}, self.operation.input_shape)
        assert not report.has_errors(), report.generate_report()
        headers = dict(map(tuple, record["headers"]))
        if headers["authorization"].startswith("AWS4-HMAC-SHA256 "):
            self.signature(record, headers)

    def signature(self, record, headers):
        fields = dict(part.strip().split("=", 1) for part in headers["authorization"].split(" ", 1)[1].split(","))
        key, _, region, service, _ = fields["Credential"].split("/")
        keys = botocore.credentials.Credentials(key, SECRETS[key], headers.get("x-amz-security-token"))
        signer = botocore.auth.SigV4Auth(keys, service, region)
        signed = {name: headers[name] for name in fields["SignedHeaders"].split(";")}
        url = f"http://{headers['host']}{record['path']}"
        request = botocore.awsrequest.AWSRequest(record["method"], url, signed, record["body"])
        request.context["timestamp"] = headers["x-amz-date"]
        text = signer.string_to_sign(request, signer.canonical_request(request))
        same(fields["Signature"], signer.signature(text, request), "the signature")

    def reply(self, record, body, reply):
        text, blocks, usage = "", {}, None
        for event in BEDROCK.converse_stream(modelId="m", **with_bytes(body))["stream"]:
            if "contentBlockStart" in event and "toolUse" in event["contentBlockStart"]["start"]:
                start = event["contentBlockStart"]
                blocks[start["contentBlockIndex"]] = [start["start"]["toolUse"]["name"], ""]
            if "contentBlockDelta" in event:
                delta = event["contentBlockDelta"]["delta"]
                text += delta.get("text", "")
                if "toolUse" in delta:
                    blocks[event["contentBlockDelta"]["contentBlockIndex"]][1] += delta["toolUse"]["input"]
            if "metadata" in event:
                usage = event["metadata"]["usage"]
        # For the same parameters, their client sends what our adapter sent.
        same(json.loads(REPLAY.request), body, "their client sends")
        found = [(name, arguments(text)) for name, text in blocks.values()]
        read, written = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0)
        return text, found, (usage["inputTokens"] + read + written, usage["outputTokens"])


MAKERS = {"OpenAi": OpenAi(), "Responses": Responses(), "Anthropic": Anthropic(), "Gemini": Gemini(), "Bedrock": Bedrock()}


# The adapter's names for Anthropic's stop reasons.
STOPS = {"end_turn": "finished", "max_tokens": "length", "refusal": "filtered", "tool_use": "tool-use"}


def recorded(path, program):
    """Checks that the adapter and the provider's client read the same from a recorded stream."""
    REPLAY.reply = {"content_type": "text/event-stream", "hex": path.read_bytes().hex()}
    here = json.loads(subprocess.run([program, REPLAY.address], check=True, capture_output=True, text=True).stdout)
    assert "error" not in here, here
    request = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
    raw = {}
    with ANTHROPIC.beta.messages.create(**request, stream=True) as stream:
        for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                raw[event.index] = raw.get(event.index, "") + event.delta.partial_json
    try:
        with ANTHROPIC.beta.messages.stream(**request) as stream:
            message = stream.get_final_message()
    except ValueError:
        # Their client rejects arguments that are not JSON. The adapter passes them on, and the caller decides.
        same([call[1] for call in here["tool_calls"]], list(raw.values()), "the arguments")
        return
    text = "".join(block.text for block in message.content if block.type == "text")
    found = [[block.name, raw[idx]] for idx, block in enumerate(message.content) if block.type == "tool_use"]
    usage = message.usage
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    same(here["text"], text, "the text")
    same(here["tool_calls"], found, "the tool calls")
    same(here["stop"], STOPS[message.stop_reason], "the reason to stop")
    same(here["usage"]["input_tokens"], usage.input_tokens + read + written, "the input")
    same(here["usage"].get("cached_tokens", 0), read, "what was read from the cache")
    same(here["usage"].get("cache_written_tokens", 0), written, "what was written to the cache")
    same(here["usage"]["output_tokens"], usage.output_tokens, "the output")


def main(folder, program, recordings):
    faults, seen = {}, {name: [0, 0, 0, 0, 0] for name in MAKERS}
    lines = {line for path in sorted(pathlib.Path(folder).glob("*.jsonl")) for line in path.read_text().splitlines()}
    for line in sorted(lines):
        record = json.loads(line)
        maker, counts = MAKERS[record["dialect"]], seen[record["dialect"]]
        try:
            body = json.loads(record["body"])
            maker.request(record, body)
            counts[0] += 1
            counts[2] += "tools" in body or "toolConfig" in body
            counts[3] += any(word in record["body"] for word in ("json_schema", "responseJsonSchema", "toolChoice"))
            counts[4] += all(data in record["body"] for data in ("iVBORw==", "JVBERi0x"))
            reply = record["reply"]
            # A stop reason that no provider uses is only for our own reader.
            if reply and record["streamed"] and reply["stop"] != "other":
                REPLAY.reply = reply
                text, found, used = maker.reply(record, body, reply)
                same(text, reply["text"], "the text")
                same(found, calls(reply), "the tool calls")
                same(used, (reply["usage"]["input_tokens"], reply["usage"]["output_tokens"]), "the usage")
                counts[1] += 1
        except Exception as error:  # Every fault is reported, not only the first.
            fault = f"{record['dialect']} {record['path']}: {type(error).__name__}: {str(error)[:1500]}"
            faults.setdefault(fault, record["body"][:600])
    for name, (requests, replies, tools, schemas, images) in seen.items():
        print(
            f"{name}: {requests} requests ({tools} with tools, {schemas} with a schema, {images} with images and PDF pages), "
            f"{replies} replies"
        )
        if requests < REQUESTS_MIN or replies < REPLIES_MIN or not tools or not schemas or not images:
            faults[f"{name}: too little was recorded to say anything"] = ""
    paths = sorted([*pathlib.Path(recordings).glob("**/streaming/fixtures/*.txt"), *pathlib.Path(recordings).glob("**/*.sse")])
    for path in paths:
        try:
            recorded(path, program)
        except Exception as error:
            faults[f"{path.name}: {type(error).__name__}: {str(error)[:1500]}"] = path.read_text()[-600:]
    print(f"Anthropic: {len(paths)} recorded streams")
    if len(paths) < RECORDED_MIN:
        faults["Anthropic: the recorded streams were not found"] = ""
    for fault, body in faults.items():
        print(fault, body, sep="\n  ", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
