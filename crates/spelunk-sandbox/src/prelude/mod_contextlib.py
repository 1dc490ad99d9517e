class __sp_Managed:
    def __init__(self, generator):
        self.generator = generator

    def __enter__(self):
        return self.generator.send(None)

    def __exit__(self, kind, error, traceback):
        if error is None:
            try:
                self.generator.send(None)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.generator.throw(__sp_caught(error))
        except StopIteration:
            return True
        raise RuntimeError("generator didn't stop after throw()")

    def __call__(self, function):
        def run(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return run


def __sp_contextmanager(function):
    def make(*args, **kwargs):
        return __sp_Managed(function(*args, **kwargs))
    return make


class __sp_Suppress:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        return None

    def __exit__(self, kind, error, traceback):
        return error is not None and __sp_is_caught(__sp_caught(error), self.kinds)


class __sp_Closing:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, kind, error, traceback):
        self.value.close()


class __sp_NullContext:
    def __init__(self, value=None):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, kind, error, traceback):
        return None


class __sp_ExitStack:
    def __init__(self):
        self.callbacks = []

    def enter_context(self, manager):
        value = manager.__enter__()
        self.callbacks.append(lambda: manager.__exit__(None, None, None))
        return value

    def callback(self, function, *args, **kwargs):
        self.callbacks.append(lambda: function(*args, **kwargs))

    def close(self):
        while self.callbacks:
            self.callbacks.pop()()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.close()


class __sp_Redirect:
    def __init__(self, out):
        self.out = out

    def __enter__(self):
        raise NotImplementedError("output cannot be redirected here; collect the text in a list and print it at the end")

    def __exit__(self, kind, error, traceback):
        return None


def __sp_load_contextlib():
    return {
        "contextmanager": __sp_contextmanager, "asynccontextmanager": __sp_contextmanager, "suppress": __sp_Suppress,
        "closing": __sp_Closing, "nullcontext": __sp_NullContext, "ExitStack": __sp_ExitStack, "redirect_stdout": __sp_Redirect,
        "redirect_stderr": __sp_NullContext, "AbstractContextManager": __sp_Marker("AbstractContextManager"),
        "ContextDecorator": __sp_Marker("ContextDecorator"),
    }


__sp_module("contextlib", __sp_load_contextlib)
