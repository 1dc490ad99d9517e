# `re`: patterns are read as Python reads them, then the interpreter's engine searches; host objects search by themselves.

import re as __sp_re

__sp_patterns = {}


class __sp_Pattern:
    def __init__(self, pattern, flags):
        source, ends, self.flags, self.groups, self.groupindex, self.is_walked, self.is_host_only = __sp_host_pattern(pattern, flags)
        self.pattern = pattern
        self.given = flags
        self.native = __sp_re.compile(source)
        # For texts that end with a newline, if `$` makes a difference.
        self.ends = ends
        self.is_plain = ends is None and not self.is_host_only
        self.is_simple = self.is_plain and not self.is_walked
        self.templates = {}

    def over(self, string):
        if self.ends is None or type(string) is not str or string[-1:] != "\n":
            return self.native
        if type(self.ends) is str:
            self.ends = __sp_re.compile(self.ends)
        return self.ends

    def search(self, string, pos=0, endpos=None):
        if self.is_plain and pos == 0 and endpos is None and type(string) is str:
            return self.native.search(string)
        return __sp_re_one(self, "search", string, pos, endpos)

    def match(self, string, pos=0, endpos=None):
        if self.is_plain and pos == 0 and endpos is None and type(string) is str:
            return self.native.match(string)
        return __sp_re_one(self, "match", string, pos, endpos)

    def fullmatch(self, string, pos=0, endpos=None):
        if self.is_plain and pos == 0 and endpos is None and type(string) is str:
            return self.native.fullmatch(string)
        return __sp_re_one(self, "fullmatch", string, pos, endpos)

    def findall(self, string, pos=0, endpos=None):
        string = __sp_text_of(string)
        if self.is_simple and pos == 0 and endpos is None and type(string) is str:
            return self.native.findall(string)
        if __sp_is_handle(string):
            return __sp_re_handle(string, "findall", self)
        if type(string) is not str or pos == 0 and endpos is None and not self.is_walked:
            return self.over(string).findall(string)
        found = [groups for before, groups, spans in __sp_re_walk(self, string, pos, endpos, 0)[0]]
        if self.groups == 0:
            return [groups[0] for groups in found]
        found = [tuple(["" if group is None else group for group in groups[1:]]) for groups in found]
        return [groups[0] for groups in found] if self.groups == 1 else found

    def finditer(self, string, pos=0, endpos=None):
        string = __sp_text_of(string)
        if __sp_is_handle(string):
            return __sp_re_batches(string, self)
        # The interpreter's matches count from the beginning of a text that is not ASCII.
        if type(string) is not str or pos == 0 and endpos is None and not self.is_walked and string.isascii():
            return iter(self.over(string).finditer(string))
        return iter([__sp_re_match_of(self, string, found) for found in __sp_re_walk(self, string, pos, endpos, 0)[0]])

    def split(self, string, maxsplit=0):
        string = __sp_text_of(string)
        if __sp_is_handle(string):
            return __sp_re_handle(string, "split", self, maxsplit)
        if not self.is_walked or type(string) is not str or maxsplit < 0:
            return self.over(string).split(string, maxsplit)
        found, rest = __sp_re_walk(self, string, 0, None, maxsplit)
        parts = []
        for before, groups, spans in found:
            parts.append(before)
            parts.extend(groups[1:])
        return parts + [rest]

    def sub(self, repl, string, count=0):
        string = __sp_text_of(string)
        if isinstance(repl, str) and type(string) is str and not self.is_walked:
            return self.over(string).sub(__sp_re_template(self, repl), string, count)
        return self.subn(repl, string, count)[0]

    def subn(self, repl, string, count=0):
        string = __sp_text_of(string)
        if __sp_is_handle(string):
            if isinstance(repl, str):
                return __sp_re_handle(string, "subn", self, repl, count)
            string = __sp_str(string)
        if type(string) is not str or count < 0:
            return (self.native.sub("", string, count), 0)
        template = __sp_re_template(self, repl) if isinstance(repl, str) else None
        parts = []
        if template is None and not self.is_walked and string.isascii():
            at = n_found = 0
            for match in self.over(string).finditer(string):
                if count and n_found >= count:
                    break
                parts.append(string[at:match.start()])
                parts.append(__sp_re_new(repl(match)))
                at = match.end()
                n_found += 1
            return ("".join(parts) + string[at:], n_found)
        found, rest = __sp_re_walk(self, string, 0, None, count)
        for one in found:
            parts.append(one[0])
            match = __sp_re_match_of(self, string, one)
            parts.append(__sp_re_new(repl(match)) if template is None else __sp_expand(match, template))
        return ("".join(parts) + rest, len(found))

    def __repr__(self):
        names = [name for bit, name in ((2, "IGNORECASE"), (8, "MULTILINE"), (16, "DOTALL"), (64, "VERBOSE"), (256, "ASCII")) if self.flags & bit]
        return "re.compile(" + repr(self.pattern) + "".join([("|" if idx else ", ") + "re." + name for idx, name in enumerate(names)]) + ")"


