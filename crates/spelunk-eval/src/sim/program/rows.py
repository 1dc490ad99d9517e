units, best, customers = 0, (0, ""), set()
for part in chunk(chars=200000):
    for line in part["text"].splitlines():
        cells = line.split(",")
        if len(cells) != 8 or not cells[0].isdigit():
            continue
        if cells[2] == wanted.get("sum") and cells[7] == "returned":
            units += int(cells[5])
        if cells[2] == wanted.get("top"):
            best = max(best, (int(cells[6]), cells[0]))
        if cells[3] == wanted.get("distinct"):
            customers.add(cells[4])
print(units, best, len(customers))
if "sum" in wanted:
    FINAL("ANSWER: " + str(units))
elif "top" in wanted:
    FINAL("ANSWER: " + best[1])
else:
    FINAL("ANSWER: " + str(len(customers)))
