"""Tables of formats that no prompt or rule was tuned for: empty and NA cells, columns of fixed width, bars and semicolons, no header or three
header lines, thousands separators, nested JSON, facts spread over many small files.

All of them belong to the development half.
"""

import csv
import io
import re
import statistics

from extract import best, most, number
from model import Task
from sources import BuildError
from tasks_more_logs import second, share
from tasks_tables import grouped, mean, top_group


def add_to(tasks):
    for slug, corpus, question, truth, how, *rest in TASKS:
        tasks.add(Task("tables", slug, corpus, question, truth, how=how, half="dev", **(rest[0] if rest else {})))


def homes(f):
    return f.rows("txhousing.csv")


def known(rows, column):
    """The rows with a number in the column."""
    return [row for row in rows if row[column] not in ("", "NA")]


def counties(f):
    return f.rows("midwest.csv")


def second_largest(rows, key):
    """The row with the second largest key; a tie is an error."""
    ranked = sorted(rows, key=key, reverse=True)[:3]
    if len({key(row) for row in ranked}) != 3:
        raise BuildError("no single second")
    return ranked[1]


def divorces(f):
    """Columns of fixed width; the education contains spaces."""
    found = re.findall(r"^ *(\d+) +(< 12 years|12-15 years|16\+ years) +(No|Yes) +(No|Yes) +([\d.]+) +(No|Yes)", f.text("divorce.dat"), re.M)
    if len(found) != len(f.lines("divorce.dat")) - 1:
        raise BuildError("lines of divorce.dat that are no rows")
    return found


def events(f):
    """Columns separated by bars; quotation marks have no meaning."""
    return list(csv.DictReader(f.lines("events.txt"), delimiter="|", quoting=csv.QUOTE_NONE))


def breaches(f):
    """Three header lines: names, types, roles. Some cells in quotation marks have several lines."""
    rows = list(csv.reader(io.StringIO(f.text("cyber-security-breaches.tab")), delimiter="\t"))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[3:]]


def starts(f, airline=None):
    """The airport from which each route starts, of one airline or of all."""
    airports = {row["IATA"]: row for row in f.rows("airports.csv")}
    return [airports[row["Source"]] for row in f.rows("routes.csv") if airline in (None, row["Airline"])]


def unemployment(f):
    """No header: name of the county and state, rate."""
    return [(row[3], float(row[8])) for row in csv.reader(io.StringIO(f.text("unemployment09.csv")))]


def media(f):
    """Each media type with the number of its extensions."""
    return [(name, len(one.get("extensions", ()))) for name, one in f.json("db.json").items()]


def on(f, continent, what, column):
    """A fact about each country of a continent, if it is known."""
    there = {row["country"] for row in f.json("country-by-continent.json") if row["continent"] == continent}
    return {row["country"]: row[column] for row in f.json(f"country-by-{what}.json") if row["country"] in there and row[column] is not None}


def inland(f):
    return {row["country"] for row in f.json("country-by-landlocked.json") if row["landlocked"] == "1"}


def block(f, name):
    first, last = re.search(rf"^(\w+)\.\.(\w+); {re.escape(name)}$", f.text("Blocks.txt"), re.M).groups()
    return range(int(first, 16), int(last, 16) + 1)


def characters(f):
    return [line.split(";") for line in f.lines("UnicodeData.txt")]


N = {"noun": "number"}

