"""Tables: CSV, TSV, JSON arrays and JSON lines. Every truth is computed from all rows."""

import statistics
from collections import defaultdict

from extract import best, most, number
from model import Task


def add_to(tasks):
    for slug, corpus, question, truth, how, *rest in TASKS:
        tasks.add(Task("tables", slug, corpus, question, truth, how=how, **(rest[0] if rest else {})))


def mean(values, digits):
    return number(statistics.fmean(values), digits)


def grouped(rows, key, value):
    """The values of each group, in one list per group."""
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(value(row))
    return groups


def top_group(groups, of, *, smallest=False):
    return best(groups, lambda one: of(groups[one]), smallest=smallest)


def movies(f):
    return f.json("movies.json")


def zones(f):
    """The rows of the table of time zones: countries, name."""
    return [(line.split("\t")[0].split(","), line.split("\t")[2]) for line in f.lines("zone1970.tab") if not line.startswith("#")]


def code_of(f, country):
    found = [line.split("\t")[0] for line in f.lines("iso3166.tab") if line.split("\t")[-1] == country]
    return found[0]


def name_of(f, code):
    return [line.split("\t")[1] for line in f.lines("iso3166.tab") if line.startswith(f"{code}\t")][0]


def anes(f):
    """Header in quotes, values with tabs."""
    lines = f.lines("anes96/anes96.csv")
    header = [one.strip("'\" ") for one in lines[0].split("\t")]
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]


def air(f):
    return f.rows("flights-airport.csv"), {row["iata"]: row for row in f.rows("airports.csv")}


def departures(f, column):
    """The flights of each city or state: one number per route."""
    flights, airports = air(f)
    return grouped(flights, lambda row: airports[row["origin"]][column], lambda row: int(row["count"]))


def seats_by_maker(f):
    rows = [row for row in f.rows("planes.csv") if row["seats"] != "NA"]
    return grouped(rows, lambda row: row["manufacturer"], lambda row: int(row["seats"]))


N = {"noun": "number"}

