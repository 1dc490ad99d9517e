"""Facts in books, speeches and hard-wrapped plain text."""

import tasks_docs


def add_to(tasks):
    tasks_docs.add_to(tasks, "books", FACTS)


W, J, M, X = "workshop.txt", "jargon.txt", "manual.txt", "doc/xz-file-format.txt"

FACTS = [
    # Proceedings of a workshop.
    ("workshop-accuracy", "workshop", W, r"namely ([\d.]+) percent; as one service bureau",
     "What accuracy, in percent, do companies that retype texts usually promise, according to the workshop?", {"how": "number", "accept": ["99.95 %"], "noun": "number"}),
    ("workshop-countries", "workshop", W, r"in use in (thirty-two) different countries",
     "In how many countries were people working with the Thesaurus Linguae Graecae?", {"accept": ["32"], "noun": "number"}),
    ("workshop-records", "workshop", W, r"the collection included (sixty) 78-rpm",
     "Wie viele Schellackplatten mit politischen Reden wurden für American Memory übernommen?", {"language": "de", "accept": ["60", "sechzig"]}),
    ("workshop-price", "workshop", W, r"for 1993, \$(\d+) for the entire year",
     "What was a single user to pay for a year of the electronic medical journal in 1993?", {"accept": ["$110", "110 dollars"], "noun": "price"}),
    ("workshop-printer", "workshop", W, r"at a rate of (\d+) pages a minute",
     "How fast was the Xerox machine that Cornell used for printing from scans? Pages per minute.", {"noun": "number"}),
    ("workshop-downloads", "workshop", W, r"images have been downloaded ([\d,]+) times",
     "How often had people fetched the Smithsonian's pictures from the online services by then?", {"value": "25000", "how": "number", "accept": ["25,000"], "noun": "number"}),
    ("workshop-editor", "workshop", W, r"Edited by (James Daly)",
     "Qui a édité les actes de cet atelier ?", {"language": "fr", "accept": ["Daly"]}),
    # A dictionary of hackers' slang.
    ("jargon-party", "jargon", J, r"recorded @-party was held at the (Westercon)",
     "At which science-fiction convention did the first known gathering of people with network addresses take place?", {"noun": "name"}),
    ("jargon-duff", "jargon", J, r"Duff when he was at (Lucasfilm)",
     "Where was the man who interlaced a switch with a loop working when he came up with it?", {"accept": ["Lucas film"], "noun": "company"}),
    ("jargon-lenna", "jargon", J, r"cropped from the (November 1972) issue",
     "画像処理でよく使われるレナの写真は、雑誌の何年何月号から切り取られたものですか。", {"language": "ja", "accept": ["1972年11月", "1972-11"]}),
    ("jargon-multics-end", "jargon", J, r"a Canadian military site\) was decommissioned in (November 2000)",
     "When was the very last Multics machine switched off?", {"accept": ["2000-11"], "noun": "month"}),
    ("jargon-lunch", "jargon", J, r"writings of ethicist (Alvin Hansen)",
     "In whose writings does the saying about lunches that cost something show up as early as 1952?", {"accept": ["Hansen"], "noun": "name"}),
    # The manual of a mail program.
    ("mutt-keepalive", "mutt-manual", M, r"imap_keepalive Type: number Default: (\d+) ",
     "How many seconds may pass at most before Mutt talks to an idle IMAP server again, unless configured?", {"noun": "number"}),
    ("mutt-wrap", "mutt-manual", M, r"Allowed values are between 78 and (\d+) inclusive",
     "What is the largest line width that Mutt lets me set for the header of a mail that I send?", {"noun": "number"}),
    ("mutt-pipeline", "mutt-manual", M, r"imap_pipeline_depth Type: number Default: (\d+) ",
     "¿Cuántas órdenes IMAP puede acumular Mutt antes de enviarlas, si no cambio nada?", {"language": "es"}),
    ("mutt-flag", "mutt-manual", M, r"score_threshold_flag Type: number Default: (\d+) ",
     "From which score on does Mutt flag a message all by itself, with the values it ships with?", {"noun": "number"}),
    ("mutt-pop", "mutt-manual", M, r"\$pop_checkinterval variable, [a-z ]* (\d+) seconds",
     "Mutt 默认每隔多少秒检查一次 POP3 服务器上的新邮件?", {"language": "zh"}),
    # A file format and its history.
    ("xz-iso", "xz-texts", "doc/history.txt", r"distro on a single (\d+) MiB ISO-9660 image",
     "How many MiB was the CD image of the Tukaani distribution supposed to fit into?", {"noun": "number"}),
    ("xz-lzma-tool", "xz-texts", "doc/history.txt", r"lzma command-line tool written by (Ville Koskinen)",
     "Who programmed the second lzma tool, the one in C++ that took the place of the shell script?", {"accept": ["Koskinen"], "noun": "name"}),
    ("xz-last-script", "xz-texts", "doc/history.txt", r"to use lzmash was ([\d.]+\d)\.",
     "What was the last LZMA Utils release that still came with the shell wrapper?", {"noun": "version"}),
    ("xz-index", "xz-texts", X, r"size of the Index field is (\d+ GiB)",
     "How large can the index of an .xz stream get?", {"accept": ["2^34", "17179869184", "16GiB"], "noun": "size"}),
    # Speeches.
    ("sotu-debt-1847", "sotu-1840s", "1847_james_polk_d.txt", r"including Treasury notes, was \$(45,659,659\.40)",
     "How high was the public debt, notes of the Treasury included, when Polk spoke to Congress at the end of 1847?", {"value": "45659659.40", "how": "number", "accept": ["$45,659,659.40"], "noun": "amount"}),
    ("sotu-warrants-1851", "sotu-1840s", "1851_millard_fillmore_w.txt", r"about (70,000) warrants issued within the short space",
     "About how many land warrants did Fillmore say had been handed out in nine months?", {"value": "70000", "how": "number", "accept": ["70,000"], "noun": "number"}),
    ("sotu-cedar-1858", "sotu-1840s", "1858_james_buchanan_d.txt", r"encamped in Cedar Valley, (\d+) miles southwest",
     "How many miles from Salt Lake City were the soldiers quartered whom Buchanan had sent to Utah?", {"noun": "number"}),
    ("sotu-rules-1996", "sotu-1990s", "1996_william_j_clinton_d.txt", r"we are eliminating ([\d,]+) pages of unnecessary rules",
     "How many pages of regulations was Al Gore credited with getting rid of?", {"value": "16000", "how": "number", "accept": ["16,000"], "noun": "number"}),
    ("sotu-tax-2003", "sotu-1990s", "2003_george_w_bush_r.txt", r"income taxes fall from \$1,178 to \$(\d+) per year",
     "In the 2003 speech a household of four earning 40,000 dollars serves as an example. What would it still pay in federal income tax?", {"accept": ["$45", "45 dollars"], "noun": "amount"}),
    # A novel.
    ("moby-daggoo", "moby-dick", "chapter_27.txt", r"pomp of (six feet five)",
     "How tall is Daggoo?", {"accept": ["6'5\"", "6 feet 5", "six foot five", "six feet five inches", "6 ft 5"], "noun": "height"}),
    ("moby-skeleton", "moby-dick", "chapter_103.txt", r"skeleton at Tranque measured (seventy-two) Feet",
     "How many feet long were the bones of the whale that the narrator measured on the island?", {"accept": ["72"], "noun": "number"}),
    ("moby-lines", "moby-dick", "chapter_126.txt", r"(thirty) separate, Turk's-headed",
     "Combien de cordes de sauvetage le charpentier veut-il fixer au cercueil ?", {"language": "fr", "accept": ["30", "trente"]}),
    ("moby-rachel", "moby-dick", "chapter_128.txt", r"a little lad, but (twelve) years old",
     "What age was the boy whom the captain of the Rachel was looking for?", {"accept": ["12"], "noun": "age"}),
]
