# Records go where a cell's standard error goes: nowhere that is shown.

class __sp_Logger:
    def __init__(self, name="root"):
        self.name = name
        self.level = 30
        self.handlers = []
        self.propagate = True
        self.disabled = False

    def debug(self, *args, **kwargs):
        return None

    def info(self, *args, **kwargs):
        return None

    def warning(self, *args, **kwargs):
        return None

    def warn(self, *args, **kwargs):
        return None

    def error(self, *args, **kwargs):
        return None

    def exception(self, *args, **kwargs):
        return None

    def critical(self, *args, **kwargs):
        return None

    def log(self, *args, **kwargs):
        return None

    def setLevel(self, level):
        self.level = level

    def getEffectiveLevel(self):
        return self.level

    def isEnabledFor(self, level):
        return level >= self.level

    def addHandler(self, handler):
        self.handlers.append(handler)

    def removeHandler(self, handler):
        return None

    def hasHandlers(self):
        return bool(self.handlers)


class __sp_LogPart:
    def __init__(self, *args, **kwargs):
        return None

    def setLevel(self, level):
        return None

    def setFormatter(self, formatter):
        return None


def __sp_load_logging():
    root = __sp_Logger()
    loggers = {}

    def get_logger(name=None):
        if name is None:
            return root
        if name not in loggers:
            loggers[name] = __sp_Logger(name)
        return loggers[name]

    found = {name: __sp_ignore for name in ("debug", "info", "warning", "warn", "error", "exception", "critical", "log", "basicConfig", "disable", "captureWarnings")}
    found.update({
        "getLogger": get_logger, "Logger": __sp_Logger, "StreamHandler": __sp_LogPart, "FileHandler": __sp_LogPart,
        "Formatter": __sp_LogPart, "NullHandler": __sp_LogPart, "Handler": __sp_LogPart, "DEBUG": 10, "INFO": 20, "WARNING": 30, "WARN": 30,
        "ERROR": 40, "CRITICAL": 50, "NOTSET": 0, "root": root,
    })
    return found


__sp_module("logging", __sp_load_logging)
