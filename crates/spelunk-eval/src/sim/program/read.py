import json
total = sum(len(part["text"]) for part in chunk(chars=200000))
parts = chunk(chars=max(16000, total // 150))
ask = "Read the text below and reply with one JSON object of the form {\"counts\": {}, \"facts\": []} that holds what it says to the question.\n\nQuestion: "
prompts = [ask + question + "\n\n" + part["text"] for part in parts]
counts, facts, left = {}, set(), prompts
for attempt in range(3):
    again = []
    for start in range(0, len(left), 100):
        batch = left[start:start + 100]
        for prompt, reply in zip(batch, llm_query_batched(batch)):
            try:
                note = json.loads(reply)
                for name, n in note["counts"].items():
                    counts[name] = counts.get(name, 0) + n
                facts.update(note["facts"])
            except Exception:
                again.append(prompt + "\n\nReply with JSON and nothing else.")
    left = again
print(counts, len(facts), "parts left:", len(left))
if "count" in wanted:
    FINAL("ANSWER: " + str(counts.get(wanted["count"], 0)))
elif "common" in wanted:
    FINAL("ANSWER: " + max(counts, key=lambda name: counts[name]))
else:
    FINAL(llm_query("Question: " + question + "\n\n" + "\n".join(sorted(facts))))
