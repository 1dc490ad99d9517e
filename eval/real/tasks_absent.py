"""Plausible questions that the same files do not answer. The build fails if one of the patterns occurs."""

import re

from model import Task
from sources import BuildError


def add_to(tasks):
    for slug, corpus, question, never, *rest in TASKS:
        tasks.add(Task("absent", slug, corpus, question, silence(never), how="absent", never=never, **(rest[0] if rest else {})))


def silence(never):
    """The truth `absent`, after checking that none of the patterns occurs."""

    def truth(folder):
        text = folder.all_text()
        for pattern in never:
            found = re.search(pattern, text)
            if found:
                raise BuildError(f"corpus {folder.name}: `{pattern}` occurs: {text[max(0, found.start() - 60):found.end() + 60]!r}")
        return "absent"

    return truth


TASKS = [
    # The subject does not occur.
    ("borg-tape", "borg-docs", "How many megabytes per second does Borg reach when it writes to an LTO tape drive?", [r"\bLTO\b", r"(?i)tape drive"]),
    ("celery-pulsar", "celery-docs", "Which port does Celery connect to when Apache Pulsar is the broker?", [r"(?i)pulsar"]),
    ("scrapy-captcha", "scrapy-docs", "Quel réglage de Scrapy contient la clé du service qui résout les captchas ?", [r"(?i)captcha"], {"language": "fr"}),
    ("fastify-pi", "fastify-docs", "How many requests per second did Fastify manage on a Raspberry Pi?", [r"(?i)raspberry"]),
    ("npm-seat", "npm-docs", "What does a private organisation on the npm registry cost per seat and month?", [r"(?i)per (seat|month)", r"\$\d"]),
    ("kafka-brotli", "kafka-docs", "What is the default level for brotli compression in librdkafka?", [r"(?i)brotli"]),
    ("just-cron", "just-docs", "Which setting makes just run a recipe every night on its own?", [r"(?i)\bcron", r"(?i)schedul"]),
    ("peewee-mongo", "peewee-docs", "Ab welcher Version kann Peewee mit MongoDB umgehen?", [r"(?i)mongo"], {"language": "de"}),
    ("buildbot-grpc", "buildbot-docs", "On which port does the Buildbot master offer its gRPC interface?", [r"(?i)grpc"]),
    ("mutt-quota", "mutt-manual", "At how many percent of the IMAP quota does Mutt start to warn me?", [r"(?i)quota"]),
    ("jargon-emoji", "jargon", "Who coined the word emoji, according to the Jargon File?", [r"(?i)emoji"]),
    ("sotu-alaska", "sotu-1840s", "How much did President Fillmore want to spend on buying Alaska?", [r"(?i)alaska"]),
    ("xz-zstd", "xz-texts", "Zstandard 的魔数(magic bytes)是什么?", [r"(?i)zstd|zstandard"], {"language": "zh"}),
    ("web-admin", "web-log", "Which client asked for a page below /admin first?", [r"/admin"]),
    ("daemons-redis", "server-logs", "Which address tried to log in to Redis with a wrong password?", [r"(?i)redis"]),
    ("paramiko-telnet", "paramiko-code", "Which file contains the Telnet client class?", [r"(?i)telnet"]),
    # The subject occurs, but not what is asked about it.
    ("borg-azure", "borg-docs", "Borg backs up to SSH servers. Which name does the environment variable with the key for Azure storage have?", [r"(?i)azure"]),
    ("supervisor-memory", "supervisor-docs", "How many megabytes of RAM does supervisord itself need at least?", [r"(?i)(MB|megabytes) of (RAM|memory)", r"(?i)\bRAM\b"]),
    ("fastify-first", "fastify-docs", "When was Fastify 0.1.0 published?", [r"\b0\.1\.0\b"]),
    ("just-release", "just-docs", "What is the release date of just 1.4.1?", [r"\b1\.4\.1\b"]),
    ("workshop-fee", "workshop", "¿Cuánto tuvieron que pagar los participantes del taller para inscribirse?", [r"(?i)registration\s+fee", r"(?i)admission\s+fee"], {"language": "es"}),
    ("moby-tashtego", "moby-dick", "Daggoo's height is given. How tall is Tashtego, in feet and inches?", [r"Tashtego[^.]{0,160}\b(feet|foot|inches) (high|tall|in his)"]),
    ("jargon-newell", "jargon", "In which year was Martin Newell, of the famous teapot, born?", [r"Newell[^.]{0,80}\bborn\b"]),
    ("celery-compression", "celery-docs", "Which RabbitMQ release added message compression?", [r"RabbitMQ[^.]{0,120}compress"]),
    ("birds-injured", "birdstrikes", "How many passengers were hurt in the strikes over Texas?", [r"(?i)injur", r"(?i)passenger"]),
    ("movies-composer", "movies", "Which composer wrote the music for the most films in this list?", [r"(?i)\"composer"]),
    ("countries-gdp", "countries", "一人当たりの GDP が最も高い国はどこですか。", [r"(?i)\bgdp\b"], {"language": "ja"}),
    ("weather-humidity", "weather", "What was the average humidity in Seattle in 2013?", [r"(?i)humid"]),
    ("nfl-attendance", "nfl", "How many spectators did the best attended game have?", [r"(?i)attendance", r"(?i)spectator"]),
    ("planes-staff", "planes", "Which of the airlines has the most employees?", [r"(?i)employee", r"(?i)\bstaff\b"]),
    ("buildbot-twisted", "buildbot-docs", "Which Buildbot release was the first to require Twisted 25?", [r"(?i)twisted[- ]*25"]),
    ("peewee-oracle", "peewee-docs", "Peewee supports several databases. How many pooled connections are advised for Oracle?", [r"(?i)oracle"]),
    ("gunicorn-heap", "gunicorn-docs", "Signals control a running Gunicorn. Which one makes it write a dump of its heap?", [r"(?i)heap"]),
    ("mutt-jmap", "mutt-manual", "Depuis quelle version Mutt parle-t-il le protocole JMAP ?", [r"(?i)jmap"], {"language": "fr"}),
    ("zeek-mac", "zeek-tabs", "What is the MAC address of the machine 192.168.33.10?", [r"(?i)\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b", r"(?i)\bmac\b"]),
    ("web-user", "web-log", "Under which user name did the client with the most requests log in?", [r"(?m)^\S+ \S+ (?!- )\S+ \["]),
    ("air-delay", "air-routes", "¿Cuántos minutos de retraso tienen de media los vuelos que salen de Chicago?", [r"(?i)delay"], {"language": "es"}),
]
