class __sp_SequenceMatcher:
    def __init__(self, isjunk=None, a="", b="", autojunk=True):
        self.autojunk = autojunk
        self.set_seqs(a, b)

    def set_seqs(self, a, b):
        self.a = a
        self.set_seq2(b)

    def set_seq1(self, a):
        self.a = a
        self.blocks = None

    def set_seq2(self, b):
        self.b = b
        self.blocks = None
        self.places = {}
        for idx, item in enumerate(b):
            self.places.setdefault(item, []).append(idx)
        if self.autojunk and len(b) >= 200:
            limit = len(b) // 100 + 1
            self.places = {item: places for item, places in self.places.items() if len(places) <= limit}

    def find_longest_match(self, alo=0, ahi=None, blo=0, bhi=None):
        a, b = self.a, self.b
        ahi = len(a) if ahi is None else ahi
        bhi = len(b) if bhi is None else bhi
        besti, bestj, bestsize = alo, blo, 0
        lengths = {}
        for i in range(alo, ahi):
            new = {}
            for j in self.places.get(a[i], []):
                if j < blo:
                    continue
                if j >= bhi:
                    break
                k = new[j] = lengths.get(j - 1, 0) + 1
                if k > bestsize:
                    besti, bestj, bestsize = i - k + 1, j - k + 1, k
            lengths = new
        while besti > alo and bestj > blo and a[besti - 1] == b[bestj - 1]:
            besti, bestj, bestsize = besti - 1, bestj - 1, bestsize + 1
        while besti + bestsize < ahi and bestj + bestsize < bhi and a[besti + bestsize] == b[bestj + bestsize]:
            bestsize += 1
        return (besti, bestj, bestsize)

    def get_matching_blocks(self):
        if self.blocks is not None:
            return self.blocks
        queue = [(0, len(self.a), 0, len(self.b))]
        found = []
        while queue:
            alo, ahi, blo, bhi = queue.pop()
            i, j, k = self.find_longest_match(alo, ahi, blo, bhi)
            if k:
                found.append((i, j, k))
                if alo < i and blo < j:
                    queue.append((alo, i, blo, j))
                if i + k < ahi and j + k < bhi:
                    queue.append((i + k, ahi, j + k, bhi))
        found.sort()
        merged = []
        for i, j, k in found:
            if merged and merged[-1][0] + merged[-1][2] == i and merged[-1][1] + merged[-1][2] == j:
                merged[-1] = (merged[-1][0], merged[-1][1], merged[-1][2] + k)
            else:
                merged.append((i, j, k))
        merged.append((len(self.a), len(self.b), 0))
        self.blocks = merged
        return merged

    def get_opcodes(self):
        i = j = 0
        found = []
        for ai, bj, size in self.get_matching_blocks():
            tag = ""
            if i < ai and j < bj:
                tag = "replace"
            elif i < ai:
                tag = "delete"
            elif j < bj:
                tag = "insert"
            if tag:
                found.append((tag, i, ai, j, bj))
            i, j = ai + size, bj + size
            if size:
                found.append(("equal", ai, i, bj, j))
        return found

    def ratio(self):
        total = len(self.a) + len(self.b)
        matches = sum([block[2] for block in self.get_matching_blocks()])
        return 2.0 * matches / total if total else 1.0

    def quick_ratio(self):
        counts = {}
        for item in self.b:
            counts[item] = counts.get(item, 0) + 1
        matches = 0
        for item in self.a:
            if counts.get(item, 0) > 0:
                counts[item] -= 1
                matches += 1
        total = len(self.a) + len(self.b)
        return 2.0 * matches / total if total else 1.0

    def real_quick_ratio(self):
        total = len(self.a) + len(self.b)
        return 2.0 * min(len(self.a), len(self.b)) / total if total else 1.0


def __sp_close_matches(word, possibilities, n=3, cutoff=0.6):
    found = []
    for one in __sp_all(possibilities):
        matcher = __sp_SequenceMatcher(None, one, word)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff and matcher.ratio() >= cutoff:
            found.append((matcher.ratio(), one))
    found.sort(reverse=True)
    return [one for ratio, one in found[:n]]


def __sp_unified_diff(a, b, fromfile="", tofile="", fromfiledate="", tofiledate="", n=3, lineterm="\n"):
    found = []
    codes = __sp_SequenceMatcher(None, a, b).get_opcodes()
    if not any([code[0] != "equal" for code in codes]):
        return found
    groups = []
    group = []
    for tag, i1, i2, j1, j2 in codes:
        if tag == "equal":
            if not group:
                i1, j1 = max(i1, i2 - n), max(j1, j2 - n)
            if group and i2 - i1 > 2 * n:
                group.append((tag, i1, min(i2, i1 + n), j1, min(j2, j1 + n)))
                groups.append(group)
                group = []
                i1, j1 = max(i1, i2 - n), max(j1, j2 - n)
        group.append((tag, i1, i2, j1, j2))
    if group and not (len(group) == 1 and group[0][0] == "equal"):
        tag, i1, i2, j1, j2 = group[-1]
        if tag == "equal":
            group[-1] = (tag, i1, min(i2, i1 + n), j1, min(j2, j1 + n))
        groups.append(group)

    def span(start, stop):
        length = stop - start
        if length == 1:
            return str(start + 1)
        return str(start + 1 if length else start) + "," + str(length)

    found.append("--- " + fromfile + ("\t" + fromfiledate if fromfiledate else "") + lineterm)
    found.append("+++ " + tofile + ("\t" + tofiledate if tofiledate else "") + lineterm)
    for group in groups:
        first, last = group[0], group[-1]
        found.append("@@ -" + span(first[1], last[2]) + " +" + span(first[3], last[4]) + " @@" + lineterm)
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                found.extend([" " + line for line in a[i1:i2]])
                continue
            if tag in ("replace", "delete"):
                found.extend(["-" + line for line in a[i1:i2]])
            if tag in ("replace", "insert"):
                found.extend(["+" + line for line in b[j1:j2]])
    return found


def __sp_ndiff(a, b, *rest):
    found = []
    for tag, i1, i2, j1, j2 in __sp_SequenceMatcher(None, a, b).get_opcodes():
        if tag == "equal":
            found.extend(["  " + line for line in a[i1:i2]])
            continue
        found.extend(["- " + line for line in a[i1:i2]])
        found.extend(["+ " + line for line in b[j1:j2]])
    return found


def __sp_load_difflib():
    return {"SequenceMatcher": __sp_SequenceMatcher, "get_close_matches": __sp_close_matches, "unified_diff": __sp_unified_diff, "ndiff": __sp_ndiff, "Differ": __sp_Differ}


class __sp_Differ:
    def compare(self, a, b):
        return __sp_ndiff(a, b)


__sp_module("difflib", __sp_load_difflib)
