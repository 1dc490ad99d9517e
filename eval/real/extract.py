"""Extractors: they compute a truth from the files of a task. Each fails the build if its result is ambiguous."""

import ast
import csv
import io
import json
import re
from collections import Counter

from sources import BuildError


class Folder:
    """The files of a corpus: path and text."""

    def __init__(self, name, files):
        self.name = name
        self.files = files
        self.trees = None

    def text(self, path):
        if path not in self.files:
            raise BuildError(f"corpus {self.name}: there is no file `{path}`")
        return self.files[path]

    def lines(self, path):
        return [line for line in self.text(path).splitlines() if line.strip()]

    def rows(self, path, delimiter=","):
        """The rows of a CSV or TSV file with a header, as dictionaries."""
        return list(csv.DictReader(io.StringIO(self.text(path)), delimiter=delimiter))

    def json(self, path):
        return json.loads(self.text(path))

    def json_lines(self, path):
        return [json.loads(line) for line in self.lines(path)]

    def zeek(self, path):
        """The rows of a Zeek log with tabs, as dictionaries."""
        fields = None
        rows = []
        for line in self.lines(path):
            if line.startswith("#fields"):
                fields = line.split("\t")[1:]
            elif not line.startswith("#"):
                rows.append(dict(zip(fields, line.split("\t"), strict=True)))
        return rows

    def all_text(self):
        return "\n".join(self.files.values())


def loose(pattern):
    """A pattern in which a space matches any white space, so that it also matches across wrapped lines."""
    return re.compile(pattern.replace(" ", r"\s+"))


def locate(folder, pattern, path=None):
    """Every match of a pattern in a corpus, or in one file: the path, the line number and the match."""
    found = []
    for name in [path] if path else sorted(folder.files):
        text = folder.text(name)
        for match in loose(pattern).finditer(text):
            found.append((name, text.count("\n", 0, match.start()) + 1, match))
    return found


def fact(folder, pattern, path, n_places=1):
    """The value of the only group of a pattern that matches in exactly `n_places` places of the corpus, all in `path`, with one value."""
    found = locate(folder, pattern)
    values = {re.sub(r"\s+", " ", match.group(1)).strip() for _, _, match in found}
    places = {name for name, _, _ in found}
    if len(found) != n_places or len(values) != 1 or (path and places != {path}):
        where = ", ".join(f"{name}:{line}" for name, line, _ in found[:6]) or "nowhere"
        raise BuildError(f"corpus {folder.name}: `{pattern}` matches {len(found)} times with {sorted(values)[:6]} ({where}), expected {n_places} in `{path}`")
    return values.pop()


def only(items):
    """The only item."""
    items = sorted(set(items))
    if len(items) != 1:
        raise BuildError(f"{len(items)} items instead of one: {items[:6]}")
    return items[0]


def most(items):
    """The most frequent item and how often it occurs; a tie is an error."""
    ranked = Counter(items).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        raise BuildError(f"no single most frequent item: {ranked}")
    return ranked[0]


def best(items, key, *, smallest=False):
    """The item with the largest (or smallest) key; a tie is an error."""
    ranked = sorted(items, key=key, reverse=not smallest)
    if len(ranked) > 1 and key(ranked[0]) == key(ranked[1]):
        raise BuildError(f"two items share the extreme value {key(ranked[0])}")
    return ranked[0]


def number(value, digits=None):
    """A number as text: rounded if `digits` is given, without a fraction if it is whole."""
    value = round(float(value), 12 if digits is None else digits)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if digits is None else f"{value:.{digits}f}"


# Python code.


def trees(folder):
    """The syntax trees of the Python files of a corpus, parsed once."""
    if folder.trees is None:
        folder.trees = {path: ast.parse(text) for path, text in folder.files.items() if path.endswith(".py")}
    return folder.trees


def functions(tree):
    """Every function of a tree with its qualified name."""
    found = []
    stack = [("", tree)]
    while stack:
        prefix, node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append((prefix + child.name, child))
                stack.append((f"{prefix}{child.name}.", child))
            elif isinstance(child, ast.ClassDef):
                stack.append((f"{prefix}{child.name}.", child))
            else:
                stack.append((prefix, child))
    return found


def defined_in(folder, name):
    """The only file that defines a function or class of that name."""
    found = []
    for path, tree in trees(folder).items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
                found.append(path)
    if len(found) != 1:
        raise BuildError(f"corpus {folder.name}: `{name}` is defined {len(found)} times: {found}")
    return found[0]


def function(folder, qualified):
    """The only function with that qualified name."""
    found = [node for tree in trees(folder).values() for name, node in functions(tree) if name == qualified]
    if len(found) != 1:
        raise BuildError(f"corpus {folder.name}: `{qualified}` is defined {len(found)} times")
    return found[0]


def default_of(folder, qualified, parameter):
    """The default of a parameter, as written."""
    arguments = function(folder, qualified).args
    plain = arguments.posonlyargs + arguments.args
    pairs = list(zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs += [(name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    found = [ast.unparse(value) for name, value in pairs if name.arg == parameter]
    return only(found)


def callers(folder, name):
    """The names of the functions whose body, without nested functions, calls `name` or `x.name`."""
    found = set()
    for tree in trees(folder).values():
        for qualified, node in functions(tree):
            stack = list(ast.iter_child_nodes(node))
            while stack:
                inner = stack.pop()
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    continue
                if isinstance(inner, ast.Call) and getattr(inner.func, "attr", getattr(inner.func, "id", None)) == name:
                    found.add(qualified)
                stack.extend(ast.iter_child_nodes(inner))
    return sorted(found)


def raised_by(folder, qualified):
    """The names of the exceptions in the `raise` statements of a function."""
    found = set()
    for node in ast.walk(function(folder, qualified)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            found.add(ast.unparse(raised).split(".")[-1])
    return sorted(found)


def subclasses(folder, base):
    """The classes that name `base` among their bases."""
    found = set()
    for tree in trees(folder).values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(one).split(".")[-1] == base for one in node.bases):
                found.add(node.name)
    return sorted(found)


def constant(folder, path, name):
    """The value of a module's or class's constant, as written."""
    found = []
    for node in ast.walk(ast.parse(folder.text(path))):
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            found.append(ast.unparse(node.value))
    return only(found)
