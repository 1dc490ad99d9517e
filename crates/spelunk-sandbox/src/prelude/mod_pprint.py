def __sp_load_pprint():
    def ordered(value):
        try:
            return sorted(value.items())
        except TypeError:
            return list(value.items())

    def plain(value, sort_dicts):
        if isinstance(value, dict):
            pairs = ordered(value) if sort_dicts else value.items()
            return "{" + ", ".join([plain(key, sort_dicts) + ": " + plain(one, sort_dicts) for key, one in pairs]) + "}"
        if isinstance(value, list):
            return "[" + ", ".join([plain(one, sort_dicts) for one in value]) + "]"
        if isinstance(value, tuple):
            return "(" + ", ".join([plain(one, sort_dicts) for one in value]) + ("," if len(value) == 1 else "") + ")"
        return repr(value)

    def text_lines(value, width):
        found = []
        rest = value.splitlines(True)
        for line in rest:
            if len(repr(line)) <= width:
                found.append(repr(line))
                continue
            current = ""
            for word in words(line):
                if current and len(repr(current + word)) > width:
                    found.append(repr(current))
                    current = word
                else:
                    current += word
            if current:
                found.append(repr(current))
        return found

    def words(line):
        found = []
        word = ""
        for char in line:
            if word and word[-1].isspace() and not char.isspace():
                found.append(word)
                word = ""
            word += char
        if word:
            found.append(word)
        return found

    def wide(value, indent, width, at, allowance, sort_dicts, depth):
        flat = plain(value, sort_dicts)
        if len(flat) + at + allowance <= width or not isinstance(value, (dict, list, tuple, set, str)) or not value:
            return flat
        if isinstance(value, str):
            lines = text_lines(value, width - at - (1 if depth else 0))
            if len(lines) <= 1:
                return flat
            text = ("\n" + " " * at).join(lines)
            return text if depth else "(" + ("\n" + " ").join(lines) + ")"
        step = at + indent
        pad = " " * (indent - 1)
        if isinstance(value, dict):
            pairs = ordered(value) if sort_dicts else list(value.items())
            found = []
            for idx, (key, one) in enumerate(pairs):
                head = repr(key) + ": "
                is_last = idx == len(pairs) - 1
                found.append(head + wide(one, indent, width, step + len(head), allowance + 1 if is_last else 1, sort_dicts, depth + 1))
            return "{" + pad + (",\n" + " " * step).join(found) + "}"
        items = sorted(value) if isinstance(value, set) else list(value)
        found = []
        for idx, one in enumerate(items):
            is_last = idx == len(items) - 1
            found.append(wide(one, indent, width, step, allowance + 1 if is_last else 1, sort_dicts, depth + 1))
        left, right = {"list": ("[", "]"), "tuple": ("(", ")"), "set": ("{", "}")}.get(type(value).__name__, ("[", "]"))
        return left + pad + (",\n" + " " * step).join(found) + ("," if isinstance(value, tuple) and len(value) == 1 else "") + right

    def pformat(value, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
        return wide(value, indent, width, 0, 0, sort_dicts, 0)

    def pprint(value, stream=None, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
        __sp_print(pformat(value, indent, width, sort_dicts=sort_dicts), file=stream)

    def pp(value, *args, sort_dicts=False, **options):
        pprint(value, *args, sort_dicts=sort_dicts, **options)

    return {"pformat": pformat, "pprint": pprint, "pp": pp, "PrettyPrinter": __sp_PrettyPrinter}


class __sp_PrettyPrinter:
    def __init__(self, indent=1, width=80, depth=None, stream=None, *, compact=False, sort_dicts=True):
        self.options = {"indent": indent, "width": width, "sort_dicts": sort_dicts}

    def pformat(self, value):
        return __sp_loaded("pprint").pformat(value, **self.options)

    def pprint(self, value):
        print(self.pformat(value))


__sp_module("pprint", __sp_load_pprint)
