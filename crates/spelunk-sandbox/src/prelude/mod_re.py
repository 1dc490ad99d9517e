# `re`: the interpreter's, with flags, arguments and callables that it does not take, and host objects as texts.

import re as __sp_re


def __sp_pattern(pattern, flags):
    flags = int(flags)
    if flags & 64:
        flags -= 64
        pattern = "(?x)" + pattern
    if flags & 32:
        flags -= 32
    return pattern, flags


def __sp_re_handle(text, name, pattern, flags, *rest):
    flags = int(flags)
    found = __sp_host_call(text, "re." + name, pattern, flags, *rest)
    if name in ("search", "match", "fullmatch"):
        return None if found is None else __sp_Match(found, __sp_re_compile(pattern, flags), text)
    return found


def __sp_re_batches(text, pattern, flags):
    made = __sp_Batches(text)
    compiled = __sp_re_compile(pattern, flags)
    __sp_host_batches(made, "re.finditer", (pattern, int(flags)), lambda found: __sp_Match(found, compiled, text))
    return __sp_Lazy(__sp_steps(made))


def __sp_re_function(name, native):
    def run(pattern, string, flags=0):
        if __sp_is_handle(string):
            pattern, flags = __sp_pattern_of(pattern, flags)
            return __sp_re_handle(string, name, pattern, flags)
        if flags:
            pattern, flags = __sp_pattern(pattern, flags)
            return native(pattern, string, flags)
        return native(pattern, string)
    return run


def __sp_pattern_of(pattern, flags):
    if isinstance(pattern, str):
        return pattern, flags
    return pattern.pattern, pattern.flags


def __sp_re_finditer(pattern, string, flags=0):
    if __sp_is_handle(string):
        pattern, flags = __sp_pattern_of(pattern, flags)
        return __sp_re_batches(string, pattern, flags)
    if flags:
        pattern, flags = __sp_pattern(pattern, flags)
        return __sp_re.finditer(pattern, string, flags)
    return __sp_re.finditer(pattern, string)


def __sp_re_split(pattern, string, maxsplit=0, flags=0):
    if __sp_is_handle(string):
        pattern, flags = __sp_pattern_of(pattern, flags)
        return __sp_re_handle(string, "split", pattern, flags, maxsplit)
    pattern, flags = __sp_pattern(pattern, flags) if flags else (pattern, 0)
    return __sp_re.split(pattern, string, maxsplit, flags) if flags else __sp_re.split(pattern, string, maxsplit)


def __sp_re_sub(pattern, repl, string, count=0, flags=0):
    return __sp_re_subn(pattern, repl, string, count, flags)[0]


def __sp_re_subn(pattern, repl, string, count=0, flags=0):
    if __sp_is_handle(string):
        pattern, flags = __sp_pattern_of(pattern, flags)
        if isinstance(repl, str):
            return __sp_re_handle(string, "subn", pattern, flags, repl, count)
        string = __sp_str(string)
    if flags:
        pattern, flags = __sp_pattern(pattern, flags)
    if isinstance(repl, str):
        text = __sp_re.sub(pattern, repl, string, count, flags) if flags else __sp_re.sub(pattern, repl, string, count)
        return __sp_Counted(text, pattern, string, count, flags).pair()
    found = []
    at = 0
    done = 0
    for match in (__sp_re.finditer(pattern, string, flags) if flags else __sp_re.finditer(pattern, string)):
        if count and done >= count:
            break
        found.append(string[at:match.start()])
        new = repl(match)
        if not isinstance(new, str):
            raise TypeError("expected str instance, " + type(new).__name__ + " found")
        found.append(new)
        at = match.end()
        done += 1
    found.append(string[at:])
    return "".join(found), done


class __sp_Counted:
    # The number of replacements is counted only if somebody asks.
    def __init__(self, text, pattern, string, count, flags):
        self.text = text
        self.made = (pattern, string, count, flags)

    def pair(self):
        return (self.text, self)

    def number(self):
        pattern, string, count, flags = self.made
        found = len(list(__sp_re.finditer(pattern, string, flags) if flags else __sp_re.finditer(pattern, string)))
        return min(found, count) if count else found


