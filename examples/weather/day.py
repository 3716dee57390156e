"""One row for each city and day of the month: what was measured, and what is usual."""

import calendar
import datetime
from pathlib import Path

from pipeline import CITIES, FIRST_YEAR, LAST_YEAR, arguments, data_day, mean, read_rows, write_rows

# The usual of a day is the mean over this many days before and after it in the earlier years:
# three years alone would make a line that jumps from day to day.
REACH = 3


def usual(days: dict[str, dict[str, str]], day: datetime.date) -> float:
    """The mean temperature in °C round this day of the year, in the years before the last."""
    values = []
    for year in range(FIRST_YEAR, LAST_YEAR):
        for shift in range(-REACH, REACH + 1):
            near = day.replace(year=year) + datetime.timedelta(days=shift)
            if row := days.get(near.isoformat()):
                values.append(float(row["t_mean"]))
    return round(mean(values), 4)


def main() -> None:
    args = arguments(__doc__, "day", "dir")
    last = data_day(args.day)
    rows = []
    for station in CITIES:
        days = {row["date"]: row for row in read_rows(Path(args.dir) / "clean" / f"{station}.csv")}
        for number in range(1, calendar.monthrange(last.year, last.month)[1] + 1):
            day = last.replace(day=number)
            measured = days.get(day.isoformat(), {}) if day <= last else {}
            rows.append(
                {
                    "station": station,
                    "date": day.isoformat(),
                    **{key: measured.get(key, "") for key in ("t_min", "t_max", "t_mean", "rain")},
                    "t_usual": usual(days, day),
                }
            )
    write_rows(Path(args.dir) / "day.csv", rows)
    print(f"{len(rows)} rows, measured up to {last}")


if __name__ == "__main__":
    main()