TASKS = [
    # Sales of homes, with NA where a number is unknown.
    ("homes-houston", "texas-homes", "How many homes were sold in Houston in 2014, all months together?",
     lambda f: number(sum(int(row["sales"]) for row in known(homes(f), "sales") if (row["city"], row["year"]) == ("Houston", "2014"))), "number", N),
    ("homes-missing", "texas-homes", "In wie vielen Zeilen fehlt die Angabe zu den Verkäufen (sales)?",
     lambda f: number(sum(row["sales"] == "NA" for row in homes(f))), "number", {"language": "de"}),
    ("homes-year", "texas-homes", "Adding up all cities, in which year was the total volume the largest?",
     lambda f: top_group(grouped(known(homes(f), "volume"), lambda row: row["year"], lambda row: float(row["volume"])), sum), "exact", {"noun": "year"}),
    ("homes-median", "texas-homes", "Which city recorded the highest median price of any month?",
     lambda f: best(known(homes(f), "median"), lambda row: float(row["median"]))["city"], "exact", {"noun": "city"}),
    ("homes-range", "texas-homes", "How far apart are the highest and the lowest number of sales in a month in Dallas (highest minus lowest)?",
     lambda f: (lambda sales: number(max(sales) - min(sales)))([int(row["sales"]) for row in known(homes(f), "sales") if row["city"] == "Dallas"]), "number", N),
    # Counties of five states.
    ("midwest-ohio", "midwest", "What is the mean total population of the Ohio counties that lie in a metropolitan area (inmetro is 1)? Rounded to a whole number.",
     lambda f: mean([int(row["poptotal"]) for row in counties(f) if (row["state"], row["inmetro"]) == ("OH", "1")], 0), "number", {"noun": "number", "tolerance": 0.5}),
    ("midwest-second", "midwest", "Which county of Wisconsin has the second largest population?",
     lambda f: second_largest([row for row in counties(f) if row["state"] == "WI"], lambda row: int(row["poptotal"]))["county"], "exact", {"noun": "county"}),
    ("midwest-share", "midwest", "In which state is the share of counties with inmetro = 1 the highest?",
     lambda f: top_group(grouped(counties(f), lambda row: row["state"], lambda row: int(row["inmetro"])), statistics.fmean), "exact", {"noun": "state", "accept": ["Ohio"]}),
    # Meat production by month; some kinds begin later.
    ("meat-beef", "meat", "1975年の牛肉(beef)の生産量の合計はいくらですか。",
     lambda f: number(sum(float(row["beef"]) for row in f.rows("meat.csv") if row["date"].startswith("1975")), 1), "number", {"language": "ja", "tolerance": 0.6}),
    ("meat-turkey", "meat", "From which month on is there a figure for turkey? Answer as YYYY-MM.",
     lambda f: known(f.rows("meat.csv"), "turkey")[0]["date"][:7], "exact", {"plain": True}),
    ("meat-pork", "meat", "In how many months was more pork produced than beef?",
     lambda f: number(sum(float(row["pork"]) > float(row["beef"]) for row in f.rows("meat.csv"))), "number", N),
    # Heads of government.
    ("leaders-regime", "leaders", "Unter welcher Regierungsform (regime) dauern die Amtszeiten im Durchschnitt am längsten?",
     lambda f: top_group(grouped(f.rows("leaders.csv"), lambda row: row["regime"], lambda row: int(row["duration"])), statistics.fmean), "exact", {"language": "de", "accept": ["Monarchie"]}),
    ("leaders-military", "leaders", "How many different countries have at least one row with the regime \"Military Dict\"?",
     lambda f: number(len({row["ctryname"] for row in f.rows("leaders.csv") if row["regime"] == "Military Dict"})), "number", N),
    ("leaders-asia", "leaders", "Give me the median of duration for Asia.",
     lambda f: number(statistics.median(int(row["duration"]) for row in f.rows("leaders.csv") if row["un_continent_name"] == "Asia")), "number", N),
    # Senators, with dates.
    ("senators-longest", "senators", "Which senator was in office for the most days? Name as in the file.",
     lambda f: best(f.rows("canadian_senators.csv"), lambda row: int(row["diff_days"]))["Name"], "exact", {"plain": True}),
    ("senators-resigned", "senators", "How many senators for Nova Scotia left by resignation?",
     lambda f: number(sum(row["Province / Territory"] == "Nova Scotia" and row["reason"] == "Resignation" for row in f.rows("canadian_senators.csv"))), "number", N),
    ("senators-advice", "senators", "Sur la recommandation de qui a-t-on nommé le plus de sénateurs du Québec ? Nom tel quel.",
     lambda f: most(row["Appointed on the advice of"] for row in f.rows("canadian_senators.csv") if row["Province / Territory"] == "Quebec")[0], "exact", {"language": "fr", "plain": True}),
    ("senators-decade", "senators", "How many of them took up office in the 1960s (1960 to 1969)?",
     lambda f: number(sum(row["start_date"].startswith("196") for row in f.rows("canadian_senators.csv"))), "number", N),
    ("senators-days", "senators", "For how many days were the senators in office on average whose term ended by death? Rounded to whole days.",
     lambda f: mean([int(row["diff_days"]) for row in f.rows("canadian_senators.csv") if row["reason"] == "Death"], 0), "number", {"noun": "number", "tolerance": 0.5}),
    # Columns of fixed width.
    ("divorces-share", "divorces", "Of the couples with heduc \"< 12 years\", how many percent have div = Yes? One decimal.",
     lambda f: (lambda rows: share(sum(row[5] == "Yes" for row in rows), len(rows)))([row for row in divorces(f) if row[1] == "< 12 years"]), "number", {"noun": "number", "tolerance": 0.06}),
    ("divorces-longest", "divorces", "What is the largest value of years among the couples with mixed = Yes?",
     lambda f: number(max(float(row[4]) for row in divorces(f) if row[3] == "Yes")), "number", {"noun": "number", "tolerance": 0.0006}),
    # Equipment given to the police, with US dates.
    ("surplus-county", "surplus", "To which county did equipment of the highest total cost go, all its items added up?",
     lambda f: top_group(grouped(f.rows("ks_1033_data.csv"), lambda row: row["county"], lambda row: float(row["total_cost"])), sum), "exact", {"noun": "county"}),
    ("surplus-rifles", "surplus", "How many rows that were shipped in 2006 have RIFLE in the name of the item?",
     lambda f: number(sum("RIFLE" in row["item_name"] and row["ship_date"].split(" ")[0].endswith("/2006") for row in f.rows("ks_1033_data.csv"))), "number", N),
    ("surplus-year", "surplus", "Sum up the quantity by the year of the shipment. Which year has the largest total?",
     lambda f: top_group(grouped(f.rows("ks_1033_data.csv"), lambda row: row["ship_date"].split(" ")[0].split("/")[2], lambda row: int(row["quantity"])), sum), "exact", {"noun": "year"}),
    ("surplus-unnamed", "surplus", "有多少行没有物品名称(item_name 为空)?",
     lambda f: number(sum(row["item_name"] == "" for row in f.rows("ks_1033_data.csv"))), "number", {"language": "zh"}),
    # Reports with bars between the columns.
    ("reactors-region", "reactor-events", "How many Power Reactor events are from region 2?",
     lambda f: number(sum(row["Event Desc"] == "Power Reactor" and row["Region No"] == "2" for row in events(f))), "number", N),
    ("reactors-state", "reactor-events", "¿De qué estado (State Cd) proceden más avisos?",
     lambda f: most(row["State Cd"] for row in events(f))[0], "exact", {"language": "es", "accept": ["North Carolina", "Carolina del Norte"]}),
    # A table with three header lines.
    ("breaches-laptops", "breaches", "How many entries are of the type Theft with Laptop as the location, and nothing else in either column?",
     lambda f: number(sum((row["Type_of_Breach"], row["Location_of_Breached_Information"]) == ("Theft", "Laptop") for row in breaches(f))), "number", N),
    ("breaches-state", "breaches", "In which state is the sum of the affected individuals the largest?",
     lambda f: top_group(grouped(breaches(f), lambda row: row["US State"], lambda row: float(row["Individuals_Affected"])), sum), "exact", {"noun": "state", "accept": ["Virginia"]}),
    ("breaches-largest", "breaches", "Which covered entity reported the breach with the most affected individuals?",
     lambda f: best(breaches(f), lambda row: float(row["Individuals_Affected"]))["Name_of_Covered_Entity"].strip(), "exact", {"noun": "name"}),
    # Two files: routes and airports.
    ("routes-rico", "us-routes", "How many routes start at an airport in Puerto Rico? The country is in the file of the airports.",
     lambda f: number(sum(row["Country"] == "Puerto Rico" for row in starts(f))), "number", N),
    ("routes-highest", "us-routes", "Of the airports from which the airline WN flies, which one lies highest? Its three-letter code.",
     lambda f: best({(row["IATA"], float(row["Altitude"])) for row in starts(f, "WN")}, lambda one: one[1])[0], "exact", {"plain": True}),
    ("routes-airline", "us-routes", "Which airline (two-character code) flies from the greatest number of different airports?",
     lambda f: top_group(grouped(f.rows("routes.csv"), lambda row: row["Airline"], lambda row: row["Source"]), lambda one: len(set(one))), "exact", {"noun": "code"}),
    # No header.
    ("counties-rate", "us-counties", "The last column is the unemployment rate. Which county in California (CA) had the highest one?",
     lambda f: best([row for row in unemployment(f) if row[0].endswith(", CA")], lambda row: row[1])[0].removesuffix(", CA"), "exact", {"noun": "county", "accept": ["Imperial", "Imperial County, CA"]}),
    ("counties-above", "us-counties", "In how many rows is the unemployment rate (last column) above 15?",
     lambda f: number(sum(rate > 15 for _, rate in unemployment(f))), "number", N),
    # Passengers of a ship, many without an age.
    ("titanic-women", "titanic", "How many women and girls (sex: female) of the 3rd class survived?",
     lambda f: number(sum((row["sex"], row["class"], row["survived"]) == ("female", "3rd", "1") for row in f.rows("titanic_all.csv"))), "number", N),
    ("titanic-ages", "titanic", "¿De qué porcentaje de las personas no consta la edad? Con un decimal.",
     lambda f: share(sum(row["age"] == "" for row in f.rows("titanic_all.csv")), len(f.rows("titanic_all.csv"))), "number", {"language": "es", "tolerance": 0.06, "plain": True}),
    # Nested JSON.
    ("emoji-food", "emoji", "How many emoji of the category Food & Drink were added in version 0.6?",
     lambda f: number(sum((row["category"], row["added_in"]) == ("Food & Drink", "0.6") for row in f.json("emoji.json"))), "number", N),
    ("emoji-second", "emoji", "Which category has the second largest number of emoji?",
     lambda f: second(row["category"] for row in f.json("emoji.json")), "exact", {"noun": "category"}),
    ("media-extensions", "media-types", "Which media type has the most file extensions?",
     lambda f: best(media(f), lambda one: one[1])[0], "exact", {"noun": "type"}),
    ("media-audio", "media-types", "How many types that start with audio/ have at least one extension?",
     lambda f: number(sum(name.startswith("audio/") and n > 0 for name, n in media(f))), "number", N),
    # Facts about countries, one file each.
    ("facts-africa", "country-facts", "Combien de pays d'Afrique ont plus de 20 millions d'habitants ?",
     lambda f: number(sum(one > 20_000_000 for one in on(f, "Africa", "population", "population").values())), "number", {"language": "fr"}),
    ("facts-life", "country-facts", "What is the average life expectancy of the countries of South America that have one? Two decimals.",
     lambda f: mean(on(f, "South America", "life-expectancy", "expectancy").values(), 2), "number", {"noun": "number", "tolerance": 0.006}),
    ("facts-inland", "country-facts", "Welches Land in Südamerika ohne Küste (landlocked ist 1) hat die meisten Einwohner?",
     lambda f: best([one for one in on(f, "South America", "population", "population").items() if one[0] in inland(f)], lambda one: one[1])[0], "exact", {"language": "de", "accept": ["Bolivien"]}),
    # Characters: semicolons, no header.
    ("characters-currency", "characters", "How many characters have the general category Sc (third field)?",
     lambda f: number(sum(row[2] == "Sc" for row in characters(f))), "number", N),
    ("characters-block", "characters", "How many lines of UnicodeData.txt belong to the block Arabic Extended-B? Blocks.txt says which code points it has.",
     lambda f: number(sum(int(row[0], 16) in block(f, "Arabic Extended-B") for row in characters(f))), "number", N),
]
