"""What the newest day has changed: the month as it is against the month of a night before."""

from pathlib import Path

from pipeline import CITIES, LAST_YEAR, arguments, day_of, read_rows, words, write_text


def newest(path: Path) -> dict[str, dict[str, str]]:
    """The last year's figures of each city."""
    return {row["station"]: row for row in read_rows(path) if row["year"] == str(LAST_YEAR)}


def change(city: str, now: dict[str, str], then: dict[str, str]) -> str:
    """One sentence a city. A month that has just begun has nothing to be compared with."""
    if now["t_max_date"][:7] != then["t_max_date"][:7]:
        return f"{city}: a new month begins."
    if now["days"] == then["days"]:
        return f"{city}: no day was added."
    said = [f"{float(now['rain']) - float(then['rain']):.1f} mm of precipitation"]
    said.append(f"the mean went from {float(then['t_mean']):.2f} to {float(now['t_mean']):.2f} °C")
    for key, name in (("t_max", "warmest"), ("t_min", "coldest"), ("rain_max", "wettest")):
        if now[f"{key}_date"] != then[f"{key}_date"]:
            said.append(f"{words(day_of(now[f'{key}_date']))} is the {name} day so far")
    return f"{city}: {', '.join(said)}.".replace("-", "−")


def main() -> None:
    args = arguments(__doc__, "dir", "before")
    now, before = newest(Path(args.dir) / "month.csv"), Path(args.before) / "month.csv"
    if before.exists():
        then = newest(before)
        lines = [change(city, now[station], then[station]) for station, city in CITIES.items()]
    else:
        lines = ["This is the first night: there is nothing to compare with."]
    write_text(Path(args.dir) / "change.txt", "".join(f"{line}\n" for line in lines))
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
