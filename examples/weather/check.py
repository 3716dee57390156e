"""Refuses broken measurements, naming file, line and reason; changes nothing."""

import datetime
from collections.abc import Iterator
from pathlib import Path

from pipeline import CITIES, arguments, data_day, read_rows, stop, write_text

BROKEN = 3  # the exit code that the job's `retries.not_on` names
COLUMNS = ["date", "precipitation_mm", "temp_max_c", "temp_min_c"]
# What the two cities can have: wider than any record there, narrower than a slipped decimal point.
LIMITS = {"precipitation_mm": (0, 400), "temp_max_c": (-40, 50), "temp_min_c": (-45, 40)}
MISSING_MAX = 10  # days of a city without one of the values
SHOWN_MAX = 20  # faults that are printed


def row_faults(row: dict[str, str]) -> Iterator[str]:
    """What is wrong with one row by itself. An empty field is a missing value, not a fault."""
    if None in row or None in row.values():
        yield f"it does not have {len(COLUMNS)} fields"
        return
    values = {}
    for column, (low, high) in LIMITS.items():
        text = row[column]
        if text == "":
            continue
        try:
            values[column] = float(text)
        except ValueError:
            yield f'{column} is "{text}", which is not a number'
            continue
        if not low <= values[column] <= high:
            yield f"{column} is {text}, outside {low} to {high}"
    if values.get("temp_min_c", -99) > values.get("temp_max_c", 99):
        yield f"temp_min_c {row['temp_min_c']} is above temp_max_c {row['temp_max_c']}"


def date_of(text: str) -> datetime.date | None:
    """The date that a field holds, if it holds one."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def day_faults(text: str, before: datetime.date | None) -> Iterator[str]:
    """Days must follow one another: a gap, a repeated day or a wrong order is one fault."""
    day = date_of(text)
    if day is None:
        yield f'date is "{text}", which is not a date'
    elif before is not None and day != before + datetime.timedelta(days=1):
        yield f"date is {day}, which does not follow {before}"


def faults(path: Path, last: datetime.date) -> Iterator[str]:
    """All that is wrong with one file, each with its line number."""
    rows = read_rows(path)
    if not rows or list(rows[0])[: len(COLUMNS)] != COLUMNS:
        yield f"{path.name}: the columns are not {', '.join(COLUMNS)}"
        return
    before, missing = None, 0
    for line, row in enumerate(rows, start=2):
        for fault in [*day_faults(row["date"], before), *row_faults(row)]:
            yield f"{path.name} line {line}: {fault}"
        missing += any(row[column] == "" for column in LIMITS)
        before = date_of(row["date"])
    if missing > MISSING_MAX:
        yield f"{path.name}: {missing} days miss a value, more than {MISSING_MAX}"
    if rows[-1]["date"] != last.isoformat():
        yield f"{path.name}: the last day is {rows[-1]['date']}, not {last}"


def main() -> None:
    args = arguments(__doc__, "day", "dir")
    last = data_day(args.day)
    found = []
    for station in CITIES:
        found += faults(Path(args.dir) / "raw" / f"{station}.csv", last)
    if found:
        for fault in found[:SHOWN_MAX]:
            print(fault)
        count = "one fault" if len(found) == 1 else f"{len(found)} faults"
        stop(f"the measurements are broken: {count}; nothing is built on them", BROKEN)
    write_text(Path(args.dir) / "raw" / "checked", f"both cities are whole up to {last}\n")
    print(f"both cities are whole up to {last}")


if __name__ == "__main__":
    main()
