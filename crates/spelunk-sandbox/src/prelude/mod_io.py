class __sp_StringIO:
    def __init__(self, text="", newline="\n"):
        self.text = "" if text is None else (__sp_str(text) if __sp_is_handle(text) else text)
        self.at = 0
        self.closed = False

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("string argument expected, got '" + type(text).__name__ + "'")
        self.text = self.text[:self.at] + text + self.text[self.at + len(text):] if self.at < len(self.text) else self.text + text
        self.at += len(text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def getvalue(self):
        return self.text

    def read(self, size=-1):
        stop = len(self.text) if size is None or size < 0 else min(len(self.text), self.at + size)
        found = self.text[self.at:stop]
        self.at = stop
        return found

    def readline(self, size=-1):
        stop = self.text.find("\n", self.at)
        stop = len(self.text) if stop < 0 else stop + 1
        found = self.text[self.at:stop]
        self.at = stop
        return found

    def readlines(self, hint=-1):
        found = []
        while self.at < len(self.text):
            found.append(self.readline())
        return found

    def seek(self, at, whence=0):
        self.at = at if whence == 0 else (len(self.text) + at if whence == 2 else self.at + at)
        return self.at

    def tell(self):
        return self.at

    def truncate(self, size=None):
        self.text = self.text[:self.at if size is None else size]
        return len(self.text)

    def flush(self):
        return None

    def close(self):
        self.closed = True

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.closed = True


class __sp_BytesIO:
    def __init__(self, data=b""):
        self.data = data
        self.at = 0

    def write(self, data):
        self.data = self.data[:self.at] + data + self.data[self.at + len(data):]
        self.at += len(data)
        return len(data)

    def getvalue(self):
        return self.data

    def read(self, size=-1):
        stop = len(self.data) if size is None or size < 0 else self.at + size
        found = self.data[self.at:stop]
        self.at += len(found)
        return found

    def seek(self, at, whence=0):
        self.at = at if whence == 0 else len(self.data) + at
        return self.at

    def tell(self):
        return self.at

    def close(self):
        return None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return None


def __sp_load_io():
    return {"StringIO": __sp_StringIO, "BytesIO": __sp_BytesIO, "open": open, "SEEK_SET": 0, "SEEK_CUR": 1, "SEEK_END": 2, "TextIOWrapper": __sp_Marker("TextIOWrapper"), "IOBase": __sp_Marker("IOBase")}


__sp_module("io", __sp_load_io)
