def __sp_literal_eval(text):
    if not isinstance(text, str):
        return text
    return __sp_Literal(text.strip()).whole()


class __sp_Literal:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def fail(self):
        raise ValueError("malformed node or string: " + repr(self.text[:80]))

    def space(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1

    def whole(self):
        if not self.text:
            raise SyntaxError("invalid syntax (<unknown>, line 0)")
        value = self.value()
        self.space()
        if self.text[self.at:self.at + 1] == ",":
            found = [value]
            while self.text[self.at:self.at + 1] == ",":
                self.at += 1
                self.space()
                if self.at < len(self.text):
                    found.append(self.value())
                    self.space()
            value = tuple(found)
        if self.at < len(self.text):
            raise SyntaxError("invalid syntax (<unknown>, line 1)")
        return value

    def value(self):
        self.space()
        char = self.text[self.at:self.at + 1]
        if char == "[":
            return self.items("]")
        if char == "(":
            return self.tuple()
        if char == "{":
            return self.braces()
        if char and (char in "'\"" or (char in "rRbBuU" and self.text[self.at + 1:self.at + 2] and self.text[self.at + 1] in "'\"")):
            value = self.string()
            self.space()
            while self.at < len(self.text) and self.text[self.at] in "'\"":
                value += self.string()
                self.space()
            return value
        for word, value in (("None", None), ("True", True), ("False", False)):
            if self.text[self.at:self.at + len(word)] == word and not (self.text[self.at + len(word):self.at + len(word) + 1] or " ").isalnum():
                self.at += len(word)
                return value
        if self.text[self.at:self.at + 5] == "set()":
            self.at += 5
            return set()
        return self.number()

    def number(self):
        start = self.at
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] in "._" or (self.text[self.at] in "+-" and (self.at == start or self.text[self.at - 1] in "eE"))):
            self.at += 1
        word = self.text[start:self.at]
        if not word:
            if self.at >= len(self.text):
                raise SyntaxError("unexpected EOF while parsing")
            raise SyntaxError("invalid syntax (<unknown>, line 1)")
        try:
            return int(word, 0)
        except ValueError:
            pass
        try:
            if word.lstrip("+-")[:1].isdigit() or word.lstrip("+-")[:1] == ".":
                return float(word)
        except ValueError:
            pass
        if word[:1].isdigit():
            raise SyntaxError("invalid decimal literal (<unknown>, line 1)")
        self.fail()

    def items(self, close):
        self.at += 1
        found = []
        while True:
            self.space()
            if self.text[self.at:self.at + 1] == close:
                self.at += 1
                return found
            if self.at >= len(self.text):
                raise SyntaxError("'" + {"]": "[", ")": "(", "}": "{"}[close] + "' was never closed (<unknown>, line 1)")
            found.append(self.value())
            self.space()
            if self.text[self.at:self.at + 1] == ",":
                self.at += 1
            elif self.text[self.at:self.at + 1] != close:
                raise SyntaxError("invalid syntax. Perhaps you forgot a comma? (<unknown>, line 1)")

    def tuple(self):
        start = self.at
        found = self.items(")")
        inner = self.text[start:self.at - 1].rstrip()
        if len(found) == 1 and not inner.endswith(","):
            return found[0]
        return tuple(found)

    def braces(self):
        self.at += 1
        self.space()
        if self.text[self.at:self.at + 1] == "}":
            self.at += 1
            return {}
        pairs = []
        keys = []
        while True:
            self.space()
            if self.text[self.at:self.at + 1] == "}":
                self.at += 1
                break
            if self.at >= len(self.text):
                raise SyntaxError("'{' was never closed (<unknown>, line 1)")
            key = self.value()
            self.space()
            if self.text[self.at:self.at + 1] == ":":
                self.at += 1
                pairs.append((key, self.value()))
            else:
                keys.append(key)
            self.space()
            if self.text[self.at:self.at + 1] == ",":
                self.at += 1
            elif self.text[self.at:self.at + 1] != "}":
                raise SyntaxError("invalid syntax (<unknown>, line 1)")
        return set(keys) if keys else dict(pairs)

    def string(self):
        start = self.at
        while self.text[self.at] not in "'\"":
            self.at += 1
        prefix = self.text[start:self.at].lower()
        quote = self.text[self.at]
        if self.text[self.at:self.at + 3] == quote * 3:
            quote = quote * 3
        self.at += len(quote)
        found = []
        while self.text[self.at:self.at + len(quote)] != quote:
            if self.at >= len(self.text) or (len(quote) == 1 and self.text[self.at] == "\n"):
                raise SyntaxError("unterminated string literal (detected at line 1) (<unknown>, line 1)")
            char = self.text[self.at]
            if char == "\\" and "r" not in prefix:
                char = self.escape()
            self.at += 1
            found.append(char)
        self.at += len(quote)
        text = "".join(found)
        return text.encode("latin-1") if "b" in prefix else text

    def escape(self):
        self.at += 1
        char = self.text[self.at:self.at + 1]
        if char in "01234567" and char:
            digits = char
            while len(digits) < 3 and self.text[self.at + 1:self.at + 2] and self.text[self.at + 1] in "01234567":
                self.at += 1
                digits += self.text[self.at]
            return chr(int(digits, 8))
        for letter, length in (("x", 2), ("u", 4), ("U", 8)):
            if char == letter:
                code = self.text[self.at + 1:self.at + 1 + length]
                self.at += length
                return chr(int(code, 16))
        return {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}.get(char, "\\" + char)


def __sp_no_ast(*args, **kwargs):
    raise NotImplementedError("ast has literal_eval only in this sandbox")


def __sp_load_ast():
    return {"literal_eval": __sp_literal_eval, "parse": __sp_no_ast, "walk": __sp_no_ast, "dump": __sp_no_ast, "unparse": __sp_no_ast}


__sp_module("ast", __sp_load_ast)
