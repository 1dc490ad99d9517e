#!/usr/bin/env python3
"""Compares Spelunk with other engines for recursive language models, interleaved, on one scripted model server.

    bench/peers/run.py target/release/spelunk --wheel target/wheels/spelunk-*.whl [--rounds 5] [--venv DIR]

Installs the newest `rlms`, `minrlm` and `dspy` and the wheel (`cargo xtask wheel`) into a virtual environment, asks every engine the
same questions about the same text, and prints a Markdown table with versions and date. The server answers at once, or after 20 ms
in the batch, so the figures show the engines' overhead. Every run is a new process, as a user would start it. The first row is the
time until its first request arrives, the other rows the time from there until the answer. The last row is the time of one call of a
custom function, measured by the function's own clock: it returns the time, and the code calls it 100 times. For the program, the
function is in an MCP server on standard input and output (package `mcp`); for the others, it is in their own process.

dspy runs code in Deno (package `deno`) with Pyodide (from npm). On its first run, its script imports Pyodide and a line reader from
the network. Here Pyodide comes from a folder that npm filled and the line reader from this file, so nothing is fetched while timed.
"""
import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PACKAGES = ["rlms", "minrlm", "dspy", "deno", "mcp"]
N_CALLS = 200
BATCH_WAIT_S = 0.02
# For each engine: its code fence, and its forms of `ask`, `ask_all` and `finish`.
DIALECTS = {
    "spelunk": ("repl", "llm_query({})", "llm_query_batched({})", "FINAL({})"),
    "spelunk in Python": ("repl", "llm_query({})", "llm_query_batched({})", "FINAL({})"),
    "rlms": ("repl", "llm_query({})", "llm_query_batched({})", "answer['content'] = str({}); answer['ready'] = True"),
    "minrlm": ("python", "sub_llm({})", "sub_llm_batch([(one, '') for one in {}])", "FINAL(str({}))"),
    "dspy": ("dspy", "llm_query({})", "llm_query_batched({})", "SUBMIT(str({}))"),
    "dspy with spelunk.dspy.Interpreter": ("dspy", "llm_query({})", "llm_query_batched({})", "SUBMIT(str({}))"),
}
TOOL = "one call of a custom function"
SCENARIOS = {
    "one turn": "said = [1] * 200",
    "200 sub-calls, one after the other": "said = [%(one)s for n in range(%(n)d)]",
    "200 sub-calls in a batch, 20 ms each": "said = %(all)s",
    TOOL: "said = [%(tool)s for n in range(100)]",
}
# Runs one engine in its own process. Arguments: the engine, its base URL, the text, the command of Deno, whether there is a function.
PEER = '''
import json, sys, time
engine, url, path, deno, has_tool = sys.argv[1:]
text, question = open(path).read(), "Work through the parts."
def tool_now(n: int) -> float:
    """The time in ms."""
    return time.perf_counter() * 1000
tools = [tool_now] if has_tool else []
if engine == "rlms":
    from rlm import RLM
    rlm = RLM(backend="openai", backend_kwargs={"model_name": engine, "base_url": url, "api_key": "k"}, environment="local", verbose=False,
              custom_tools={one.__name__: one for one in tools})
    print("answer:", rlm.completion(text, root_prompt=question).response)
elif engine == "minrlm":
    from minrlm import RLMBase
    print("answer:", RLMBase(model=engine, base_url=url, api_key="k", max_sub_llm_calls=10000).completion(question, text).response)
elif engine == "spelunk in Python":
    import spelunk
    tools = [spelunk.tool(effect="read")(one) for one in tools]
    settings = {"limits.calls_parallel_max": 100}
    rlm = spelunk.Spelunk("openai/scripted", base_url=url, workspace="w", settings=settings, tools=tools)
    print("answer:", rlm.ask(question, path, strategy="repl"))
else:
    import dspy
    factory = lambda: dspy.PythonInterpreter(deno_command=json.loads(deno))
    if engine != "dspy":
        from spelunk.dspy import Interpreter as factory
    dspy.configure(lm=dspy.LM("openai/scripted", api_base=url, api_key="k", cache=False), interpreter_factory=factory)
    print("answer:", dspy.RLM("context, query -> output", max_llm_calls=10000, tools=tools)(context=text, query=question).output)
'''
# Provides the custom function to the program.
MCP_SERVER = '''
import time
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
server = MCPServer("bench")
@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def now(n: int) -> float:
    """The time in ms."""
    return time.perf_counter() * 1000
server.run("stdio")
'''
# Replaces the line reader that dspy's script imports.
READ_LINES = '''
export async function* readLines(reader) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of reader.readable) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\\n");
    rest = lines.pop();
    yield* lines;
  }
}
'''


