"""Reports this interpreter's program, its module path and the files it must be able to read. Runs once, before any cell."""
import json, os, sys

if sys.version_info < (3, 10):
    sys.exit("Python 3.10 or newer is needed, this is %d.%d" % sys.version_info[:2])
path = [os.path.realpath(entry) for entry in sys.path if entry and os.path.exists(entry)]
readable = []
for entry in path:
    if not os.path.isdir(entry):
        readable.append(entry)
        continue
    # A trailing slash allows listing a directory; the entries that may be read in it are named.
    readable.append(entry + "/")
    for name in os.listdir(entry):
        if name not in ("site-packages", "dist-packages", "__pycache__"):
            readable.append(os.path.join(entry, name))
    readable.append(os.path.join(entry, "__pycache__"))
# The loaded libraries show which directories contain libraries, including the dynamic loader's.
for module in ("_ctypes", "_ssl", "_sqlite3", "_bz2", "_lzma", "zlib", "unicodedata", "pyexpat"):
    try:
        __import__(module)
    except ImportError:
        pass
with open("/proc/self/maps") as maps:
    loaded = {line.split()[5] for line in maps if ".so" in line and line.split()[-1].startswith("/")}
for name in sorted(os.path.realpath(name) for name in loaded):
    directory = os.path.dirname(name)
    # A directory that overlaps the module path may also contain installed packages: only the library is named.
    overlaps_path = any(entry.startswith(directory + "/") or directory.startswith(entry) for entry in path)
    readable.append(name if overlaps_path else directory)
readable = list(dict.fromkeys(readable))
readable += ["/etc/ld.so.cache", "/usr/share/zoneinfo"]
if sys.argv[1] == "installed":
    import sysconfig
    for key in ("purelib", "platlib"):
        packages = os.path.realpath(sysconfig.get_path(key))
        if packages not in path:
            path.append(packages)
            readable.append(packages)
program = os.path.realpath(sys.executable)
readable.append(program)
print(json.dumps({"program": program, "path": path, "readable": readable}))
