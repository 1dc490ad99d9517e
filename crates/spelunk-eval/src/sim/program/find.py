hits = grep(wanted["pattern"], max=50)
print(len(hits))
texts = []
for hit in hits:
    texts.append("<document name=\"" + str(hit["doc"]) + "\">\n" + hit["text"])
if texts:
    FINAL(llm_query("Question: " + question + "\n\n" + "\n".join(texts)))
else:
    FINAL("Nothing in the text says it.\n\nANSWER: absent")