def __sp_re_new(text):
    if not isinstance(text, str):
        raise TypeError("expected str instance, " + type(text).__name__ + " found")
    return text


def __sp_re_one(pattern, name, string, pos, endpos):
    string = __sp_near(string)
    if __sp_is_handle(string):
        if pos != 0 or endpos is not None:
            raise ValueError("positions are not supported for a text of this size: search context[a:b]")
        return __sp_re_handle(string, name, pattern)
    if type(string) is str and (pos != 0 or endpos is not None or pattern.is_host_only):
        found = __sp_re_walk(pattern, string, pos, endpos, 1, name)[0]
        return __sp_re_match_of(pattern, string, found[0]) if found else None
    native = pattern.over(string)
    if name == "search":
        return native.search(string)
    return native.match(string) if name == "match" else native.fullmatch(string)


def __sp_re_walk(pattern, string, pos, endpos, n_max, how="search"):
    if endpos is not None:
        string = string[:max(endpos, 0)]
    return __sp_host_matches(pattern.pattern, pattern.given, string, n_max, how, max(pos, 0))


def __sp_re_match_of(pattern, string, found):
    return __sp_Match(found[1:], pattern, string)


def __sp_re_template(pattern, repl):
    if "\\" not in repl:
        return repl
    if repl not in pattern.templates:
        pattern.templates[repl] = __sp_host_template(pattern.pattern, pattern.given, repl)
    return pattern.templates[repl]


def __sp_re_handle(text, name, pattern, *rest):
    found = __sp_host_call(text, "re." + name, pattern.pattern, pattern.given, *rest)
    if name in ("search", "match", "fullmatch"):
        return None if found is None else __sp_Match(found, pattern, text)
    return found


def __sp_re_batches(text, pattern):
    made = __sp_Batches(text)
    __sp_host_batches(made, "re.finditer", (pattern.pattern, pattern.given), lambda found: __sp_Match(found, pattern, text))
    return made


def __sp_re_compile(pattern, flags=0):
    if type(pattern) is not str:
        if not isinstance(pattern, __sp_Pattern):
            raise TypeError("first argument must be string or compiled pattern")
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    key = (pattern, int(flags)) if flags else pattern
    found = __sp_patterns.get(key)
    if found is None:
        if len(__sp_patterns) >= 512:
            __sp_patterns.clear()
        found = __sp_Pattern(pattern, int(flags))
        __sp_patterns[key] = found
    return found


def __sp_re_search(pattern, string, flags=0):
    return __sp_re_compile(pattern, flags).search(string)


def __sp_re_match(pattern, string, flags=0):
    return __sp_re_compile(pattern, flags).match(string)


def __sp_re_fullmatch(pattern, string, flags=0):
    return __sp_re_compile(pattern, flags).fullmatch(string)


def __sp_re_findall(pattern, string, flags=0):
    return __sp_re_compile(pattern, flags).findall(string)


def __sp_re_finditer(pattern, string, flags=0):
    return __sp_re_compile(pattern, flags).finditer(string)


def __sp_re_split(pattern, string, maxsplit=0, flags=0):
    return __sp_re_compile(pattern, flags).split(string, maxsplit)


def __sp_re_sub(pattern, repl, string, count=0, flags=0):
    return __sp_re_compile(pattern, flags).sub(repl, string, count)


def __sp_re_subn(pattern, repl, string, count=0, flags=0):
    return __sp_re_compile(pattern, flags).subn(repl, string, count)


def __sp_load_re():
    return {
        "search": __sp_re_search,
        "match": __sp_re_match,
        "fullmatch": __sp_re_fullmatch,
        "findall": __sp_re_findall,
        "finditer": __sp_re_finditer,
        "split": __sp_re_split,
        "sub": __sp_re_sub,
        "subn": __sp_re_subn,
        "compile": __sp_re_compile,
        "escape": __sp_re.escape,
        "purge": lambda: __sp_patterns.clear(),
        "error": __sp_re.error,
        "PatternError": __sp_re.error,
        "Pattern": __sp_Pattern,
        "Match": __sp_re.Match,
        "I": __sp_re.I, "IGNORECASE": __sp_re.IGNORECASE, "M": __sp_re.M, "MULTILINE": __sp_re.MULTILINE,
        "S": __sp_re.S, "DOTALL": __sp_re.DOTALL, "A": __sp_re.A, "ASCII": __sp_re.ASCII,
        "X": 64, "VERBOSE": 64, "U": 32, "UNICODE": 32, "NOFLAG": 0, "L": 4, "LOCALE": 4,
    }


__sp_module("re", __sp_load_re)
