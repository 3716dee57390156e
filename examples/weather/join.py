"""Puts the cities side by side: one row a day, refused when one of them lacks a day."""

from pathlib import Path

from pipeline import CITIES, arguments, read_rows, stop, write_rows


def main() -> None:
    args = arguments(__doc__, "dir")
    cities: dict[str, dict[str, dict[str, str]]] = {station: {} for station in CITIES}
    for row in read_rows(Path(args.dir) / "day.csv"):
        cities[row.pop("station")][row.pop("date")] = row
    dates = sorted(set().union(*cities.values()))
    rows = []
    for date in dates:
        joined: dict[str, object] = {"date": date}
        for station, days in cities.items():
            if date not in days:
                stop(f"{station} has no row for {date}")
            joined |= {f"{station}_{key}": value for key, value in days[date].items()}
        rows.append(joined)
    write_rows(Path(args.dir) / "join.csv", rows)
    print(f"joined {len(rows)} days of {' and '.join(CITIES.values())}")


if __name__ == "__main__":
    main()
