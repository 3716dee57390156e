"""Takes one city's lines in, up to the day asked for, as they are; check.py judges them."""

import datetime
from pathlib import Path

from pipeline import arguments, data_day, stop, write_text


def later(line: str, last: datetime.date) -> bool:
    """Whether a line is about a day after `last`. One without a date is not: check.py meets it."""
    try:
        return datetime.date.fromisoformat(line.partition(",")[0]) > last
    except ValueError:
        return False


def main() -> None:
    args = arguments(__doc__, "source", "station", "day", "dir")
    last = data_day(args.day)
    source = Path(args.source) / f"{args.station}.csv"
    try:
        head, *lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        stop(f"could not read {source}: {error}")
    taken = [line for line in lines if not later(line, last)]
    write_text(Path(args.dir) / "raw" / f"{args.station}.csv", "".join([head, *taken]))
    print(f"{args.day} stands for {last}: took {len(taken)} of {len(lines)} days of {args.station}")


if __name__ == "__main__":
    main()