def deno_of(python, folder):
    """The command that runs dspy's script without the network."""
    find = "import deno, dspy.primitives; print(deno.find_deno_bin(), dspy.primitives.__path__[0])"
    deno, primitives = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True).stdout.split()
    script = Path(primitives, "runner.js").read_text()
    pyodide = re.search(r'"npm:(pyodide@[0-9.]+)/pyodide.js"', script)[1]
    reader = re.search(r'"(https://[^"]+)"', script)[1]
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, pyodide], check=True)
    runner, lines, names = (Path(folder, name) for name in ("runner.js", "lines.js", "names.json"))
    runner.write_text(script)
    lines.write_text(READ_LINES)
    names.write_text(json.dumps({"imports": {reader: lines.as_uri()}}))
    flags = ["--no-config", "--no-lock", "--node-modules-dir=manual", "--import-map", str(names), "--allow-read=%s" % folder]
    return json.dumps([deno, "run", *flags, str(runner), ""])


def code_of(engine, scenario, n_root):
    """The reply to a root request: the work first, then the answer."""
    fence, one, many, final = DIALECTS[engine]
    prompts = "['part ' + str(n) for n in range(%d)]" % N_CALLS
    tool = "mcp_now(n=n)['result']" if engine == "spelunk" else "tool_now(n=n)"
    code = SCENARIOS[scenario] % {"one": one.format("'part ' + str(n)"), "all": many.format(prompts), "tool": tool, "n": N_CALLS}
    # Some engines reject an answer if the text was not read first.
    looks = "len(search(input_0, 'line 7 '))" if engine == "minrlm" else "context[:4]"
    result = "(said[-1] - said[0]) / (len(said) - 1)" if scenario == TOOL else "len(said)"
    code = final.format(result) if n_root > 0 else code + "\nprint(len(said), %s)" % looks
    if fence == "dspy":
        return "[[ ## reasoning ## ]]\nNext.\n\n[[ ## code ## ]]\n```python\n%s\n```\n\n[[ ## completed ## ]]" % code
    return "```%s\n%s\n```" % (fence, code)


