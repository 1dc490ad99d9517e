"""Real logs: a web server's, those of many daemons, a network monitor's with tabs and as JSON lines, a project's releases."""

import re

from extract import best, most, number, only
from model import Task

COMBINED = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+) [^"]*" (\d+) (\d+|-) "([^"]*)" "([^"]*)"')


def add_to(tasks):
    for slug, corpus, question, truth, how, *rest in TASKS:
        tasks.add(Task("logs", slug, corpus, question, truth, how=how, **(rest[0] if rest else {})))


def web(f):
    """Host, time, method, path, status, bytes, referrer, browser of each request."""
    rows = [COMBINED.match(line) for line in f.lines("access.log")]
    assert all(rows)
    return [row.groups() for row in rows]


def sshd(f, pattern):
    return [match for line in f.lines("logs/sshd.log") if (match := re.search(pattern, line))]


def conn(f):
    return f.zeek("conn.log")


def releases(f):
    """Version and date of each release, the newest first."""
    return re.findall(r"^\[(\d+\.\d+\.\d+)\]\(\S+\) - (\d{4}-\d{2}-\d{2})$", f.text("CHANGELOG.md"), re.M)


N = {"noun": "number"}

TASKS = [
    # One web server, four minutes.
    ("web-404", "web-log", "How many requests were answered with 404?",
     lambda f: number(sum(row[4] == "404" for row in web(f))), "number", N),
    ("web-busiest", "web-log", "Which client sent the most requests?",
     lambda f: most(row[0] for row in web(f))[0], "exact", {"noun": "host name"}),
    ("web-hosts", "web-log", "How many distinct client hosts are there in the access log?",
     lambda f: number(len({row[0] for row in web(f)})), "number", N),
    ("web-bytes", "web-log", "Wie viele Bytes hat der Server insgesamt ausgeliefert?",
     lambda f: number(sum(int(row[5]) for row in web(f) if row[5] != "-")), "number", {"language": "de"}),
    ("web-page", "web-log", "What is the most requested path?",
     lambda f: most(row[3] for row in web(f))[0], "exact", {"noun": "path"}),
    ("web-head", "web-log", "Apart from GET, which HTTP method occurs?",
     lambda f: only(row[2] for row in web(f) if row[2] != "GET"), "exact", {"noun": "method"}),
    ("web-minute", "web-log", "In which minute did the server get the most requests? Write it as HH:MM.",
     lambda f: most(row[1][12:17] for row in web(f))[0], "exact", {"plain": True}),
    ("web-first-404", "web-log", "Which path was the first that could not be found (status 404)?",
     lambda f: [row[3] for row in web(f) if row[4] == "404"][0], "exact", {"noun": "path"}),
    ("web-redirects", "web-log", "¿Cuántas respuestas con código 302 hay en el registro?",
     lambda f: number(sum(row[4] == "302" for row in web(f))), "number", {"language": "es"}),
    ("web-firefox", "web-log", "How many requests came from a browser that calls itself Firefox?",
     lambda f: number(sum("Firefox" in row[7] for row in web(f))), "number", N),
    # Many daemons, one file each.
    ("ssh-failed", "ssh-logs", "In logs/sshd.log, how many lines contain the words \"Failed password\"?",
     lambda f: number(len(sshd(f, "Failed password"))), "number", N),
    ("ssh-preauth", "ssh-logs", "How many lines of the sshd log end in [preauth]?",
     lambda f: number(sum(line.rstrip().endswith("[preauth]") for line in f.lines("logs/sshd.log"))), "number", N),
    ("daemons-mysql-user", "server-logs", "Which account name was denied access to MySQL most often?",
     lambda f: most(re.findall(r"Access denied for user '([^']*)'", f.text("logs/mysqld-auth.log")))[0], "exact", {"noun": "name"}),
    ("daemons-mysql-nopass", "server-logs", "How often did somebody try to get into MySQL without giving a password?",
     lambda f: number(len(re.findall(r"using password: NO", f.text("logs/mysqld-auth.log")))), "number", N),
    ("daemons-dns-zones", "server-logs", "Which client asked the name server (named) for most of the queries that were denied? Its address, please.",
     lambda f: most(re.findall(r"client (?:@\S+ )?([\d.]+)#\d+", "\n".join(line for line in f.lines("logs/named-refused.log") if "denied" in line)))[0], "exact", {"plain": True}),
    ("daemons-ftp-god", "ssh-logs", "Von welcher IPv4-Adresse kam der FTP-Anmeldeversuch als Benutzer \"god\"?",
     lambda f: re.search(r"USER god: no such user found from ::ffff:([\d.]+)", f.text("logs/proftpd.log")).group(1), "exact", {"language": "de", "accept": ["::ffff:101.71.143.238"]}),
    ("daemons-mongo", "server-logs", "What is the highest connection number (connN) that appears in the MongoDB log?",
     lambda f: number(max(map(int, re.findall(r"\[conn(\d+)\]", f.text("logs/mongodb-auth.log"))))), "exact", {"noun": "number"}),
    # A network monitor, with tabs.
    ("zeek-service", "zeek-tabs", "Which service accounts for most of the connections in conn.log, not counting those without one?",
     lambda f: most(row["service"] for row in conn(f) if row["service"] != "-")[0], "exact", {"noun": "service"}),
    ("zeek-udp", "zeek-tabs", "How many UDP connections does conn.log list?",
     lambda f: number(sum(row["proto"] == "udp" for row in conn(f))), "number", N),
    ("zeek-host", "zeek-tabs", "Quel nom d'hôte (colonne host) est le plus demandé dans http.log ?",
     lambda f: most(row["host"] for row in f.zeek("http.log"))[0], "exact", {"language": "fr"}),
    ("zeek-longest", "zeek-tabs", "What is the uid of the connection that lasted longest?",
     lambda f: best([row for row in conn(f) if row["duration"] != "-"], lambda row: float(row["duration"]))["uid"], "exact", {"noun": "uid"}),
    ("zeek-exe", "zeek-tabs", "How many files of type application/x-dosexec were seen?",
     lambda f: number(sum(row["mime_type"] == "application/x-dosexec" for row in f.zeek("files.log"))), "number", N),
    ("zeek-names", "zeek-tabs", "How many different names were looked up, going by dns.log?",
     lambda f: number(len({row["query"] for row in f.zeek("dns.log") if row["query"] != "-"})), "number", N),
    ("zeek-tor-names", "zeek-tor", "How many different server names do the TLS sessions ask for?",
     lambda f: number(len({row["server_name"] for row in f.zeek("tor_ssl.log") if row["server_name"] != "-"})), "number", N),
    ("zeek-tor-cipher", "zeek-tor", "What is the most common cipher?",
     lambda f: most(row["cipher"] for row in f.zeek("tor_ssl.log"))[0], "exact", {"noun": "cipher"}),
    ("zeek-tor-port", "zeek-tor", "Zu welchem Port gingen die meisten TLS-Verbindungen?",
     lambda f: most(row["id.resp_p"] for row in f.zeek("tor_ssl.log"))[0], "exact", {"language": "de"}),
    # The same program, as JSON lines.
    ("zeek-json-dns", "zeek-json-few", "Which host name was looked up most often?",
     lambda f: most(row["query"] for row in f.json_lines("dns.log") if "query" in row)[0], "exact", {"noun": "name"}),
    ("zeek-json-kerberos", "zeek-json-few", "How many Kerberos requests did not succeed?",
     lambda f: number(sum(row.get("success") is False for row in f.json_lines("kerberos.log"))), "number", N),
    ("zeek-json-bytes", "zeek-json", "conn.log の中で、応答側から送られたバイト数(resp_bytes)の最大値はいくつですか。",
     lambda f: number(max(row.get("resp_bytes", 0) for row in f.json_lines("conn.log"))), "number", {"language": "ja"}),
    # The releases of a project.
    ("releases-2021", "releases", "How many releases came out in 2021?",
     lambda f: number(sum(date.startswith("2021") for _, date in releases(f))), "number", N),
    ("releases-year", "releases", "哪一年发布的版本最多?",
     lambda f: most(date[:4] for _, date in releases(f))[0], "exact", {"language": "zh"}),
    ("releases-second", "releases", "After casey, who contributed the most entries?",
     lambda f: most(re.findall(r" by \[(?!casey\])([^\]]+)\]", f.text("CHANGELOG.md")))[0], "exact", {"noun": "name"}),
]
