"""Drives `spelunk serve` with the official SDKs of OpenAI and Anthropic and prints what they saw as JSON.

usage: compat_sdk.py ADDRESS
"""

import json
import sys

import anthropic
import openai

DOCUMENT = "# Numbers\n\nThe magic number is 42.\n"
QUESTION = "What is the magic number?"
MESSAGES = [{"role": "user", "content": DOCUMENT}, {"role": "user", "content": QUESTION}]


def main(address):
    saw = {}
    client = openai.OpenAI(base_url=f"http://{address}/v1", api_key="none", max_retries=0)
    saw["models"] = [model.id for model in client.models.list()]

    whole = client.chat.completions.create(model="spelunk", messages=MESSAGES)
    saw["chat"] = [whole.choices[0].message.content.splitlines()[0], whole.choices[0].finish_reason]
    saw["usage"] = [whole.usage.prompt_tokens, whole.usage.completion_tokens, whole.usage.total_tokens]
    saw["run"] = whole._request_id == whole.system_fingerprint and whole.id.startswith("chatcmpl-")

    text, last = "", None
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(
        model="spelunk-direct", messages=MESSAGES, stream=True, stream_options=options
    ):
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
        last = chunk
    saw["chat_stream"] = [text.splitlines()[0], last.usage.total_tokens]

    try:
        tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
        client.chat.completions.create(model="spelunk", messages=MESSAGES, tools=tools)
    except openai.BadRequestError as error:
        saw["tools"] = [error.code, error.param, error.type]
    try:
        client.chat.completions.create(model="gpt-5", messages=MESSAGES)
    except openai.NotFoundError as error:
        saw["no_model"] = error.code

    response = client.responses.create(model="spelunk", input=MESSAGES)
    saw["response"] = [response.status, response.output_text.splitlines()[0], response.usage.total_tokens]
    with client.responses.stream(model="spelunk", input=MESSAGES) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    saw["response_stream"] = [kinds[0], kinds[-1], final.output_text.splitlines()[0]]

    client = anthropic.Anthropic(base_url=f"http://{address}", api_key="none", max_retries=0)
    message = client.messages.create(model="spelunk", max_tokens=1000, messages=MESSAGES)
    saw["message"] = [message.content[0].text.splitlines()[0], message.stop_reason, message.usage.input_tokens]
    with client.messages.stream(model="spelunk", max_tokens=1000, messages=MESSAGES) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    saw["message_stream"] = [text.splitlines()[0], final.stop_reason, final.usage.output_tokens]
    saw["message_models"] = len(list(client.models.list()))
    try:
        client.messages.create(model="nope", max_tokens=10, messages=MESSAGES)
    except anthropic.NotFoundError as error:
        saw["message_error"] = error.body["error"]["type"]
    print(json.dumps(saw, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
