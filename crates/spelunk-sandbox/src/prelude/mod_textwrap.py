def __sp_load_textwrap():
    def pieces(text, break_on_hyphens):
        found = []
        word = ""
        for char in text:
            if char == " ":
                if word and not word.startswith(" "):
                    found.append(word)
                    word = ""
                word += char
            else:
                if word.startswith(" "):
                    found.append(word)
                    word = ""
                word += char
                if break_on_hyphens and char == "-" and len(word) > 1 and word[-2].isalpha():
                    found.append(word)
                    word = ""
        if word:
            found.append(word)
        return found

    def wrap(text, width=70, initial_indent="", subsequent_indent="", expand_tabs=True, replace_whitespace=True,
             fix_sentence_endings=False, break_long_words=True, drop_whitespace=True, break_on_hyphens=True, tabsize=8,
             max_lines=None, placeholder=" [...]"):
        if expand_tabs:
            text = text.expandtabs(tabsize)
        if replace_whitespace:
            for char in "\t\n\x0b\x0c\r":
                text = text.replace(char, " ")
        rest = pieces(text, break_on_hyphens)
        rest.reverse()
        lines = []
        while rest:
            indent = subsequent_indent if lines else initial_indent
            room = width - len(indent)
            if drop_whitespace and rest[-1].strip() == "" and lines:
                rest.pop()
            line = []
            used = 0
            while rest:
                size = len(rest[-1])
                if used + size > room:
                    break
                line.append(rest.pop())
                used += size
            if rest and len(rest[-1]) > room:
                space = max(1, room - used)
                if break_long_words:
                    word = rest.pop()
                    line.append(word[:space])
                    rest.append(word[space:])
                elif not line:
                    line.append(rest.pop())
            if drop_whitespace and line and line[-1].strip() == "":
                line.pop()
            if line:
                if max_lines is not None and len(lines) + 1 >= max_lines and any([word.strip() for word in rest]):
                    while line and len("".join(line)) + len(placeholder) > room:
                        line.pop()
                    lines.append(indent + "".join(line).rstrip() + placeholder if line else (lines.pop().rstrip() + placeholder if lines else placeholder.lstrip()))
                    return lines
                lines.append(indent + "".join(line))
        return lines

    def fill(text, width=70, **options):
        return "\n".join(wrap(text, width, **options))

    def shorten(text, width, **options):
        options["max_lines"] = 1
        return fill(" ".join(text.strip().split()), width, **options)

    def dedent(text):
        lines = text.split("\n")
        margin = None
        for line in lines:
            stripped = line.lstrip(" \t")
            if not stripped:
                continue
            indent = line[:len(line) - len(stripped)]
            if margin is None:
                margin = indent
            else:
                n = 0
                while n < len(margin) and n < len(indent) and margin[n] == indent[n]:
                    n += 1
                margin = margin[:n]
        margin = margin or ""
        return "\n".join([line[len(margin):] if line.strip(" \t") else "" for line in lines])

    def indent(text, prefix, predicate=None):
        found = []
        for line in text.splitlines(True):
            wanted = line.strip() if predicate is None else predicate(line)
            found.append((prefix if wanted else "") + line)
        return "".join(found)

    return {"wrap": wrap, "fill": fill, "shorten": shorten, "dedent": dedent, "indent": indent, "TextWrapper": __sp_TextWrapper}


class __sp_TextWrapper:
    def __init__(self, width=70, **options):
        self.width = width
        self.options = options

    def wrap(self, text):
        return __sp_loaded("textwrap").wrap(text, self.width, **self.options)

    def fill(self, text):
        return "\n".join(self.wrap(text))


__sp_module("textwrap", __sp_load_textwrap)
