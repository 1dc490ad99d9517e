"""A plugin of pytest that runs dspy's own tests with `spelunk.dspy.Interpreter` in place of its interpreter: see
docs/compatibility.md.

A test that looks into dspy's interpreter, or gives it options of Deno, is skipped where it does so. `REFERENCE_SANDBOX` names
another sandbox than the default.
"""

import inspect
import os
import sys

import dspy
import dspy.primitives.python_interpreter
import pytest

import spelunk.dspy

SETTINGS = {"ask.sandbox": os.environ["REFERENCE_SANDBOX"]} if "REFERENCE_SANDBOX" in os.environ else {}
THEIRS = dspy.PythonInterpreter


class Inside(type):
    def __getattr__(cls, name):
        if not hasattr(THEIRS, name):
            raise AttributeError(name)
        pytest.skip(f"inside of dspy's interpreter: {name}")


class Replaced(spelunk.dspy.Interpreter, metaclass=Inside):
    _tools_registered = True

    def __init__(self, tools=None, output_fields=None, callbacks=(), **options):
        if options:
            pytest.skip(f"options of Deno: {', '.join(options)}")
        super().__init__(tools, output_fields, settings=SETTINGS, callbacks=callbacks or ())

    def execute(self, code, variables=None):
        # Their fixture starts Deno once, and restores its variables after each test. A new session is as quick.
        if "import js" in code or "pyodide" in code:
            pytest.skip("modules of Pyodide")
        if "_pool_reset" in code:
            self._session, self._kept, self._has_ended = None, {}, False
            return None
        return super().execute(code, variables)

    __call__ = execute

    def __getattr__(self, name):
        if name == "deno_process":
            pytest.skip("inside of dspy's interpreter: deno_process")
        return getattr(type(self), name)


for module in list(sys.modules.values()):
    if getattr(module, "PythonInterpreter", None) is THEIRS:
        module.PythonInterpreter = Replaced
# The default of the module is bound already.
init = inspect.unwrap(dspy.RLM.__init__)
init.__defaults__ = tuple(Replaced if default is THEIRS else default for default in init.__defaults__)
