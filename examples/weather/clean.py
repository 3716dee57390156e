"""Brings one city's checked measurements into the form that the later steps read."""

from pathlib import Path

from pipeline import arguments, read_rows, write_rows


def main() -> None:
    args = arguments(__doc__, "station", "dir")
    raw = read_rows(Path(args.dir) / "raw" / f"{args.station}.csv")
    whole = [row for row in raw if all(row.values())]
    rows = []
    for row in whole:
        low, high = float(row["temp_min_c"]), float(row["temp_max_c"])
        rows.append(
            {
                "date": row["date"],
                "t_min": low,
                "t_max": high,
                "t_mean": round((low + high) / 2, 2),
                "rain": float(row["precipitation_mm"]),
            }
        )
    write_rows(Path(args.dir) / "clean" / f"{args.station}.csv", rows)
    print(f"{args.station}: kept {len(rows)} days, left out {len(raw) - len(rows)} unmeasured")


if __name__ == "__main__":
    main()
