"""Facts in documentation trees. The pattern finds the value in the text; the question is as asked by someone who has not read it."""

from extract import fact
from model import Task


def add_to(tasks, group="docs", rows=None):
    for row in rows or FACTS:
        tasks.add(of(group, *row[:5], **(row[5] if len(row) > 5 else {})))


def of(group, slug, corpus, path, pattern, question, *, value=None, n_places=1, **rest):
    """A task about one fact. `value` is the answer if the text writes it differently."""

    def truth(folder):
        found = fact(folder, pattern, path, n_places)
        return value or found

    return Task(group, slug, corpus, question, truth, pattern=pattern, path=path, n_places=n_places, **rest)


FACTS = [
    # A backup program.
    ("borg-dirs", "borg-docs", "usage/general/file-systems.rst.inc", r"Up to (\d+) files per directory",
     "I want to put a Borg repository on an odd file system. How many entries must a single folder be able to take?", {"accept": ["1,000"], "noun": "number"}),
    ("borg-commit", "borg-docs", "usage/notes.rst", r"A tiny file \((\d+) bytes\) marking the end",
     "What is the size in bytes of the file that closes a transaction in a Borg repository?", {"noun": "number"}),
    ("borg-cache-ttl", "borg-docs", "usage/general/environment.rst.inc", r"entries \(default: (\d+)\)\. The files cache",
     "Wie hoch ist der Ausgangswert von BORG_FILES_CACHE_TTL, wenn ich nichts einstelle?", {"language": "de"}),
    ("borg-object", "borg-docs", "internals/data-structures.rst", r"MAX_OBJECT_SIZE \((\d+MiB)\)",
     "Borg caps the size of one stored object. At what size?", {"accept": ["20 MiB", "20 MB", "20971520"], "noun": "size"}),
    ("borg-compact", "borg-docs", "usage/compact.rst.inc", r"saved space in PERCENT \(Default: (\d+)\)",
     "When Borg frees space in a repository, how many percent must a segment save before it is touched, if I do not say otherwise?", {"n_places": 2, "accept": ["10%", "10 %", "10 percent"], "noun": "percentage"}),
    # A process supervisor.
    ("supervisor-fds", "supervisor-docs", "configuration.rst", r"low per-process fd limit[^*]*\*Default\*: (\d+)",
     "supervisord refuses to start if too few file descriptors can be had. Which number does it want out of the box?", {"noun": "number"}),
    ("supervisor-socket-mode", "supervisor-config", "configuration.rst", r"\*Default\*: ``(0700)``",
     "Which permission bits does the UNIX socket of supervisord get when the config file is silent about them?", {"accept": ["700", "0o700"], "noun": "mode"}),
    ("supervisor-agreement", "supervisor-docs", "development.rst", r"`withdrawn <[^>]*>`_ in (March 2014)",
     "The Supervisor project once had contributors sign a legal paper. When was that given up again?", {"accept": ["2014-03", "03/2014"], "noun": "month"}),
    ("supervisor-soc", "supervisor-docs", "development.rst", r"- (Siddhant Goel): Siddhant worked",
     "¿Quién añadió el autocompletado con tabulador a supervisorctl?", {"language": "es", "accept": ["Siddhant"], "noun": "name"}),
    ("supervisor-retries", "supervisor-docs", "subprocess.rst", r"for a total of (\d+) seconds",
     "With three start retries configured, how many seconds does supervisord spend waiting between the attempts altogether?", {"accept": ["six"], "noun": "number"}),
    ("supervisor-stop-signal", "supervisor-config", "configuration.rst", r"``stopsignal``[^*]*\*Default\*: (\w+)",
     "By which signal does supervisord end a program if its section says nothing about it?", {"accept": ["SIGTERM"], "noun": "signal"}),
    # A web server for Python.
    ("gunicorn-headers", "gunicorn-docs", "content/reference/settings.md", r"100 and can't be larger than (\d+)\.",
     "How far up can I raise Gunicorn's limit on the number of header fields in a request?", {"noun": "number", "accept": ["32,768"]}),
    ("gunicorn-request-line", "gunicorn-docs", "content/reference/settings.md", r"`--limit-request-line INT` \*\*Default:\*\* `(\d+)`",
     "Combien d'octets la première ligne d'une requête HTTP peut-elle avoir dans Gunicorn si je ne règle rien ?", {"language": "fr", "accept": ["4 094", "4,094"]}),
    ("gunicorn-irc", "gunicorn-docs", "content/community.md", r"the `#gunicorn` channel on \[(Libera\.Chat)\]",
     "On which chat network do Gunicorn people meet?", {"accept": ["Libera Chat", "Libera"], "noun": "name"}),
    ("gunicorn-control", "gunicorn-docs", "content/reference/settings.md", r"via the ``(gunicornc)`` command-line tool",
     "What is the program called with which a running Gunicorn can be managed from a terminal?", {"noun": "name"}),
    ("gunicorn-more", "gunicorn-docs", "content/signals.md", r"`(TTIN)` &mdash; increase",
     "Which signal gives a running Gunicorn one more worker?", {"accept": ["SIGTTIN"], "noun": "signal"}),
    # A task queue.
    ("celery-rabbit-timeout", "celery-docs", "userguide/calling.rst", r"Since version 3\.8\.17 it was increased to (\d+) minutes",
     "A task with a long countdown dies with PRECONDITION_FAILED. After how many minutes without an acknowledgement does a current RabbitMQ (3.8.17 or newer) close the channel?", {"noun": "number"}),
    ("celery-backoff-max", "celery-docs", "userguide/tasks.rst", r"between task autoretries\.[^`]*``(\d+)``",
     "How many seconds apart can automatic retries in Celery get at most, going by the defaults, once exponential backoff is on?", {"noun": "number", "accept": ["600 seconds", "10 minutes"]}),
    ("celery-flower-port", "celery-docs", "userguide/monitoring.rst", r"The default port is http://localhost:(\d+)",
     "Flower を起動すると、標準ではどのポートで Web 画面が開きますか。", {"language": "ja"}),
    ("celery-sts", "celery-brokers", "backends-and-brokers/sqs.rst", r"token timeout, defaults \(and minimum\) to (\d+) seconds",
     "What is the shortest lifetime, in seconds, that a temporary AWS token may be given when Celery talks to SQS through an assumed role?", {"noun": "number"}),
    ("celery-priorities", "celery-docs", "faq.rst", r"RabbitMQ supports priorities since version ([\d.]+\d),",
     "Which RabbitMQ release brought message priorities, according to the Celery FAQ?", {"noun": "version"}),
    ("celery-test-worker", "celery-docs", "userguide/testing.rst", r"fixture will wait up to (\d+) seconds",
     "My integration test hangs at the end. How long does the worker fixture of Celery let unfinished jobs run before it raises?", {"accept": ["10 seconds", "ten seconds"], "noun": "time"}),
    # A crawler.
    ("scrapy-expiry", "scrapy-docs", "topics/media-pipeline.rst", r"for both settings is (\d+) days",
     "After how many days does Scrapy download an image again although it has it already?", {"noun": "number"}),
    ("scrapy-nesting", "scrapy-docs", "topics/security.rst", r"such as (\d+) nesting levels",
     "libxml2 normally stops at a certain depth of nested elements, which Scrapy lifts. Which depth is it?", {"noun": "number"}),
    ("scrapy-company", "scrapy-docs", "topics/deploy.rst", r"hosted, cloud-based service by (Zyte)_",
     "哪家公司提供 Scrapy Cloud 托管服务?", {"language": "zh"}),
    ("scrapy-browser", "scrapy-docs", "topics/dynamic-content.rst", r"recommend using `(scrapy-playwright)`_",
     "Which add-on do Scrapy's authors advise for driving a headless browser?", {"accept": ["playwright"], "noun": "name"}),
    # A web framework.
    ("fastify-param", "fastify-docs", "Reference/Server.md", r"the default value is (\d+) characters",
     "From which length on does a value in a URL parameter lead to the not-found handler in Fastify, if nothing is configured?", {"noun": "number"}),
    ("fastify-month", "fastify-docs", "Reference/LTS.md", r"A \"month\" is defined as (\d+) consecutive days",
     "How many days make a month in Fastify's support policy?", {"noun": "number"}),
    ("fastify-v3-end", "fastify-docs", "Reference/LTS.md", r"\| 3\.0\.0 +\| 2020-07-07 +\| (2023-06-30)",
     "Bis wann wurde Fastify 3 mit Langzeitunterstützung gepflegt? Bitte das Datum.", {"language": "de", "accept": ["30.06.2023", "30. Juni 2023", "June 30, 2023"], "plain": True}),
    ("fastify-partner", "fastify-docs", "Reference/LTS.md", r"Fastify's partner, (HeroDevs), provides",
     "Who sells security fixes for Fastify versions that have reached their end of life?", {"noun": "name"}),
    # A package manager.
    ("npm-name-length", "npm-docs", "configuring-npm/package-json.md", r"less than or equal to (\d+) characters",
     "I generate package names automatically. What is the longest that npm accepts?", {"noun": "number"}),
    ("npm-hoist", "npm-docs", "configuring-npm/folders.md", r"Since version (\d+), npm hoists",
     "Which major version of npm was the first to place nested dependencies as high up in the tree as possible?", {"noun": "number", "accept": ["npm 3", "v3", "three"]}),
    ("npm-semver-function", "npm-docs", "using-npm/dependency-selectors.md", r"the special function `infer` \(default `(infer)`\)",
     "In a dependency query for npm, which comparison does the semver pseudo selector use when I leave out its last argument?", {"noun": "name"}),
    # An HTTP client.
    ("undici-sessions", "undici-docs", "api/Connector.md", r"TLS session caching\. Default: `(\d+)`",
     "How many TLS sessions does undici remember for later connections unless I change it?", {"noun": "number"}),
    ("undici-flush", "undici-docs", "api/SnapshotAgent.md", r"Interval in milliseconds for auto-flush\. Default: `(\d+)`",
     "At what interval are recorded snapshots written to disk by undici when automatic saving is on? In milliseconds.", {"noun": "number", "accept": ["30,000"]}),
    # A message-queue client.
    ("kafka-linger", "kafka-docs", "INTRODUCTION.md", r"default setting of `linger\.ms=(\d+)`",
     "¿Cuántos milisegundos espera por defecto el productor de librdkafka para juntar mensajes en un lote?", {"language": "es"}),
    ("kafka-session", "kafka-docs", "CONFIGURATION.md", r"session\.timeout\.ms +\| +C +\| 1 \.\. 3600000 +\| +(\d+) \|",
     "After how many milliseconds without a heartbeat is a librdkafka consumer considered dead by its group, by default?", {"noun": "number", "accept": ["45,000"]}),
    ("kafka-queue", "kafka-docs", "CONFIGURATION.md", r"queue\.buffering\.max\.messages +\| +P +\| 0 \.\. 2147483647 +\| +(\d+) \|",
     "How many messages may wait in the producer's local queue of librdkafka before producing is refused, with the shipped settings?", {"noun": "number", "accept": ["100,000"]}),
    # A command runner.
    ("just-confirm", "just-docs", "README.md", r"\| `\[confirm\]`<sup>([\d.]+)</sup> \|",
     "Since which release can just be told to ask before it runs a recipe?", {"noun": "version"}),
    ("just-script", "just-docs", "README.md", r"<sup>1\.33\.0</sup>, defaulting to `(sh -eu)`",
     "When a just recipe is marked as a script and I name no interpreter, with which command line is it run?", {"noun": "command"}),
    ("just-cpus", "just-docs", "README.md", r"- `(num_cpus)\(\)`<sup>",
     "Which built-in function of just gives the number of logical processors?", {"accept": ["num_cpus()"], "noun": "name"}),
    # A build server.
    ("buildbot-twisted", "buildbot-docs", "manual/installation/requirements.rst", r"requires Twisted-([\d.]+\d) or later on the master and",
     "What is the oldest Twisted with which a current Buildbot still works?", {"noun": "version"}),
    ("buildbot-cygwin", "buildbot-docs", "manual/installation/requirements.rst", r"SQLite on Cygwin, the (master)",
     "Which half of Buildbot, master or worker, is no good under Cygwin?", {"accept": ["the master", "buildmaster", "Buildbot master"], "noun": "word"}),
    ("buildbot-mysql", "buildbot-docs", "developer/database.rst", r"MySQL 5\.5 # It will listen on port (\d+)",
     "Unter welchem Port ist der MySQL-Container erreichbar, den Buildbots Entwickler für ihre Tests starten?", {"language": "de"}),
    # An ORM.
    ("peewee-rowid", "peewee-docs", "peewee/sqlite.rst", r"field must be named ``(\w+)``\. Any",
     "In Peewee, which name does a RowIDField have to be given?", {"noun": "name"}),
    ("peewee-rollback", "peewee-docs", "peewee/sqlite.rst", r"callback raises a :class:`(ValueError)`",
     "Peewee can run a function of mine at each commit on SQLite. What must that function throw so that the transaction is undone instead?", {"noun": "exception"}),
]
