"""Questions with two steps: a first file or row says where to look, a second one contains the answer."""

from extract import best, constant, default_of, fact, number
from model import Task
from sources import BuildError


def add_to(tasks):
    for slug, corpus, question, truth, how, *rest in TASKS:
        tasks.add(Task("hops", slug, corpus, question, truth, how=how, **(rest[0] if rest else {})))


def port(f):
    """The default in `connect` is the name of a constant, which is in another module."""
    name = default_of(f, "SSHClient.connect", "port")
    return constant(f, "paramiko/config.py", name)


def facts(*patterns):
    """The value of the last pattern, if all of them match as expected: (pattern, path)."""

    def truth(f):
        return [fact(f, pattern, path) for pattern, path in patterns][-1]

    return truth


def malware_agent(f):
    uids = {row["uid"] for row in f.zeek("notice.log")}
    hosts = {row["host"] for row in f.zeek("http.log") if row["uid"] in uids}
    if len(hosts) != 1:
        raise BuildError(f"the notices lead to {sorted(hosts)}")
    return hosts.pop()


def name_of_longest(f):
    """The host name of the longest HTTP connection."""
    row = best([one for one in f.zeek("conn.log") if one["duration"] != "-" and one["service"] == "http"], lambda one: float(one["duration"]))
    hosts = {one["host"] for one in f.zeek("http.log") if one["uid"] == row["uid"]}
    if len(hosts) != 1:
        raise BuildError(f"the longest connection leads to {sorted(hosts)}")
    return hosts.pop()


def zone_country(f):
    rows = [line.split("\t") for line in f.lines("zone1970.tab") if not line.startswith("#")]
    code = best(rows, lambda row: len(row[0].split(",")))[0].split(",")[0]
    names = dict(line.split("\t") for line in f.lines("iso3166.tab") if not line.startswith("#"))
    return names[code]


def route_city(f):
    cities = {row["iata"]: row["city"] for row in f.rows("airports.csv")}
    return cities[best(f.rows("flights-airport.csv"), lambda row: int(row["count"]))["destination"]]


def landlocked_currency(f):
    row = best([one for one in f.json("countries.json") if one["landlocked"]], lambda one: one["area"])
    return list(row["currencies"].values())[0]["name"]


def kerberos_bytes(f):
    failed = [row["uid"] for row in f.json_lines("kerberos.log") if row.get("success") is False]
    rows = {row["uid"]: row for row in f.json_lines("conn.log")}
    return number(rows[failed[0]]["resp_bytes"])


TASKS = [
    ("paramiko-port", "paramiko-client", "Which port number does SSHClient.connect use if I name none?", port, "exact", {"noun": "number"}),
    ("supervisor-fastcgi", "supervisor-docs", "On which date did the person who contributed FastCGI support to Supervisor sign the legal agreement?",
     facts((r"- (Roger Hoover): [^-]*FastCGI", "development.rst"), (r"- Roger Hoover, (2010-08-17)", "development.rst")), "exact", {"noun": "date", "accept": ["August 17, 2010", "17 August 2010"]}),
    ("jargon-teapot", "jargon", "The dictionary compares a certain magazine photograph with two 3D models. About how many polygons has the newer of the two?",
     facts((r"Compare \{Utah teapot\} and \{(Stanford Bunny)\}", "jargon.txt"), (r"bunny consisting of about (\d+) polygons", "jargon.txt")), "exact", {"noun": "number", "accept": ["5,000"]}),
    ("moby-enderby", "moby-dick", "Der Kapitän mit nur einem Arm, den Ahab trifft: Aus welcher Stadt stammte der Kaufmann, nach dem dessen Schiff heißt?",
     facts((r"(Samuel Enderby) is the name of my ship", "chapter_100.txt"), (r"hailed from (London), and was named after the late Samuel Enderby", "chapter_101.txt")), "exact", {"language": "de"}),
    ("zeek-malware", "zeek-tabs", "A notice reports a file that is known as malware. From which host name had it been downloaded?", malware_agent, "exact", {"noun": "name"}),
    ("zeek-longest-web", "zeek-tabs", "Take the web (http) connection that stayed open longest. Which host did it talk to, by name?", name_of_longest, "exact", {"noun": "name"}),
    ("zeek-kerberos", "zeek-json", "How many bytes did the server send back (resp_bytes) in the connection of the first Kerberos request that failed?", kerberos_bytes, "number", {"noun": "number"}),
    ("zones-country", "zones", "Quel pays est cité en premier pour le fuseau horaire partagé par le plus de pays ? Donne son nom anglais.", zone_country, "exact", {"language": "fr", "plain": True}),
    ("air-city", "air-routes", "In which city does the route with the most flights end?", route_city, "exact", {"noun": "city"}),
    ("countries-currency", "countries", "What is the currency of the largest country without access to the sea called?", landlocked_currency, "exact", {"noun": "name"}),
    ("countries-capital", "countries", "¿Cuál es la capital del país que tiene más países vecinos?", lambda f: best(f.json("countries.json"), lambda row: len(row["borders"]))["capital"][0], "exact", {"language": "es", "accept": ["Pekín", "Peking", "北京"]}),
    ("movies-distributor", "movies", "Who distributed the film with the longest running time?", lambda f: best([row for row in f.json("movies.json") if row["Running Time min"]], lambda row: row["Running Time min"])["Distributor"], "exact", {"noun": "name", "accept": ["Metro-Goldwyn-Mayer"]}),
]