TASKS = [
    # A JSON array of films.
    ("movies-pg13", "movies", "How many of the films carry a PG-13 rating?",
     lambda f: number(sum(row["MPAA Rating"] == "PG-13" for row in movies(f))), "number", N),
    ("movies-director", "movies", "Which director has the most entries in this list of films?",
     lambda f: most(row["Director"] for row in movies(f) if row["Director"])[0], "exact", {"noun": "name"}),
    ("movies-budget", "movies", "What was the highest production budget of any film in the list?",
     lambda f: number(max(row["Production Budget"] or 0 for row in movies(f))), "number", {"noun": "amount"}),
    ("movies-comedy-rating", "movies", "Wie hoch ist die durchschnittliche IMDB-Bewertung der Filme mit dem Genre Comedy, auf zwei Nachkommastellen?",
     lambda f: mean([row["IMDB Rating"] for row in movies(f) if row["Major Genre"] == "Comedy" and row["IMDB Rating"]], 2), "number", {"language": "de", "tolerance": 0.006}),
    ("movies-genre-gross", "movies-lines", "Taking the mean of the worldwide gross, which major genre earns the most per film?",
     lambda f: top_group(grouped([r for r in f.json_lines("movies.jsonl") if r["Major Genre"] and r["Worldwide Gross"] is not None], lambda r: r["Major Genre"], lambda r: r["Worldwide Gross"]), statistics.fmean), "exact", {"noun": "genre"}),
    ("movies-distributors", "movies-lines", "How many different distributors are named in the file?",
     lambda f: number(len({row["Distributor"] for row in f.json_lines("movies.jsonl") if row["Distributor"]})), "number", N),
    ("movies-long", "movies-lines", "Wanted: the title of the film with the longest running time.",
     lambda f: best([row for row in f.json_lines("movies.jsonl") if row["Running Time min"]], lambda row: row["Running Time min"])["Title"], "exact", {"noun": "title"}),
    # Reports of bird strikes.
    ("birds-night", "birdstrikes", "How many of the reported strikes happened at night?",
     lambda f: number(sum(row["Time of day"] == "Night" for row in f.rows("birdstrikes.csv"))), "number", N),
    ("birds-cost", "birdstrikes", "Sum up the total cost of all reports from Texas.",
     lambda f: number(sum(int(row["Cost Total $"]) for row in f.rows("birdstrikes.csv") if row["Origin State"] == "Texas")), "number", {"noun": "amount"}),
    ("birds-phase", "birdstrikes", "Dans quelle phase de vol y a-t-il eu le plus de collisions ?",
     lambda f: most(row["Phase of flight"] for row in f.rows("birdstrikes.csv") if row["Phase of flight"])[0], "exact", {"language": "fr"}),
    ("birds-worst", "birdstrikes", "Which single report has the highest total cost, and at which airport was it? Give the airport's name as in the file.",
     lambda f: best(f.rows("birdstrikes.csv"), lambda row: int(row["Cost Total $"]))["Airport Name"], "exact", {"plain": True}),
    ("birds-species", "birdstrikes", "Leaving aside birds of unknown kind, which species is reported most often in California?",
     lambda f: most(row["Wildlife Species"] for row in f.rows("birdstrikes.csv") if row["Origin State"] == "California" and "nknown" not in row["Wildlife Species"])[0], "exact", {"noun": "species"}),
    # Daily weather of two cities.
    ("weather-snow", "weather", "On how many days did it snow in Seattle?",
     lambda f: number(sum(row["location"] == "Seattle" and row["weather"] == "snow" for row in f.rows("weather.csv"))), "number", N),
    ("weather-hot", "weather", "What is the highest temperature that was measured in New York, and on which date? Just the date.",
     lambda f: best([row for row in f.rows("weather.csv") if row["location"] == "New York"], lambda row: float(row["temp_max"]))["date"], "exact", {"plain": True}),
    ("weather-wet", "weather", "シアトルの2014年の降水量の合計はいくらですか。",
     lambda f: number(sum(float(row["precipitation"]) for row in f.rows("weather.csv") if row["location"] == "Seattle" and row["date"].startswith("2014")), 1), "number", {"language": "ja", "tolerance": 0.11}),
    ("weather-wind", "weather", "Which of the two cities is windier on average?",
     lambda f: top_group(grouped(f.rows("weather.csv"), lambda row: row["location"], lambda row: float(row["wind"])), statistics.fmean), "exact", {"noun": "city"}),
    # Three small files about the climate and disasters.
    ("disasters-drought", "disasters", "In which year did droughts kill the most people?",
     lambda f: best([row for row in f.rows("disasters.csv") if row["Entity"] == "Drought"], lambda row: int(row["Deaths"]))["Year"], "exact", {"noun": "year"}),
    ("disasters-quakes", "disasters", "How many deaths by earthquakes are recorded for 2000 and later, all years added up?",
     lambda f: number(sum(int(row["Deaths"]) for row in f.rows("disasters.csv") if row["Entity"] == "Earthquake" and int(row["Year"]) >= 2000)), "number", N),
    ("disasters-co2", "disasters", "When did the carbon dioxide concentration first go above 400? Give me year and month as YYYY-MM.",
     lambda f: [row["Date"][:7] for row in f.rows("co2-concentration.csv") if float(row["CO2"]) > 400][0], "exact", {"plain": True}),
    # Airports and the flights between them: two files.
    ("air-state", "air-routes", "Flights are listed by airport code, states only in the other file. From which state did the most flights leave?",
     lambda f: top_group(departures(f, "state"), sum), "exact", {"noun": "state", "accept": ["California"]}),
    ("air-chicago", "air-routes", "How many flights in total start at airports in the city of Chicago?",
     lambda f: number(sum(departures(f, "city")["Chicago"])), "number", N),
    ("air-route", "air-routes", "¿Qué trayecto tiene más vuelos? Escribe los dos códigos de aeropuerto, origen y destino.",
     lambda f: " ".join((lambda row: (row["origin"], row["destination"]))(best(air(f)[0], lambda row: int(row["count"])))), "exact", {"language": "es", "plain": True}),
    ("air-alaska", "air-routes", "How many airports are there in Alaska (state AK)?",
     lambda f: number(sum(row["state"] == "AK" for row in f.rows("airports.csv"))), "number", N),
    # Countries over time.
    ("gapminder-life", "gapminder", "Which country has the lowest life expectancy in any year, going by gapminder.json?",
     lambda f: best(f.json("gapminder.json"), lambda row: row["life_expect"], smallest=True)["country"], "exact", {"noun": "country"}),
    ("gapminder-fertility", "gapminder", "2005年各国生育率(fertility)的平均值是多少?以 gapminder.json 为准,保留两位小数。",
     lambda f: mean([row["fertility"] for row in f.json("gapminder.json") if row["year"] == 2005], 2), "number", {"language": "zh", "tolerance": 0.006}),
    # Cars.
    ("cars-japan", "cars", "What is the average weight in pounds of the cars from Japan? Round to whole pounds.",
     lambda f: mean([row["Weight_in_lbs"] for row in f.json("cars.json") if row["Origin"] == "Japan"], 0), "number", {"noun": "number", "tolerance": 0.5}),
    ("cars-median", "cars", "Give the median horsepower over all cars for which it is known.",
     lambda f: number(statistics.median(row["Horsepower"] for row in f.json("cars.json") if row["Horsepower"] is not None)), "number", N),
    ("cars-eight", "cars", "How many models have eight cylinders and come from the USA?",
     lambda f: number(sum(row["Cylinders"] == 8 and row["Origin"] == "USA" for row in f.json("cars.json"))), "number", N),
    # Unemployment, as JSON lines.
    ("jobs-series", "unemployment", "In which branch did the unemployment rate reach its highest value of the whole file?",
     lambda f: best(f.json_lines("unemployment.jsonl"), lambda row: row["rate"])["series"], "exact", {"noun": "name"}),
    ("jobs-construction", "unemployment", "How many people were out of work in Construction in February 2010, in the unit of the file?",
     lambda f: number([row["count"] for row in f.json_lines("unemployment.jsonl") if (row["series"], row["year"], row["month"]) == ("Construction", 2010, 2)][0]), "number", N),
    # Aircraft, airlines and airports.
    ("planes-makers", "planes", "Count the different manufacturers of the planes.",
     lambda f: number(len({row["manufacturer"] for row in f.rows("planes.csv")})), "number", N),
    ("planes-seats", "planes", "Welcher Hersteller baut im Schnitt die größten Flugzeuge, gemessen an den Sitzplätzen?",
     lambda f: top_group(seats_by_maker(f), statistics.fmean), "exact", {"language": "de"}),
    ("planes-2001", "planes", "How many planes were built in 2001?",
     lambda f: number(sum(row["year"] == "2001" for row in f.rows("planes.csv"))), "number", N),
    ("planes-high", "planes", "Which airport lies at the greatest altitude?",
     lambda f: best(f.rows("airports.csv"), lambda row: float(row["alt"]))["name"], "exact", {"noun": "name"}),
    # Hourly weather, far longer than a context window.
    ("nyc-july", "nyc-weather", "What was the mean temperature at JFK in July? One decimal.",
     lambda f: mean([float(row["temp"]) for row in f.rows("weather.csv") if row["origin"] == "JFK" and row["month"] == "7" and row["temp"] != "NA"], 1), "number", {"noun": "number", "tolerance": 0.06}),
    ("nyc-p90", "nyc-weather", "What is the 90th percentile of the humidity at LGA (the smallest recorded value that at least 90 % of the readings do not exceed)?",
     lambda f: (lambda v: number(v[-(-len(v) * 9 // 10) - 1]))(sorted(float(row["humid"]) for row in f.rows("weather.csv") if row["origin"] == "LGA" and row["humid"] != "NA")), "number", {"noun": "number", "tolerance": 0.3}),
    # Football, play by play.
    ("nfl-touchdown", "nfl", "How many plays have TOUCHDOWN in their description?",
     lambda f: number(sum("TOUCHDOWN" in row["description"] for row in f.rows("nfl.csv"))), "number", N),
    ("nfl-games", "nfl", "How many games does the file cover?",
     lambda f: number(len({row["gameid"] for row in f.rows("nfl.csv")})), "number", N),
    # A timetable.
    ("stops-stops", "stop-times", "How many different stops are served in this timetable?",
     lambda f: number(len({row["stop_id"] for row in f.rows("gtfs-mbta-stop-times.csv")})), "number", N),
    # Time zones and country names: two files with tabs.
    ("zones-brazil", "zones", "How many rows of zone1970.tab belong to Brazil? The codes are explained in iso3166.tab.",
     lambda f: number(sum(code_of(f, "Brazil") in codes for codes, _ in zones(f))), "number", N),
    ("zones-most", "zones", "Which time zone is shared by the greatest number of countries?",
     lambda f: best(zones(f), lambda row: len(row[0]))[1], "exact", {"noun": "zone"}),
    # Nested JSON.
    ("countries-landlocked", "countries", "How many of the countries have no coast?",
     lambda f: number(sum(row["landlocked"] for row in f.json("countries.json"))), "number", N),
    ("countries-borders", "countries", "Quel pays a le plus de voisins terrestres ? Son nom courant en anglais.",
     lambda f: best(f.json("countries.json"), lambda row: len(row["borders"]))["name"]["common"], "exact", {"language": "fr", "plain": True}),
    # A survey.
    ("survey-children", "survey", "In the marriage survey (fair.csv), what is the average age of the women without children? Two decimals.",
     lambda f: mean([float(row["age"]) for row in f.rows("fair/fair.csv") if float(row["children"]) == 0], 2), "number", {"noun": "number", "tolerance": 0.006}),
    ("survey-rating", "survey", "Women who rate their marriage 5: how many are there in fair.csv?",
     lambda f: number(sum(float(row["rate_marriage"]) == 5 for row in f.rows("fair/fair.csv"))), "number", N),
]
