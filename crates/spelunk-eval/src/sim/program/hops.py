import re
def first(pattern):
    for hit in grep(pattern, max=5):
        found = re.search(pattern, hit["text"])
        if found:
            return found.group(1)
    return ""
leader = first("expedition to " + wanted["destination"] + " of " + wanted["year"] + " was led by ([^,]+),")
town = first(leader + " was born in ([^,]+),") if leader else ""
year = first("In " + town + " the bridge was opened in (\\d+)") if town else ""
print(leader, town, year)
FINAL("ANSWER: " + (year or "absent"))
