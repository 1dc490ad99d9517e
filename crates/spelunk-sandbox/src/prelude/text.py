# Methods of texts and matches that take more than the interpreter knows.

def __sp_maketrans(kind, *args):
    if len(args) == 1:
        return {(ord(key) if isinstance(key, str) else key): value for key, value in args[0].items()}
    table = {ord(a): ord(b) for a, b in zip(args[0], args[1])}
    if len(args) == 3:
        for char in args[2]:
            table[ord(char)] = None
    return table


def __sp_translate(text, table):
    if not isinstance(text, str):
        return text.translate(table)
    found = []
    for char in text:
        new = table.get(ord(char), char) if isinstance(table, dict) else table[ord(char)]
        if new is None:
            continue
        found.append(chr(new) if isinstance(new, int) else new)
    return "".join(found)


def __sp_isocalendar(day):
    # The week that holds the year's first Thursday is the first.
    import datetime
    year = int(day.strftime("%Y"))
    number = (datetime.date(year, int(day.strftime("%m")), int(day.strftime("%d"))) - datetime.date(year, 1, 1)).days + 1
    week = (number - (day.weekday() + 1) + 10) // 7
    if week < 1:
        year -= 1
        week = 53 if __sp_has_53_weeks(year) else 52
    elif week == 53 and not __sp_has_53_weeks(year):
        year, week = year + 1, 1
    return (year, week, day.weekday() + 1)


def __sp_has_53_weeks(year):
    import datetime
    first = datetime.date(year, 1, 1).weekday()
    return first == 3 or (first == 2 and datetime.date(year, 12, 31).weekday() == 3)


def __sp_format_map(text, values):
    return text.format(**values)


def __sp_match_index(match, group):
    if isinstance(group, int) or isinstance(match, __sp_Match):
        return group
    if group not in match.groupdict():
        raise IndexError("no such group")
    return __sp_named_indexes(match)[group]


def __sp_named_indexes(match):
    # The interpreter does not say which number a name has: names come in the order of their numbers.
    found = {}
    idx = 0
    n_groups = len(match.groups())
    for name, value in match.groupdict().items():
        idx += 1
        while idx < n_groups and match.group(idx) != value:
            idx += 1
        found[name] = idx
    return found


def __sp_match_start(match, group):
    return match.start(__sp_match_index(match, group))


def __sp_match_end(match, group):
    return match.end(__sp_match_index(match, group))


def __sp_match_span(match, group):
    return match.span(__sp_match_index(match, group))


def __sp_match_groups(match, default=None):
    if isinstance(match, __sp_Match):
        return match.groups(default)
    return tuple([default if group is None else group for group in match.groups()])


def __sp_match_last(match, name):
    groups = match.groups()
    last = None
    for idx, group in enumerate(groups):
        if group is not None:
            last = idx + 1
    if name == "lastindex":
        return last
    for group, idx in (match.re.groupindex if isinstance(match, __sp_Match) else __sp_named_indexes(match)).items():
        if idx == last:
            return group
    return None


def __sp_expand(match, template):
    found = []
    at = 0
    while at < len(template):
        char = template[at]
        if char == "\\" and at + 1 < len(template):
            following = template[at + 1]
            if following.isdigit():
                digits = following
                if template[at + 2:at + 3].isdigit():
                    digits += template[at + 2]
                group = match.group(int(digits))
                found.append("" if group is None else group)
                at += 1 + len(digits)
                continue
            if following == "g" and template[at + 2:at + 3] == "<":
                name = template[at + 3:].split(">")[0]
                group = match.group(int(name) if name.isdigit() else name)
                found.append("" if group is None else group)
                at += 4 + len(name)
                continue
            found.append({"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}.get(following, "\\" + following))
            at += 2
            continue
        found.append(char)
        at += 1
    return "".join(found)


def __sp_print(*values, sep=" ", end="\n", file=None, flush=False):
    text = (" " if sep is None else sep).join([__sp_str(value) for value in values]) + ("\n" if end is None else end)
    if file is None:
        print(text, end="")
        return
    if hasattr(type(file), "__sp_stderr__"):
        return
    file.write(text)


def __sp_str(value=""):
    return __sp_shown(value) if __sp_is_handle(value) else str(value)


def __sp_repr(value):
    return repr(__sp_str(value)) if __sp_is_handle(value) else repr(value)


class __sp_Match:
    # A match in a host object: the texts of its groups and their spans, as the host gave them.
    def __init__(self, found, pattern, text):
        self.texts, self.spans = found
        self.re = pattern
        self.string = text
        self.pos = 0

    def index(self, group):
        if isinstance(group, str):
            if group not in self.re.groupindex:
                raise IndexError("no such group")
            return self.re.groupindex[group]
        if not 0 <= group < len(self.texts):
            raise IndexError("no such group")
        return group

    def group(self, *groups):
        if not groups:
            return self.texts[0]
        if len(groups) == 1:
            return self.texts[self.index(groups[0])]
        return tuple([self.texts[self.index(group)] for group in groups])

    def __getitem__(self, group):
        return self.texts[self.index(group)]

    def groups(self, default=None):
        return tuple([default if text is None else text for text in self.texts[1:]])

    def groupdict(self, default=None):
        return {name: (default if self.texts[idx] is None else self.texts[idx]) for name, idx in self.re.groupindex.items()}

    def start(self, group=0):
        return self.span(group)[0]

    def end(self, group=0):
        return self.span(group)[1]

    def span(self, group=0):
        found = self.spans[self.index(group)]
        return (-1, -1) if found is None else tuple(found)

    def expand(self, template):
        return __sp_expand(self, template)

    def __repr__(self):
        return "<re.Match object; span=" + repr(self.span()) + ", match=" + repr(self.texts[0]) + ">"
