import csv as __sp_csv


def __sp_csv_lines(source):
    if hasattr(source, "readlines") and hasattr(source, "getvalue"):
        return source.readlines()
    return __sp_all(source)


class __sp_CsvWriter:
    # A writer to something that is no file of the interpreter.
    def __init__(self, out, options):
        self.out = out
        self.delimiter = options.get("delimiter", ",")
        self.quotechar = options.get("quotechar", '"')
        self.quoting = options.get("quoting", 0)
        self.end = options.get("lineterminator", "\r\n")

    def field(self, value):
        text = "" if value is None else str(value)
        special = self.delimiter in text or self.quotechar in text or "\n" in text or "\r" in text
        if self.quoting == 1 or (self.quoting == 2 and not isinstance(value, (int, float))) or (special and self.quoting != 3):
            return self.quotechar + text.replace(self.quotechar, self.quotechar * 2) + self.quotechar
        return text

    def writerow(self, row):
        line = self.delimiter.join([self.field(value) for value in row]) + self.end
        return self.out.write(line)

    def writerows(self, rows):
        for row in __sp_all(rows):
            self.writerow(row)


class __sp_CsvDictWriter:
    def __init__(self, out, fieldnames, restval="", extrasaction="raise", **options):
        self.writer = __sp_CsvWriter(out, options)
        self.fieldnames = list(fieldnames)
        self.restval = restval
        self.extrasaction = extrasaction

    def writeheader(self):
        return self.writer.writerow(self.fieldnames)

    def writerow(self, row):
        extra = [key for key in row if key not in self.fieldnames]
        if extra and self.extrasaction == "raise":
            raise ValueError("dict contains fields not in fieldnames: " + ", ".join([repr(key) for key in extra]))
        return self.writer.writerow([row.get(name, self.restval) for name in self.fieldnames])

    def writerows(self, rows):
        for row in __sp_all(rows):
            self.writerow(row)


def __sp_csv_writer(out, *args, **options):
    return __sp_CsvWriter(out, options)


def __sp_csv_reader(source, *args, **options):
    return __sp_csv.reader(__sp_csv_lines(source), *args, **options)


def __sp_csv_dict_reader(source, *args, **options):
    return __sp_csv.DictReader(__sp_csv_lines(source), *args, **options)


class __sp_Sniffer:
    def sniff(self, sample, delimiters=None):
        best = max(delimiters or ",;\t|", key=lambda char: sample.count(char))
        return __sp_Dialect(best)

    def has_header(self, sample):
        return True


class __sp_Dialect:
    def __init__(self, delimiter):
        self.delimiter = delimiter
        self.quotechar = '"'


def __sp_load_csv():
    return {
        "reader": __sp_csv_reader, "DictReader": __sp_csv_dict_reader, "writer": __sp_csv_writer, "DictWriter": __sp_CsvDictWriter,
        "QUOTE_ALL": 1, "QUOTE_MINIMAL": 0, "QUOTE_NONE": 3, "QUOTE_NONNUMERIC": 2, "field_size_limit": lambda *limit: 131072,
        "Error": __sp_csv.Error, "excel": __sp_csv.excel, "excel_tab": __sp_csv.excel_tab, "Sniffer": __sp_Sniffer,
        "list_dialects": __sp_csv.list_dialects, "Dialect": __sp_csv.Dialect,
    }


__sp_module("csv", __sp_load_csv)
