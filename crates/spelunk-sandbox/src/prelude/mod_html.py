def __sp_load_html():
    named = {
        "amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": "\xa0", "copy": "\xa9", "reg": "\xae", "trade": "\u2122",
        "hellip": "\u2026", "mdash": "\u2014", "ndash": "\u2013", "lsquo": "\u2018", "rsquo": "\u2019", "ldquo": "\u201c", "rdquo": "\u201d",
        "bull": "\u2022", "middot": "\xb7", "euro": "\u20ac", "pound": "\xa3", "yen": "\xa5", "cent": "\xa2", "deg": "\xb0", "times": "\xd7",
        "divide": "\xf7", "laquo": "\xab", "raquo": "\xbb", "eacute": "\xe9", "egrave": "\xe8", "agrave": "\xe0", "ccedil": "\xe7",
        "uuml": "\xfc", "ouml": "\xf6", "auml": "\xe4", "szlig": "\xdf", "Uuml": "\xdc", "Ouml": "\xd6", "Auml": "\xc4", "ntilde": "\xf1",
        "oacute": "\xf3", "aacute": "\xe1", "iacute": "\xed", "uacute": "\xfa", "rarr": "\u2192", "larr": "\u2190", "le": "\u2264", "ge": "\u2265", "ne": "\u2260",
    }

    def escape(text, quote=True):
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        if quote:
            text = text.replace('"', "&quot;").replace("'", "&#x27;")
        return text

    def unescape(text):
        if "&" not in text:
            return text
        parts = text.split("&")
        found = [parts[0]]
        for part in parts[1:]:
            name, semicolon, rest = part.partition(";")
            value = None
            if semicolon and name.startswith("#"):
                try:
                    value = chr(int(name[2:], 16) if name[1:2] in ("x", "X") else int(name[1:]))
                except ValueError:
                    value = None
            elif semicolon:
                value = named.get(name)
            found.append("&" + part if value is None else value + rest)
        return "".join(found)

    return {"escape": escape, "unescape": unescape}


__sp_module("html", __sp_load_html)
