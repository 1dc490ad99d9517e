"""Asks a question with the official Python SDK, whose user is asked before a tool acts; prints what was asked and answered.

usage: sdk_consent.py PROGRAM DIRECTORY MODE yes|no
"""

import asyncio
import os
import sys

import mcp
from mcp import types


async def main(program, directory, mode, allow):
    async def elicit(context, params):
        print(params.message[params.message.index("wants") :])
        return types.ElicitResult(action="accept", content={"allow": allow == "yes"})

    env = {name: os.environ[name] for name in ("HOME", "OPENAI_BASE_URL", "PATH")}
    server = mcp.StdioServerParameters(command=program, args=["mcp"], cwd=directory, env=env)
    async with mcp.Client(server, mode=mode, elicitation_callback=elicit) as client:
        asked = await client.call_tool("rlm_query", {"question": "What is the magic number?", "paths": ["notes"]})
        print(asked.structured_content["answer"])


asyncio.run(main(*sys.argv[1:]))
