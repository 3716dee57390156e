"""What all steps share: cities, the day that a version stands for, files never half written.

It knows nothing of Hera: the steps are told by arguments what to do, so they run by hand too.
"""

import argparse
import calendar
import csv
import datetime
import io
import os
import sys
from pathlib import Path
from typing import NoReturn

CITIES = {"seattle": "Seattle", "newyork": "New York"}
FIRST_YEAR, LAST_YEAR = 2012, 2015
EARLIER = f"{FIRST_YEAR}–{LAST_YEAR - 1}"


def arguments(about: str, *names: str) -> argparse.Namespace:
    """Parses the arguments `names`, all of which must be given."""
    parser = argparse.ArgumentParser(description=about)
    for name in names:
        parser.add_argument(f"--{name}", required=True)
    return parser.parse_args()


def data_day(day: str) -> datetime.date:
    """The day of the data set that `day` (yyyy-MM-dd) stands for.

    The measurements end with 2015, so every day is read as the same day of that year.
    2015 had no 29 February: the 28th stands in for it.
    """
    wanted = datetime.date.fromisoformat(day)
    last = calendar.monthrange(LAST_YEAR, wanted.month)[1]
    return datetime.date(LAST_YEAR, wanted.month, min(wanted.day, last))


def day_of(date: str) -> datetime.date:
    """The day that a CSV field names."""
    return datetime.date.fromisoformat(date)


def words(day: datetime.date) -> str:
    """`29 November`: how a person writes a day, whatever the machine's language."""
    return f"{day.day} {month_name(day)}"


def month_name(day: datetime.date) -> str:
    """The English name of the month that `day` lies in."""
    names = "January February March April May June July August September October November December"
    return names.split()[day.month - 1]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header. Stops the step when the file is not there."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        stop(f"{path} does not exist: has the step before this one run for this day?")


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    """Writes rows that all have the same keys as a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def write_text(path: Path, text: str) -> None:
    """Writes a whole file or nothing; a second try replaces it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def mean(values: list[float]) -> float:
    """The arithmetic mean of at least one value."""
    return sum(values) / len(values)


def stop(message: str, code: int = 1) -> NoReturn:
    """Ends the step with a message for the person who reads the log."""
    print(message, file=sys.stderr)
    sys.exit(code)