class Server(ThreadingHTTPServer):
    """The scripted model. The first part of the request path identifies the run."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self):
        self.lock, self.runs = threading.Lock(), {}
        super().__init__(("127.0.0.1", 0), Handler)

    def begin(self, engine, scenario):
        run = {"engine": engine, "scenario": scenario, "n_root": 0, "n_sub": 0, "first_at": None}
        with self.lock:
            key = "r%d" % len(self.runs)
            self.runs[key] = run
        return run, "http://127.0.0.1:%d/%s/v1" % (self.server_address[1], key)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        run = self.server.runs[self.path.split("/")[1]]
        last = json.dumps(request["messages"][-1]["content"])
        is_sub = len(request["messages"]) <= 2 and "part " in last and "Work through" not in last
        with self.server.lock:
            run["first_at"] = run["first_at"] or time.perf_counter()
            run["n_sub" if is_sub else "n_root"] += 1
            n_root = run["n_root"] - 1
        if is_sub and "batch" in run["scenario"]:
            time.sleep(BATCH_WAIT_S)
        text = "yes" if is_sub else code_of(run["engine"], run["scenario"], n_root)
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        head = {"id": "x", "created": 1, "model": request["model"]}
        if request.get("stream"):
            chunks = [{"delta": {"role": "assistant", "content": text}, "index": 0, "finish_reason": None},
                      {"delta": {}, "index": 0, "finish_reason": "stop"}]
            lines = [dict(head, object="chat.completion.chunk", choices=[one]) for one in chunks]
            lines.append(dict(head, object="chat.completion.chunk", choices=[], usage=usage))
            body = "".join("data: %s\n\n" % json.dumps(line) for line in lines) + "data: [DONE]\n\n"
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            body = json.dumps(dict(head, object="chat.completion", choices=[choice], usage=usage))
        kind = "text/event-stream" if request.get("stream") else "application/json"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


def run_once(server, program, python, deno, engine, scenario, text):
    """Milliseconds until the first request, and from there to the answer (or of one call of the function); None and a reason if
    the run failed."""
    if engine == "minrlm" and scenario == TOOL:
        return None, "it takes no functions"
    run, url = server.begin(engine, scenario)
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HOME=folder, OPENAI_API_KEY="k", PATH=str(Path(python).parent) + os.pathsep + os.environ["PATH"])
        if engine == "spelunk":
            settings = ["model.provider=openai", "model.name=scripted", "model.base_url=" + url, "limits.calls_parallel_max=100"]
            flags = [part for one in settings for part in ("--set", one)]
            tool = Path(folder, "tool.py")
            tool.write_text(MCP_SERVER)
            tools = ["--mcp", "%s %s" % (python, tool)] if scenario == TOOL else []
            command = [program, *flags, "--workspace", str(Path(folder, "w")), "ask", "--strategy", "repl", *tools,
                       "Work through the parts.", text]
        else:
            command = [python, "-c", PEER, engine, url, text, deno, "tool" if scenario == TOOL else ""]
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=300)
        ended = time.perf_counter()
    wanted = N_CALLS if "sub-calls" in scenario else 0
    match = re.search(r"\d+\.\d+" if scenario == TOOL else "200", done.stdout)
    if done.returncode or not match or run["n_sub"] < wanted:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no answer"]
        return None, "%s (%d root, %d sub-calls)" % (said[0][:150], run["n_root"], run["n_sub"])
    took = float(match[0]) if scenario == TOOL else 1000 * (ended - run["first_at"])
    return (1000 * (run["first_at"] - began), took), ""


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program")
    args.add_argument("--wheel", required=True)
    args.add_argument("--rounds", type=int, default=5)
    args.add_argument("--venv", default=None, help="a virtual environment to use again")
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(args.venv or Path(folder, "venv")).absolute()
        python = str(venv / "bin" / "python")
        if not Path(python).exists():
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--upgrade", *PACKAGES], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", args.wheel], check=True)
        deno = deno_of(python, str(Path(folder, "deno")))
        listed = json.loads(subprocess.run([python, "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True).stdout)
        versions = {one["name"]: one["version"] for one in listed}
        text = Path(folder, "text.txt")
        text.write_text("".join("line %d of the text\n" % n for n in range(2000)))
        server = Server()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        took, failed = {}, {}
        for _ in range(args.rounds):
            for scenario in SCENARIOS:
                for engine in DIALECTS:
                    if (engine, scenario) in failed:
                        continue
                    times, why = run_once(server, str(Path(args.program).absolute()), python, deno, engine, scenario, str(text))
                    if times is None:
                        failed[engine, scenario] = why
                    else:
                        took.setdefault((engine, scenario), []).append(times)
        print("Measured on %s, median of %d rounds, in ms.\n" % (datetime.date.today(), args.rounds))
        heads = {name: "%s %s" % (name, versions[name]) for name in ("spelunk", "rlms", "minrlm", "dspy")}
        print("| | " + " | ".join(engine.replace(engine.split()[0], heads[engine.split()[0]], 1) for engine in DIALECTS) + " |")
        print("|---" * (len(DIALECTS) + 1) + "|")
        median = lambda found, idx: "{:,.{}f}".format(value := statistics.median(one[idx] for one in found), 2 * (value < 10)) if found else "–"
        print("| process start to first request | " + " | ".join(median(took.get((engine, "one turn")), 0) for engine in DIALECTS) + " |")
        for scenario in SCENARIOS:
            print("| %s | " % scenario + " | ".join(median(took.get((engine, scenario)), 1) for engine in DIALECTS) + " |")
        for (engine, scenario), why in failed.items():
            print("\n%s, %s: %s" % (engine, scenario, why))
        server.shutdown()


if __name__ == "__main__":
    main()
