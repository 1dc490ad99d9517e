def __sp_load_string():
    lower = "abcdefghijklmnopqrstuvwxyz"
    upper = lower.upper()
    digits = "0123456789"
    punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    whitespace = " \t\n\r\x0b\x0c"

    class Template:
        def __init__(self, template):
            self.template = template

        def filled(self, values, is_safe):
            text = self.template
            found = []
            at = 0
            while at < len(text):
                char = text[at]
                if char != "$":
                    found.append(char)
                    at += 1
                    continue
                rest = text[at + 1:]
                if rest.startswith("$"):
                    found.append("$")
                    at += 2
                    continue
                name = ""
                if rest.startswith("{") and "}" in rest:
                    name = rest[1:].split("}")[0]
                    size = len(name) + 3
                else:
                    for one in rest:
                        if not (one.isalnum() or one == "_"):
                            break
                        name += one
                    size = len(name) + 1
                if name and name in values:
                    found.append(str(values[name]))
                elif name and not is_safe:
                    raise KeyError(name)
                elif not name and not is_safe:
                    raise ValueError("Invalid placeholder in string")
                else:
                    found.append(text[at:at + size])
                at += size
            return "".join(found)

        def substitute(self, mapping=None, **values):
            found = dict(mapping or {})
            found.update(values)
            return self.filled(found, False)

        def safe_substitute(self, mapping=None, **values):
            found = dict(mapping or {})
            found.update(values)
            return self.filled(found, True)

    class Formatter:
        def format(self, text, *args, **kwargs):
            return text.format(*args, **kwargs)

    def capwords(text, sep=None):
        return (sep or " ").join([word.capitalize() for word in text.split(sep)])

    return {
        "ascii_lowercase": lower, "ascii_uppercase": upper, "ascii_letters": lower + upper, "digits": digits,
        "hexdigits": "0123456789abcdefABCDEF", "octdigits": "01234567", "punctuation": punctuation, "whitespace": whitespace,
        "printable": digits + lower + upper + punctuation + whitespace, "Template": Template, "Formatter": Formatter, "capwords": capwords,
    }


__sp_module("string", __sp_load_string)
