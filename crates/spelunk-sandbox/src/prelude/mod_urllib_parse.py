def __sp_load_urlparse():
    import collections
    safe_always = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~"

    def quote(text, safe="/", encoding=None, errors=None):
        found = []
        for byte in (text if isinstance(text, bytes) else text.encode("utf-8")):
            char = chr(byte)
            found.append(char if char in safe_always or char in safe else "%%%02X" % byte)
        return "".join(found)

    def quote_plus(text, safe=""):
        return quote(text, safe + " ").replace(" ", "+")

    def unquote(text, encoding="utf-8", errors="replace"):
        if "%" not in text:
            return text
        parts = text.split("%")
        found = [parts[0]]
        raw = ""
        for part in parts[1:]:
            code = part[:2]
            if len(code) == 2 and all([char in "0123456789abcdefABCDEF" for char in code]):
                raw += code
                if len(part) > 2:
                    found.append(bytes.fromhex(raw).decode("utf-8", "replace"))
                    raw = ""
                    found.append(part[2:])
            else:
                if raw:
                    found.append(bytes.fromhex(raw).decode("utf-8", "replace"))
                    raw = ""
                found.append("%" + part)
        if raw:
            found.append(bytes.fromhex(raw).decode("utf-8", "replace"))
        return "".join(found)

    def unquote_plus(text):
        return unquote(text.replace("+", " "))

    def parse_qsl(text, keep_blank_values=False):
        found = []
        for pair in text.replace(";", "&").split("&"):
            if not pair:
                continue
            name, _, value = pair.partition("=")
            if value or keep_blank_values:
                found.append((unquote_plus(name), unquote_plus(value)))
        return found

    def parse_qs(text, keep_blank_values=False):
        found = {}
        for name, value in parse_qsl(text, keep_blank_values):
            found.setdefault(name, []).append(value)
        return found

    def urlencode(query, doseq=False, safe=""):
        pairs = query.items() if isinstance(query, dict) else query
        found = []
        for name, value in pairs:
            values = value if doseq and isinstance(value, (list, tuple)) else [value]
            for one in values:
                found.append(quote_plus(str(name), safe) + "=" + quote_plus(str(one), safe))
        return "&".join(found)

    class Parts:
        def __init__(self, scheme, netloc, path, params, query, fragment, kind):
            self.scheme, self.netloc, self.path, self.params = scheme, netloc, path, params
            self.query, self.fragment, self.kind = query, fragment, kind
            host = netloc.rpartition("@")[2]
            user = netloc.rpartition("@")[0]
            self.username = user.partition(":")[0] or None
            self.password = user.partition(":")[2] or None
            name, colon, port = host.partition(":")
            self.hostname = name.lower() or None
            self.port = int(port) if port else None

        def fields(self):
            if self.kind == "SplitResult":
                return (self.scheme, self.netloc, self.path, self.query, self.fragment)
            return (self.scheme, self.netloc, self.path, self.params, self.query, self.fragment)

        def __getitem__(self, idx):
            return self.fields()[idx]

        def __iter__(self):
            return iter(self.fields())

        def geturl(self):
            return urlunparse((self.scheme, self.netloc, self.path, self.params, self.query, self.fragment))

        def _replace(self, **new):
            old = {"scheme": self.scheme, "netloc": self.netloc, "path": self.path, "params": self.params, "query": self.query, "fragment": self.fragment}
            old.update(new)
            return Parts(old["scheme"], old["netloc"], old["path"], old["params"], old["query"], old["fragment"], self.kind)

        def __repr__(self):
            names = ["scheme", "netloc", "path"] + ([] if self.kind == "SplitResult" else ["params"]) + ["query", "fragment"]
            return self.kind + "(" + ", ".join([name + "=" + repr(getattr(self, name)) for name in names]) + ")"

    def split(url, kind):
        scheme = ""
        head, colon, rest = url.partition(":")
        if colon and head and head[0].isalpha() and all([char.isalnum() or char in "+-." for char in head]):
            scheme, url = head.lower(), rest
        netloc = ""
        if url.startswith("//"):
            rest = url[2:]
            stop = min([rest.find(char) for char in "/?#" if char in rest] + [len(rest)])
            netloc, url = rest[:stop], rest[stop:]
        url, _, fragment = url.partition("#")
        url, _, query = url.partition("?")
        params = ""
        if kind == "ParseResult" and ";" in url.rpartition("/")[2]:
            at = url.rfind(";")
            url, params = url[:at], url[at + 1:]
        return Parts(scheme, netloc, url, params, query, fragment, kind)

    def urlunparse(parts):
        scheme, netloc, path, params, query, fragment = tuple(parts)
        url = path + (";" + params if params else "")
        if netloc or (scheme in ("http", "https", "ftp", "file") and path.startswith("//")):
            url = "//" + netloc + ("/" if url and not url.startswith("/") else "") + url
        return (scheme + ":" if scheme else "") + url + ("?" + query if query else "") + ("#" + fragment if fragment else "")

    def urljoin(base, url, allow_fragments=True):
        if not base or not url:
            return url or base
        new, old = split(url, "SplitResult"), split(base, "SplitResult")
        if new.scheme and new.scheme != old.scheme:
            return url
        if new.netloc:
            return urlunparse((old.scheme, new.netloc, new.path, "", new.query, new.fragment))
        if not new.path:
            return urlunparse((old.scheme, old.netloc, old.path, "", new.query or old.query, new.fragment))
        path = new.path if new.path.startswith("/") else old.path.rpartition("/")[0] + "/" + new.path
        found = []
        for part in path.split("/"):
            if part == "..":
                if len(found) > 1:
                    found.pop()
            elif part != ".":
                found.append(part)
        if path.endswith(("/.", "/..")):
            found.append("")
        return urlunparse((old.scheme, old.netloc, "/".join(found), "", new.query, new.fragment))

    return {
        "quote": quote, "quote_plus": quote_plus, "unquote": unquote, "unquote_plus": unquote_plus, "parse_qs": parse_qs,
        "parse_qsl": parse_qsl, "urlencode": urlencode, "urlparse": lambda url, *rest: split(url, "ParseResult"),
        "urlsplit": lambda url, *rest: split(url, "SplitResult"), "urlunparse": urlunparse, "urljoin": urljoin,
        "urlunsplit": lambda parts: urlunparse((parts[0], parts[1], parts[2], "", parts[3], parts[4])),
        "urldefrag": lambda url: (url.partition("#")[0], url.partition("#")[2]),
    }


__sp_module("urllib.parse", __sp_load_urlparse)
