import json as __sp_json


def __sp_json_plain(value, default):
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if __sp_is_handle(value):
        return __sp_host_call(value, "__str__")
    if isinstance(value, dict):
        return {(key if isinstance(key, (str, int, float, bool)) or key is None else key): __sp_json_plain(one, default) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [__sp_json_plain(one, default) for one in value]
    if type(value) in __sp_infos and hasattr(value, "value") and hasattr(value, "_name_") and isinstance(value.value, (int, str)):
        return value.value
    if isinstance(value, __sp_Ordered):
        return __sp_json_plain(dict(value.items()), default)
    if default is not None:
        return __sp_json_plain(default(value), default)
    return value


def __sp_json_dumps(value, *, default=None, cls=None, **options):
    if cls is not None and default is None:
        encoder = cls()
        default = encoder.default
    options.pop("check_circular", None)
    if default is not None or __sp_infos:
        value = __sp_json_plain(value, default)
    return __sp_json.dumps(value, **options)


def __sp_json_dump(value, file, **options):
    file.write(__sp_json_dumps(value, **options))


def __sp_json_loads(text, *, object_hook=None, object_pairs_hook=None, parse_float=None, parse_int=None, strict=True, cls=None, parse_constant=None):
    found = __sp_json.loads(__sp_str(text) if __sp_is_handle(text) else text)
    if object_pairs_hook is not None:
        return __sp_json_hooked(found, lambda made: object_pairs_hook(list(made.items())))
    return found if object_hook is None else __sp_json_hooked(found, object_hook)


def __sp_json_hooked(value, hook):
    if isinstance(value, list):
        return [__sp_json_hooked(one, hook) for one in value]
    if isinstance(value, dict):
        return hook({key: __sp_json_hooked(one, hook) for key, one in value.items()})
    return value


def __sp_json_load(file, **options):
    return __sp_json_loads(file.read(), **options)


class __sp_JSONEncoder:
    def __init__(self, **options):
        self.options = options

    def default(self, value):
        raise TypeError("Object of type " + type(value).__name__ + " is not JSON serializable")

    def encode(self, value):
        return __sp_json_dumps(value, default=self.default, **self.options)


class __sp_JSONDecoder:
    def __init__(self, **options):
        self.options = options

    def decode(self, text):
        return __sp_json_loads(text, **self.options)

    def raw_decode(self, text, idx=0):
        end = idx
        depth = 0
        in_text = False
        while end < len(text):
            char = text[end]
            if in_text:
                if char == "\\":
                    end += 1
                elif char == '"':
                    in_text = False
            elif char == '"':
                in_text = True
            elif char in "[{":
                depth += 1
            elif char in "]}":
                depth -= 1
            end += 1
            if depth <= 0 and not in_text and (end >= len(text) or char in '"]}' or text[end] in " \n\t\r,]}"):
                break
        return (__sp_json_loads(text[idx:end]), end)


def __sp_load_json():
    return {
        "dumps": __sp_json_dumps, "dump": __sp_json_dump, "loads": __sp_json_loads, "load": __sp_json_load,
        "JSONDecodeError": __sp_json.JSONDecodeError, "JSONEncoder": __sp_JSONEncoder, "JSONDecoder": __sp_JSONDecoder,
        "decoder": __sp_Module("json.decoder", {"JSONDecodeError": __sp_json.JSONDecodeError, "JSONDecoder": __sp_JSONDecoder}),
    }


__sp_module("json", __sp_load_json)
