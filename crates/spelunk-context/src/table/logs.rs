//! Log formats with a fixed layout: web servers, syslog, Java, Spark, Hadoop and others. A format is recognised by its
//! first lines. Its lines are records; lines between them, such as those of a stack trace, are not.

use std::sync::LazyLock;

use regex::Regex;

const LEVEL: &str = "(?<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE|PANIC|LOG|HINT|DETAIL|STATEMENT|Trace|Debug|Info|Notice|Warn|Warning|Error|Fatal|Critical|trace|debug|info|notice|warn|warning|error|fatal|critical|crit|alert|emerg)";
const DATE: &str = "(?<date>[0-9]{4}-[0-9]{2}-[0-9]{2})";
const TIME: &str = "(?<time>[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?)";

/// The layouts, most specific first. The groups of a pattern have the names of the columns. `LEVEL`, `DATE` and `TIME` are replaced by the patterns above.
const LAYOUTS: &[&str] = &[
    // Web servers: common and combined.
    r#"^(?<host>[^ ]+) [^ ]+ (?<user>[^ ]+) \[(?<date>[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}):(?<time>[0-9:]{8}) (?<zone>[+-][0-9]{4})\] "(?:(?<method>[A-Z]+) (?<path>[^ "]*)(?: (?<protocol>[^"]*))?|(?<request>[^"]*))" (?<status>[0-9]{3}) (?<bytes>[0-9]+|-)(?: "(?<referrer>[^"]*)" "(?<agent>(?:[^"\\]|\\.)*)")?"#,
    // Apache's error log.
    r"^\[(?<date>[A-Z][a-z]{2} [A-Z][a-z]{2} +[0-9]+) (?<time>[0-9:.]+) (?<year>[0-9]{4})\] \[(?:(?<module>[a-z_0-9]*):)?(?<level>[a-z0-9]+)\](?: \[pid (?<pid>[0-9]+)(?::tid [0-9]+)?\])?(?: \[client (?<client>[^\]]+)\])? (?<message>.*)",
    // nginx's error log.
    r"^(?<date>[0-9]{4}/[0-9]{2}/[0-9]{2}) (?<time>[0-9:]{8}) \[(?<level>[a-z]+)\] (?<pid>[0-9]+)#[0-9]+: (?<message>.*)",
    // HAProxy, after the syslog header.
    r#"^(?<date>[A-Z][a-z]{2} [ 0-9][0-9]) (?<time>[0-9:]{8}) (?<host>[^ ]+) [^ ]+: (?<client>[^ ]+):[0-9]+ \[(?<accepted>[^\]]+)\] (?<frontend>[^ ]+) (?<backend>[^ /]+)/(?<server>[^ ]+) (?<request_ms>[0-9-]+)/(?<queue_ms>[0-9-]+)/(?<connect_ms>[0-9-]+)/(?<response_ms>[0-9-]+)/\+?(?<total_ms>[0-9-]+) (?<status>[0-9-]+) \+?(?<bytes>[0-9]+) .*?"(?:(?<method>[A-Z]+) (?<path>[^ "]*)(?: (?<protocol>[^"]*))?|(?<request>[^"]*))"?$"#,
    // Pacemaker.
    r"^(?<date>[A-Z][a-z]{2} [ 0-9][0-9]) (?<time>[0-9:]{8}) (?<host>[^ ]+) (?<program>[^ ]+) +\[(?<pid>[0-9]+)\] \((?<function>[^)]*)\)\s+(?<level>[a-z]+): (?<message>.*)",
    // syslog, RFC 5424 and RFC 3164.
    r"^<(?<priority>[0-9]{1,3})>1 (?<time>[^ ]+) (?<host>[^ ]+) (?<program>[^ ]+) (?<pid>[^ ]+) (?<id>[^ ]+) (?:-|\[.*\]) ?(?<message>.*)",
    r"^(?:<(?<priority>[0-9]{1,3})>)?(?<date>[A-Z][a-z]{2} [ 0-9][0-9]) (?<time>[0-9:]{8}) (?<host>[^ ]+) (?<program>[^ \[:]+(?:\([^)]*\))?)(?:\[(?<pid>[0-9]+)\])?: (?<message>.*)",
    // PostgreSQL.
    r"^DATE TIME(?: [A-Z]{3,4})? \[(?<pid>[0-9]+)\]:?(?: \[[0-9]+-[0-9]+\])?(?: (?<user>[^@= ]+)@(?<database>[^ ]+)| (?<session>[^ ]+=[^ ]*))? LEVEL: +(?<message>.*)",
    // ZooKeeper.
    r"^DATE TIME - LEVEL +\[(?<thread>[^\]]+)\] - (?<message>.*)",
    // OpenStack, with or without the name of the file.
    r"^(?:(?<log>[^ ]+\.log[^ ]*) )?DATE TIME (?<pid>[0-9]+) LEVEL (?<source>[^ ]+) \[(?<request>[^\]]*)\] (?<message>.*)",
    // Java (log4j, logback), Hadoop, Python with a time.
    r"^DATE TIME \[(?<thread>.*?)\] LEVEL +(?<source>[A-Za-z0-9_.$]+):? *-? *(?<message>.*)",
    r"^DATE TIME LEVEL +\[(?<thread>[^\]]*)\] (?<source>[A-Za-z0-9_.$/-]+)(?: -|:) (?<message>.*)",
    r"^DATE TIME LEVEL +(?<source>[A-Za-z0-9_$]+(?:\.[A-Za-z0-9_$]+)+):? (?<message>.*)",
    r"^DATE TIME - (?<source>[A-Za-z0-9_.$]+) - LEVEL - (?<message>.*)",
    r"^DATE TIME (?<source>[A-Za-z0-9_.$-]+) LEVEL (?<message>.*)",
    r"^DATE TIME, LEVEL +(?<source>[A-Za-z0-9_.$]+) +(?<message>.*)",
    // Spark.
    r"^(?<date>[0-9]{2}/[0-9]{2}/[0-9]{2}) TIME LEVEL (?<source>[A-Za-z0-9_.$]+): (?<message>.*)",
    // HDFS.
    r"^(?<date>[0-9]{6}) (?<time>[0-9]{6}) (?<pid>[0-9]+) LEVEL (?<source>[A-Za-z0-9_.$]+): (?<message>.*)",
    // BlueGene/L.
    r"^(?<alert>[^ ]+) (?<timestamp>[0-9]{10}) (?<date>[0-9]{4}\.[0-9]{2}\.[0-9]{2}) (?<node>[^ ]+) (?<time>[0-9-]{10}-[0-9.]+) [^ ]+ (?<type>[A-Z]+) (?<component>[A-Z]+) (?<level>[A-Z]+) (?<message>.*)",
    // HealthApp.
    r"^(?<date>[0-9]{8})-(?<time>[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,3})\|(?<component>[^|]*)\|(?<pid>[0-9]+)\|(?<message>.*)",
    // Proxifier.
    r"^\[(?<date>[0-9]{2}\.[0-9]{2}) (?<time>[0-9:]{8})\] (?<program>[^ ]+(?: \*[0-9]+)?) - (?<target>[^ ]+) (?<message>.*)",
    // Android.
    r"^(?<date>[0-9]{2}-[0-9]{2}) (?<time>[0-9:]{8}\.[0-9]{3}) +(?<pid>[0-9]+) +(?<tid>[0-9]+) (?<level>[VDIWEF]) (?<tag>.*?) *: (?<message>.*)",
    // Kubernetes.
    r"^(?<level>[IWEF])(?<date>[0-9]{4}) (?<time>[0-9:]{8}\.[0-9]+) +(?<pid>[0-9]+) (?<source>[^ ]+:[0-9]+)\] (?<message>.*)",
    // Python without a time.
    r"^LEVEL:(?<source>[A-Za-z0-9_.]+):(?<message>.*)",
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let whole = |layout: &&str| layout.replace("LEVEL", LEVEL).replace("DATE", DATE).replace("TIME", TIME);
    LAYOUTS.iter().map(|layout| Regex::new(&whole(layout)).expect("the pattern is ours")).collect()
});

/// The layout that at least nine tenths of these lines have.
pub(super) fn layout_of(sample: &[&str]) -> Option<&'static Regex> {
    let fits = |pattern: &&Regex| {
        let n_lines = sample.iter().filter(|line| pattern.is_match(line)).count();
        n_lines > 0 && n_lines * 100 >= sample.len() * super::cut::PERCENT_MIN
    };
    PATTERNS.iter().find(fits)
}

/// The cells of a line; `None` if it is not a record.
pub(super) fn cells<'t>(layout: &'t Regex, line: &'t str) -> Option<Vec<(&'t str, &'t str)>> {
    let found = layout.captures(line)?;
    let named = layout.capture_names().flatten();
    Some(named.filter_map(|name| Some((name, found.name(name)?.as_str().trim()))).collect())
}
