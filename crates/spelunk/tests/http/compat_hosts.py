"""Drives `spelunk serve` with programs that use models: litellm, llm and OpenAI's agents, and prints what they saw as JSON.

usage: compat_hosts.py ADDRESS
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile

os.environ.update(OPENAI_AGENTS_DISABLE_TRACING="1", LITELLM_LOCAL_MODEL_COST_MAP="True", OPENAI_API_KEY="none")

import agents
import litellm
from openai import AsyncOpenAI

litellm.suppress_debug_info = True

DOCUMENT = "# Numbers\n\nThe magic number is 42.\n"
MESSAGES = [{"role": "user", "content": DOCUMENT}, {"role": "user", "content": "What is the magic number?"}]
ASKED = "How warm is it in Oslo and in Rome?"
DEGREES = {"Oslo": "8 degrees", "Rome": "18 degrees"}


@agents.function_tool
def weather(city: str) -> str:
    """Tells how warm it is in a city."""
    return DEGREES[city]


async def agent(address, api):
    """An agent with a tool, until it has an answer."""
    client = AsyncOpenAI(base_url=f"http://{address}/v1", api_key="none", max_retries=0)
    model = api(model="spelunk", openai_client=client)
    meteorologist = agents.Agent(name="meteorologist", instructions="Use the tools.", tools=[weather], model=model)
    result = await agents.Runner.run(meteorologist, ASKED)
    streamed = agents.Runner.run_streamed(meteorologist, ASKED)
    kinds = {event.type async for event in streamed.stream_events()}
    n_calls = sum(type(item).__name__ == "ToolCallItem" for item in result.new_items)
    return [result.final_output, streamed.final_output, n_calls, sorted(kinds)]


def through_litellm(address):
    saw = {}
    at = {"api_base": f"http://{address}/v1", "api_key": "none", "num_retries": 0}
    answer = litellm.completion(model="openai/spelunk", messages=MESSAGES, **at)
    saw["litellm"] = answer.choices[0].message.content.splitlines()[0]
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    messages = [{"role": "user", "content": ASKED}]
    answer = litellm.completion(model="openai/spelunk", messages=messages, tools=tools, **at)
    messages.append(answer.choices[0].message.model_dump(exclude_none=True))
    for call in answer.choices[0].message.tool_calls:
        content = DEGREES[json.loads(call.function.arguments)["city"]]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    answer = litellm.completion(model="openai/spelunk", messages=messages, tools=tools, **at)
    saw["litellm_told"] = answer.choices[0].message.content
    at["api_base"] = f"http://{address}"
    answer = litellm.completion(model="anthropic/spelunk", max_tokens=1000, messages=messages[:1], tools=tools, **at)
    saw["litellm_anthropic"] = [call.function.arguments for call in answer.choices[0].message.tool_calls]
    return saw


def through_llm(address):
    """The program `llm`, with a model of its settings, plain and with a tool."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/extra-openai-models.yaml", "w") as settings:
            settings.write(
                f"- model_id: spelunk\n  model_name: spelunk\n  api_base: http://{address}/v1\n"
                "  supports_tools: true\n  api_key_name: none\n"
            )
        llm = [os.path.join(os.path.dirname(sys.executable), "llm"), "--model", "spelunk", "--no-log", "--key", "none"]
        environment = {**os.environ, "LLM_USER_PATH": folder}

        def ask(*more):
            ran = subprocess.run(llm[:1] + ["prompt"] + llm[1:] + list(more), env=environment, capture_output=True, text=True)
            return ran.stdout.strip() or ran.stderr.strip()

        tool = 'def weather(city: str) -> str:\n    """Tells how warm it is."""\n    return {"Oslo": "8 degrees", "Rome": "18 degrees"}[city]\n'
        return {"llm": ask(DOCUMENT + "\nWhat is the magic number?").splitlines()[0], "llm_told": ask("--functions", tool, ASKED)}


def main(address):
    saw = through_litellm(address)
    saw.update(through_llm(address))
    saw["agent"] = asyncio.run(agent(address, agents.OpenAIResponsesModel))
    saw["agent_chat"] = asyncio.run(agent(address, agents.OpenAIChatCompletionsModel))
    print(json.dumps(saw, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
