def __sp_load_inspect():
    class Signature:
        def __init__(self, text):
            self.text = text
            inner = text[1:].split(")")[0]
            self.parameters = {part.split("=")[0].split(":")[0].strip().lstrip("*"): part.strip() for part in inner.split(",") if part.strip()}

        def __str__(self):
            return self.text

        def __repr__(self):
            return "<Signature " + self.text + ">"

    def signature(function):
        doc = __sp_doc_of(function)
        if doc and "(" in doc.split("\n")[0]:
            line = doc.split("\n")[0]
            return Signature(line[line.index("("):])
        return Signature("(...)")

    def getdoc(value):
        try:
            return __sp_attr(value, "__doc__")
        except AttributeError:
            return None

    def getsource(value):
        raise __sp_raise(OSError("could not get source code"))

    return {
        "signature": signature, "getdoc": getdoc, "getsource": getsource, "getmembers": lambda value, *rest: [(name, __sp_getattr(value, name, None)) for name in __sp_dir(value)],
        "isfunction": lambda value: str(type(value)) == "<class 'function'>", "isclass": __sp_is_type, "ismethod": lambda value: "bound method" in repr(value),
        "isbuiltin": lambda value: "builtin" in str(type(value)), "iscoroutine": lambda value: str(type(value)) == "<class 'coroutine'>",
        "isgenerator": lambda value: isinstance(value, __sp_Generator), "ismodule": lambda value: isinstance(value, __sp_Module), "iscoroutinefunction": lambda value: False,
        "isawaitable": lambda value: str(type(value)) == "<class 'coroutine'>", "currentframe": lambda: None, "stack": lambda: [], "cleandoc": lambda text: text.strip(),
        "Parameter": __sp_Marker("Parameter"),
    }


__sp_module("inspect", __sp_load_inspect)
