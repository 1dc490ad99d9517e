first, n, users, answer = "", 0, {}, ""
for part in chunk(chars=200000):
    for line in part["text"].splitlines():
        words = line.split()
        if len(words) < 4:
            continue
        if "trace" in wanted:
            if len(words) > 4 and words[4].startswith("user="):
                users[words[3]] = words[4][5:]
            if line.endswith("code " + wanted["trace"]):
                answer = users.get(words[3], "")
        elif words[1] == "ERROR":
            if not first:
                first = words[2]
            if words[2] == wanted.get("count") and wanted["from"] <= int(words[0][11:13]) < wanted["until"]:
                n += 1
print(first, n, answer)
if "first" in wanted:
    FINAL("ANSWER: " + first)
elif "count" in wanted:
    FINAL("ANSWER: " + str(n))
else:
    FINAL("ANSWER: " + (answer or "absent"))
