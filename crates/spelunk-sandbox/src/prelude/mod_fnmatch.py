def __sp_load_fnmatch():
    import re

    def translate(pattern):
        found = ""
        at = 0
        while at < len(pattern):
            char = pattern[at]
            if char == "*":
                found += ".*"
            elif char == "?":
                found += "."
            elif char == "[" and "]" in pattern[at + 1:]:
                stop = pattern.index("]", at + 1)
                inner = pattern[at + 1:stop]
                found += "[" + ("^" + inner[1:] if inner.startswith("!") else inner) + "]"
                at = stop
            else:
                found += re.escape(char)
            at += 1
        return "(?s:" + found + r")\Z"

    def fnmatchcase(name, pattern):
        return re.match(translate(pattern), name) is not None

    return {"translate": translate, "fnmatch": fnmatchcase, "fnmatchcase": fnmatchcase, "filter": lambda names, pattern: [name for name in names if fnmatchcase(name, pattern)]}


__sp_module("fnmatch", __sp_load_fnmatch)
