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


PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ASKED = "How warm is it in Oslo and in Rome?"
DEGREES = {"Oslo": "8 degrees", "Rome": "18 degrees"}


def tools_of_openai(address):
    """A whole exchange with tools, by both APIs, plain and streamed; and what else the client has."""
    saw = {}
    client = openai.OpenAI(base_url=f"http://{address}/v1", api_key="none", max_retries=0)
    tools = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]
    messages = [{"role": "user", "content": ASKED}]
    with client.chat.completions.stream(model="spelunk", messages=messages, tools=tools) as stream:
        for _ in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    saw["chat_calls"] = [[call.function.name, call.function.arguments] for call in message.tool_calls]
    messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
    for call in message.tool_calls:
        content = DEGREES[json.loads(call.function.arguments)["city"]]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    answer = client.chat.completions.create(model="spelunk", messages=messages, tools=tools)
    saw["chat_told"] = answer.choices[0].message.content

    tools = [{"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": False}]
    with client.responses.stream(model="spelunk", input=ASKED, tools=tools) as stream:
        for _ in stream:
            pass
        response = stream.get_final_response()
    calls = [item for item in response.output if item.type == "function_call"]
    saw["response_calls"] = [[call.name, call.arguments] for call in calls]
    items = [{"role": "user", "content": ASKED}] + [item.model_dump(exclude={"parsed_arguments"}) for item in response.output]
    for call in calls:
        output = DEGREES[json.loads(call.arguments)["city"]]
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    saw["response_told"] = client.responses.create(model="spelunk", input=items, tools=tools).output_text

    vectors = client.embeddings.create(model="spelunk-embedding", input=["one text", "another"]).data
    saw["embeddings"] = [len(vectors), {type(number).__name__ for vector in vectors for number in vector.embedding}.pop()]
    return saw


def tools_of_anthropic(client):
    saw = {}
    tools = [{"name": "weather", "description": "Tells it.", "input_schema": PARAMETERS}]
    messages = [{"role": "user", "content": ASKED}]
    with client.messages.stream(model="spelunk", max_tokens=1000, messages=messages, tools=tools) as stream:
        message = stream.get_final_message()
    calls = [block for block in message.content if block.type == "tool_use"]
    saw["message_calls"] = [message.stop_reason] + [[call.name, call.input["city"]] for call in calls]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": DEGREES[call.input["city"]]} for call in calls]
    messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    answer = client.messages.create(model="spelunk", max_tokens=1000, messages=messages, tools=tools)
    saw["message_told"] = answer.content[0].text
    saw["counted"] = client.messages.count_tokens(model="spelunk", messages=messages[:1]).input_tokens
    source = {"type": "text", "media_type": "text/plain", "data": DOCUMENT}
    document = {"type": "document", "source": source, "title": "message-1.md", "citations": {"enabled": True}}
    content = [document, {"type": "text", "text": QUESTION}]
    cited = client.messages.create(
        model="spelunk-direct", max_tokens=1000, messages=[{"role": "user", "content": content}]
    )
    citation = cited.content[0].citations[0]
    cut = DOCUMENT[citation.start_char_index : citation.end_char_index]
    saw["cited"] = [citation.type, citation.document_index, citation.cited_text, cut == citation.cited_text]
    return saw


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
        client.chat.completions.create(model="spelunk", messages=MESSAGES, n=2)
    except openai.BadRequestError as error:
        saw["n"] = [error.code, error.param, error.type]
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
    saw.update(tools_of_openai(address))
    saw.update(tools_of_anthropic(client))
    saw["message_models"] = len(list(client.models.list()))
    try:
        client.messages.create(model="nope", max_tokens=10, messages=MESSAGES)
    except anthropic.NotFoundError as error:
        saw["message_error"] = error.body["error"]["type"]
    print(json.dumps(saw, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
