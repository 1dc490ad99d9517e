"""Questions that the additional logs and tables do not answer. All of them belong to the development half."""

from model import Task
from tasks_absent import silence


def add_to(tasks):
    for slug, corpus, question, never, *rest in TASKS:
        tasks.add(Task("absent", slug, corpus, question, silence(never), how="absent", never=never, half="dev", **(rest[0] if rest else {})))


TASKS = [
    # There is no such column, or nothing of the kind in any line.
    ("proxy-browser", "haproxy-log", "Which browser sent the most requests?", [r"(?i)mozilla", r"(?i)firefox", r"(?i)chrome", r"(?i)user-?agent"]),
    ("pg-deadlock", "postgres-log", "Which two processes were caught in the deadlock?", [r"(?i)deadlock"]),
    ("can-bitrate", "can-trace", "Mit wie vielen Kilobit pro Sekunde lief der Bus?", [r"(?i)baud", r"(?i)bit ?rate", r"(?i)kbit"], {"language": "de"}),
    ("chess-prize", "chess-games", "How much prize money did the winner of the event \"ch-CHN 2025\" get?", [r"(?i)prize", r"(?i)money", r"\$"]),
    ("midwest-income", "midwest", "Which county in Illinois has the highest median household income?", [r"(?i)income"]),
    ("senators-birth", "senators", "¿Qué senador era el más joven cuando lo nombraron?", [r"(?i)birth", r"(?i)\bborn\b", r"(?i)\bage\b"], {"language": "es"}),
    ("surplus-agency", "surplus", "Which police department in Shawnee county got the most rifles?", [r"(?i)police", r"(?i)sheriff", r"(?i)department"]),
    ("emoji-use", "emoji", "去年使用次数最多的表情符号是哪一个?", [r"(?i)usage", r"(?i)frequen", r"(?i)popular"], {"language": "zh"}),
    # There is such a column, but it is empty there.
    ("homes-brazoria", "texas-homes", "How many homes were sold in Brazoria County in June 2003?", [r'"Brazoria County",2003,6,\d']),
    ("titanic-cherry", "titanic", "Quel âge avait Miss Gladys Cherry ?", [r'"Cherry, Miss Gladys",1st,\d'], {"language": "fr"}),
    ("meat-turkey", "meat", "How much turkey was produced in March 1950?", [r"(?m)^1950-03-01(,[^,\n]*){6},\d"]),
    ("routes-aircraft", "us-routes", "Which type of aircraft does AA use on the route from ABQ to DFW?", [r"(?m)^AA,\d+,ABQ,\d+,DFW,\d+,[^,]*,0,[^\s]"]),
]
