"""A plugin of pytest that runs the reference engine's own tests against `spelunk.rlm`: see docs/compatibility.md.

A test that uses what is inside of that engine (its clients, environments, parsers) is skipped where it does so.
"""

import importlib.abc
import importlib.util
import os
import sys
from types import ModuleType

import pytest

import spelunk.rlm


class Inside:
    """Something of the reference engine that this one does not have."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *_, **__):
        pytest.skip(f"inside of the reference engine: {self._name}")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"inside of the reference engine: {self._name}.{name}")

    def __iter__(self):
        return iter(())  # The parameters of a test.

    def __mro_entries__(self, bases):
        return (type(self._name, (), {"__init__": lambda *_, **__: self()}),)


class Alias(ModuleType):
    """A module of the reference engine: the names of `spelunk.rlm`, and nothing behind the others."""

    def __getattr__(self, name):
        if name.startswith("__") and (self.__name__, name) != ("rlm", "__all__"):
            raise AttributeError(name)
        found = getattr(spelunk.rlm, name, None)
        # What is imported by the head of a file is not used by all of its tests.
        if found is None and "PYTEST_CURRENT_TEST" in os.environ:
            pytest.skip(f"inside of the reference engine: {self.__name__}.{name}")
        return found or Inside(name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self, is_package=True) if name.split(".")[0] == "rlm" else None

    def create_module(self, spec):
        return Alias(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())
