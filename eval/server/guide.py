"""A guide: which bytes may come next in a reply that must be JSON of a given schema.

A state is a tuple of the parts that remain; a byte replaces the first part by the rest of
it. If a schema leaves a choice, several states exist in parallel. White space is bounded,
so that a weak model cannot fill its reply with it.
"""

import json

STATES_MAX = 64
SPACE_MAX = 24
DEPTH_MAX = 12
DIGITS_MAX = 20
SPACE = b" \n\t\r"


class Part:
    """A part of a state: `step` returns the tuples that may replace it after a byte."""

    nullable = False

    def step(self, byte):
        raise NotImplementedError


def step(state, byte):
    """The states that follow a state after one byte."""
    found = []
    for at, part in enumerate(state):
        rest = state[at + 1 :]
        found.extend(new + rest for new in part.step(byte))
        if not part.nullable:
            break
    return found


class Lit(Part):
    def __init__(self, text):
        self.text = text

    def step(self, byte):
        if self.text[0] != byte:
            return []
        return [(Lit(self.text[1:]),)] if len(self.text) > 1 else [()]


class Space(Part):
    nullable = True

    def __init__(self, left=SPACE_MAX):
        self.left = left

    def step(self, byte):
        return [(Space(self.left - 1),)] if byte in SPACE and self.left > 0 else []


class Body(Part):
    """The contents of a string and its closing quote; `hex_left` counts the remaining digits of an escape."""

    def __init__(self, escape=False, hex_left=0):
        self.escape = escape
        self.hex_left = hex_left

    def step(self, byte):
        if self.hex_left:
            return [(Body(hex_left=self.hex_left - 1),)] if byte in b"0123456789abcdefABCDEF" else []
        if self.escape:
            if byte == 0x75:
                return [(Body(hex_left=4),)]
            return [(Body(),)] if byte in b'"\\/bfnrt' else []
        if byte == 0x22:
            return [()]
        if byte == 0x5C:
            return [(Body(escape=True),)]
        return [(Body(),)] if byte >= 0x20 else []


class Number(Part):
    """The rest of a number, from one of its phases."""

    def __init__(self, whole, phase="start", left=DIGITS_MAX):
        self.whole = whole
        self.phase = phase
        self.left = left
        self.nullable = phase in ("zero", "digits", "fraction", "power")

    def step(self, byte):
        digit = 0x30 <= byte <= 0x39 and self.left > 0
        to = None
        if self.phase in ("start", "minus"):
            if byte == 0x2D and self.phase == "start":
                to = "minus"
            elif digit:
                to = "zero" if byte == 0x30 else "digits"
        elif self.phase in ("zero", "digits"):
            if digit and self.phase == "digits":
                to = "digits"
            elif byte == 0x2E and not self.whole:
                to = "point"
            elif byte in b"eE" and not self.whole:
                to = "exponent"
        elif self.phase in ("point", "fraction"):
            to = "fraction" if digit else "exponent" if byte in b"eE" and self.phase == "fraction" else None
        elif self.phase == "exponent":
            to = "power" if digit else "sign" if byte in b"+-" else None
        elif digit:
            to = "power"
        return [(Number(self.whole, to, self.left - 1),)] if to else []


class Choice(Part):
    def __init__(self, options):
        self.options = options

    def step(self, byte):
        return [new for option in self.options for new in step(option, byte)]


class Members(Part):
    """The rest of an object, with its closing brace. Known names are in the schema's order."""

    def __init__(self, maker, names, required, first=True):
        self.maker = maker
        self.names = names
        self.required = required
        self.first = first

    def step(self, byte):
        comma = () if self.first else (Lit(b","), Space())
        options = []
        for at, (name, schema) in enumerate(self.names):
            after = Members(self.maker, self.names[at + 1 :], self.required, False)
            key = Lit(json.dumps(name).encode())
            options.append((Space(), *comma, key, Space(), Lit(b":"), Space(), self.maker.part(schema), after))
            if name in self.required:
                break
        else:
            options.append((Space(), Lit(b"}")))
        return Choice(options).step(byte)


class FreeMembers(Part):
    """The rest of an object with any names."""

    def __init__(self, value, first=True):
        self.value = value
        self.first = first

    def step(self, byte):
        comma = () if self.first else (Lit(b","), Space())
        member = (Space(), *comma, Lit(b'"'), Body(), Space(), Lit(b":"), Space(), self.value)
        return Choice([(Space(), Lit(b"}")), (*member, FreeMembers(self.value, False))]).step(byte)