def __sp_re_subn_pair(pattern, repl, string, count=0, flags=0):
    text, done = __sp_re_subn(pattern, repl, string, count, flags)
    return (text, done.number() if isinstance(done, __sp_Counted) else done)


def __sp_re_compile(pattern, flags=0):
    if not isinstance(pattern, str):
        return pattern
    pattern, flags = __sp_pattern(pattern, flags)
    return __sp_re.compile(pattern, flags) if flags else __sp_re.compile(pattern)


def __sp_pattern_call(pattern, name, *args, **kwargs):
    # A method of a compiled pattern, where the text may be a host object or there are more arguments.
    if len(args) == 1 and type(args[0]) is str and not kwargs and not isinstance(pattern, str):
        if name == "search":
            return pattern.search(args[0])
        if name == "match":
            return pattern.match(args[0])
        if name == "findall":
            return pattern.findall(args[0])
    if isinstance(pattern, str) or not hasattr(pattern, "pattern"):
        if name == "split":
            return pattern.split(*args, **kwargs)
        if name == "search":
            return pattern.search(*args, **kwargs)
        if name == "match":
            return pattern.match(*args, **kwargs)
        if name == "findall":
            return pattern.findall(*args, **kwargs)
        if name == "finditer":
            return pattern.finditer(*args, **kwargs)
        if name == "fullmatch":
            return pattern.fullmatch(*args, **kwargs)
        if name == "subn":
            return pattern.subn(*args, **kwargs)
        return pattern.sub(*args, **kwargs)
    if name == "sub":
        return __sp_re_sub(pattern, *args, **kwargs)
    if name == "subn":
        return __sp_re_subn_pair(pattern, *args, **kwargs)
    if name == "split":
        return __sp_re_split(pattern, *args, **kwargs)
    text = args[0] if args else kwargs["string"]
    if __sp_is_handle(text):
        if name == "finditer":
            return __sp_re_batches(text, pattern.pattern, pattern.flags)
        return __sp_re_handle(text, name, pattern.pattern, pattern.flags)
    start = args[1] if len(args) > 1 else kwargs.get("pos", 0)
    stop = args[2] if len(args) > 2 else kwargs.get("endpos", len(text))
    if start == 0 and stop >= len(text):
        if name == "search":
            return pattern.search(text)
        if name == "match":
            return pattern.match(text)
        if name == "fullmatch":
            return pattern.fullmatch(text)
        if name == "findall":
            return pattern.findall(text)
        return pattern.finditer(text)
    text = text[:stop]
    found = [match for match in pattern.finditer(text) if match.start() >= start]
    if name == "finditer":
        return iter(found)
    if name == "findall":
        return [(match.groups() if len(match.groups()) > 1 else (match.group(1) if match.groups() else match.group())) for match in found]
    if name == "search":
        return found[0] if found else None
    found = [match for match in found if match.start() == start and (name == "match" or match.end() == len(text))]
    return found[0] if found else None


def __sp_load_re():
    return {
        "search": __sp_re_function("search", __sp_re.search),
        "match": __sp_re_function("match", __sp_re.match),
        "fullmatch": __sp_re_function("fullmatch", __sp_re.fullmatch),
        "findall": __sp_re_function("findall", __sp_re.findall),
        "finditer": __sp_re_finditer,
        "split": __sp_re_split,
        "sub": __sp_re_sub,
        "subn": __sp_re_subn_pair,
        "compile": __sp_re_compile,
        "escape": __sp_re.escape,
        "purge": lambda: None,
        "error": __sp_re.error,
        "PatternError": __sp_re.error,
        "Pattern": __sp_re.Pattern,
        "Match": __sp_re.Match,
        "I": __sp_re.I, "IGNORECASE": __sp_re.IGNORECASE, "M": __sp_re.M, "MULTILINE": __sp_re.MULTILINE,
        "S": __sp_re.S, "DOTALL": __sp_re.DOTALL, "A": __sp_re.A, "ASCII": __sp_re.ASCII,
        "X": 64, "VERBOSE": 64, "U": 32, "UNICODE": 32, "NOFLAG": 0, "L": 4, "LOCALE": 4,
    }


__sp_module("re", __sp_load_re)
