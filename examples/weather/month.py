"""The month to date for each city and year: the same days of four years, to be compared."""

from pathlib import Path

from pipeline import (
    CITIES,
    FIRST_YEAR,
    LAST_YEAR,
    arguments,
    data_day,
    mean,
    read_rows,
    stop,
    write_rows,
)


def summary(
    station: str, year: int, days: list[dict[str, str]], wet_from: float
) -> dict[str, object]:
    """The figures of one city and year. Of equal extremes the first day is named.

    The mean keeps four digits: readers round it once, when they show it.
    """
    warmest = max(days, key=lambda row: float(row["t_max"]))
    coldest = min(days, key=lambda row: float(row["t_min"]))
    wettest = max(days, key=lambda row: float(row["rain"]))
    rain = [float(row["rain"]) for row in days]
    return {
        "station": station,
        "year": year,
        "days": len(days),
        "t_mean": round(mean([float(row["t_mean"]) for row in days]), 4),
        "t_max": warmest["t_max"],
        "t_max_date": warmest["date"],
        "t_min": coldest["t_min"],
        "t_min_date": coldest["date"],
        "rain": round(sum(rain), 1),
        "rain_max": wettest["rain"],
        "rain_max_date": wettest["date"],
        "wet_from": wet_from,
        "wet_days": sum(value >= wet_from for value in rain),
    }


def main() -> None:
    args = arguments(__doc__, "day", "dir", "wet")
    last = data_day(args.day)
    rows = []
    for station in CITIES:
        measured = read_rows(Path(args.dir) / "clean" / f"{station}.csv")
        for year in range(FIRST_YEAR, LAST_YEAR + 1):
            first, end = f"{year}-{last:%m}-01", f"{year}-{last:%m-%d}"
            days = [row for row in measured if first <= row["date"] <= end]
            if not days:
                stop(f"{station} has no day from {first} to {end}")
            rows.append(summary(station, year, days, float(args.wet)))
    write_rows(Path(args.dir) / "month.csv", rows)
    print(
        f"days 1 to {last.day} of the month, {FIRST_YEAR} to {LAST_YEAR}, for {len(CITIES)} cities"
    )


if __name__ == "__main__":
    main()