class Items(Part):
    """The rest of an array, with its closing bracket."""

    def __init__(self, value, least, most, count=0):
        self.value = value
        self.least = least
        self.most = most
        self.count = count

    def step(self, byte):
        options = [(Space(), Lit(b"]"))] if self.count >= self.least else []
        if self.most is None or self.count < self.most:
            comma = (Lit(b","), Space()) if self.count else ()
            options.append((Space(), *comma, self.value, Items(self.value, self.least, self.most, self.count + 1)))
        return Choice(options).step(byte)


class Lazy(Part):
    """A schema that is expanded only when it is reached, so that schemas may be recursive."""

    def __init__(self, maker, schema, depth):
        self.maker = maker
        self.schema = schema
        self.depth = depth

    def step(self, byte):
        return Choice(self.maker.options(self.schema, self.depth)).step(byte)


class Maker:
    """Turns parts of a schema into parts of a state."""

    def __init__(self, root):
        self.root = root

    def part(self, schema, depth=0):
        return Lazy(self, schema, depth)

    def resolve(self, schema):
        for _ in range(8):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            target = self.root
            for name in schema["$ref"].lstrip("#/").split("/"):
                target = target.get(name, {}) if isinstance(target, dict) else {}
            schema = target
        return schema if isinstance(schema, dict) else {}

    def options(self, schema, depth):
        """The alternative forms of a value of this schema."""
        if depth > DEPTH_MAX:
            return [(Lit(b"null"),)]
        schema = self.resolve(schema)
        for name in ("anyOf", "oneOf", "allOf"):
            if isinstance(schema.get(name), list) and schema[name]:
                parts = schema[name][:1] if name == "allOf" else schema[name]
                return [(self.part(part, depth + 1),) for part in parts]
        if "const" in schema:
            return [(Lit(json.dumps(schema["const"]).encode()),)]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return [(Lit(json.dumps(value, ensure_ascii=False).encode()),) for value in schema["enum"]]
        kinds = schema.get("type") or ("object" if "properties" in schema else None)
        kinds = kinds if isinstance(kinds, list) else [kinds] if kinds else list(KINDS)
        return [option for kind in kinds if kind in KINDS for option in self._kind(kind, schema, depth + 1)]

    def _kind(self, kind, schema, depth):
        if kind == "object":
            names = schema.get("properties")
            if isinstance(names, dict) and names:
                return [(Lit(b"{"), Members(self, list(names.items()), set(schema.get("required") or ())))]
            extra = schema.get("additionalProperties")
            return [(Lit(b"{"), FreeMembers(self.part(extra if isinstance(extra, dict) else {}, depth)))]
        if kind == "array":
            value = self.part(schema.get("items", {}), depth)
            return [(Lit(b"["), Items(value, schema.get("minItems", 0), schema.get("maxItems")))]
        return [SIMPLE[kind]] if kind in SIMPLE else [(Lit(b"true"),), (Lit(b"false"),)]


SIMPLE = {
    "string": (Lit(b'"'), Body()),
    "number": (Number(False),),
    "integer": (Number(True),),
    "null": (Lit(b"null"),),
}
KINDS = ("object", "array", "string", "number", "boolean", "null", "integer")


class Guide:
    """The states of one reply."""

    def __init__(self, schema):
        self.states = [(Space(4), Maker(schema).part(schema))]
        self.broken = False

    def _after(self, piece):
        """The states after some bytes. An invalid schema turns the guide off."""
        if self.broken:
            return self.states
        try:
            return self._walk(piece)
        except (TypeError, AttributeError, ValueError, KeyError, RecursionError):
            self.broken = True
            return self.states

    def _walk(self, piece):
        states = self.states
        for byte in piece:
            states = [new for state in states for new in step(state, byte)][:STATES_MAX]
            if not states:
                break
        return states

    def allows(self, piece):
        return bool(self._after(piece))

    def advance(self, piece):
        self.states = self._after(piece)

    def complete(self):
        return self.broken or any(all(part.nullable for part in state) for state in self.states)


def from_format(response_format):
    """The guide for a request's `response_format`, or `None`."""
    if not isinstance(response_format, dict):
        return None
    if response_format.get("type") == "json_object":
        return Guide({"type": "object"})
    if response_format.get("type") == "json_schema":
        named = response_format.get("json_schema")
        schema = named.get("schema") if isinstance(named, dict) else None
        return Guide(schema if isinstance(schema, dict) else {"type": "object"})
    return None
