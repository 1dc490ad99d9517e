"""Drives `spelunk mcp` with the official Python SDK, in both eras of the protocol, and prints what it saw as JSON.

usage: sdk_client.py PROGRAM DIRECTORY MODE
"""

import asyncio
import json
import sys

import mcp
from mcp import types

QUESTION = "What is the magic number?"
REPLY = "The magic number is 42.\n\n```evidence\na.md:3: The magic number is 42.\n```"


sampled = []


async def sample(context, params):
    sampled.append(params)
    text = params.messages[-1].content.text
    answer = text.split("say ")[1].split(" ")[0] if "say " in text else REPLY
    content = types.TextContent(type="text", text=answer)
    return types.CreateMessageResult(role="assistant", content=content, model="theirs", stop_reason="endTurn")


async def main(program, directory, mode):
    saw = {}
    # Nobody on this machine may answer in the place of the client's model.
    quiet = {"SPELUNK_MODEL_PROBE_LOCAL": "false", "HOME": directory}
    server = mcp.StdioServerParameters(command=program, args=["mcp"], cwd=directory, env=quiet)
    steps = []

    async def progress(done, total, message):
        steps.append(done)

    async with mcp.Client(server, mode=mode, sampling_callback=sample) as client:
        tools = await client.list_tools()
        saw["tools"] = len(tools.tools)
        await client.call_tool("context_register", {"path": "notes/a.md", "context_id": "a"})
        found = await client.call_tool("context_grep", {"context_id": "a", "pattern": "magic"})
        saw["grep"] = found.structured_content["matches"][0]["text"]
        wrong = await client.call_tool("context_peek", {"context_id": "nope"})
        saw["wrong"] = [wrong.is_error, wrong.content[0].text.splitlines()[0]]
        asked = await client.call_tool("rlm_query", {"question": QUESTION, "paths": ["notes"]}, progress_callback=progress)
        saw["answer"] = asked.structured_content["answer"]
        saw["model"] = asked.structured_content["model"]
        saw["progress"] = len(steps) > 0 and steps == sorted(set(steps))
        code = "print(' '.join(llm_query_batched([f'say {i} please' for i in range(20)])))"
        cell = await client.call_tool("rlm_repl", {"contexts": ["a"], "code": code})
        saw["cell"] = cell.structured_content["output"]
        saw["resources"] = [str(one.uri) for one in (await client.list_resources()).resources][:1]
        text = await client.read_resource("spelunk://context/a")
        saw["resource"] = text.contents[0].text.splitlines()[0]
        saw["prompts"] = [one.name for one in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("rlm-session", {"question": "Why?"})
        saw["prompt"] = prompt.messages[0].content.text.splitlines()[-1]
        # Prompts that were not asked before: the cache of replies does not stand in for the client.
        ten = "n = 0\nfor i in range(10):\n    n += len(llm_query(f'say {i} again'))\nprint(n)"
        long = await client.call_tool("rlm_repl", {"contexts": ["a"], "code": ten})
        saw["sampled"] = len(sampled)
        saw["ten_rounds"] = [long.is_error, long.content[0].text.splitlines()[0]]
    print(json.dumps(saw, indent=1))


asyncio.run(main(*sys.argv[1:]))
