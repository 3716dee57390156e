"""The month in figures: one table a city, and one of all days, as Markdown and as HTML."""

import html
from pathlib import Path

from pipeline import (
    CITIES,
    EARLIER,
    LAST_YEAR,
    arguments,
    data_day,
    day_of,
    mean,
    month_name,
    read_rows,
    words,
    write_text,
)

Table = tuple[list[str], list[list[str]]]


def signed(value: float, digits: int) -> str:
    """A difference with its sign; the minus is the typographic one."""
    return f"{value:+.{digits}f}".replace("-", "−")


def plain(value: float) -> str:
    """A value with one digit after the point."""
    return f"{value:.1f}".replace("-", "−")


def with_day(value: str, date: str) -> str:
    """An extreme and the day on which it was first met."""
    return f"{plain(float(value))} ({words(day_of(date))})"


def years(months: list[dict[str, str]]) -> Table:
    """The newest year, the earlier ones, their mean, and how far the newest is from it."""
    head = [
        "",
        "mean °C",
        "warmest °C",
        "coldest °C",
        "precipitation mm",
        "wettest day mm",
        f"wet days (≥ {months[0]['wet_from']} mm)",
    ]
    rows = []
    for row in sorted(months, key=lambda row: row["year"], reverse=True):
        rows.append(
            [
                row["year"],
                plain(float(row["t_mean"])),
                with_day(row["t_max"], row["t_max_date"]),
                with_day(row["t_min"], row["t_min_date"]),
                plain(float(row["rain"])),
                with_day(row["rain_max"], row["rain_max_date"]),
                row["wet_days"],
            ]
        )
    newest, usual = compared(months)
    rows.append(
        [
            f"mean {EARLIER}",
            plain(usual["t_mean"]),
            "",
            "",
            plain(usual["rain"]),
            "",
            plain(usual["wet_days"]),
        ]
    )
    off = {key: newest[key] - usual[key] for key in usual}
    rows.append(
        [
            "difference",
            signed(off["t_mean"], 1),
            "",
            "",
            signed(off["rain"], 1),
            "",
            signed(off["wet_days"], 1),
        ]
    )
    return head, rows


def compared(months: list[dict[str, str]]) -> tuple[dict[str, float], dict[str, float]]:
    """The newest year's figures, and their means over the earlier years.

    Both are rounded here, so that a difference is that of the figures that the reader sees.
    """
    keys = ("t_mean", "rain", "wet_days")
    newest = next(row for row in months if row["year"] == str(LAST_YEAR))
    earlier = [row for row in months if row is not newest]
    return (
        {key: round(float(newest[key]), 1) for key in keys},
        {key: round(mean([float(row[key]) for row in earlier]), 1) for key in keys},
    )


def days(joined: list[dict[str, str]]) -> Table:
    """All measured days, the cities side by side."""
    head = ["day"]
    for city in CITIES.values():
        head += [f"{city} min °C", "max °C", "usual mean °C", "precipitation mm"]
    rows = []
    for row in joined:
        cells = [words(day_of(row["date"]))]
        for station in CITIES:
            for key in ("t_min", "t_max", "t_usual", "rain"):
                value = row[f"{station}_{key}"]
                cells.append(plain(float(value)) if value else "–")
        rows.append(cells)
    return head, rows


def sentence(months: list[dict[str, str]]) -> str:
    """What a hurried reader wants to know of a city; the heading above has its name."""
    newest, usual = compared(months)
    off = newest["t_mean"] - usual["t_mean"]
    warmth = (
        "as warm as"
        if abs(off) < 0.05
        else f"{abs(off):.1f} °C {'warmer' if off > 0 else 'colder'} than"
    )
    share = (
        f", {100 * newest['rain'] / usual['rain']:.0f} % of the usual" if usual["rain"] >= 1 else ""
    )
    return (
        f"{plain(newest['t_mean'])} °C on average, {warmth} the same days of {EARLIER}; "
        f"{plain(newest['rain'])} mm of precipitation{share}."
    )


def as_markdown(table: Table) -> str:
    head, rows = table
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def as_html(table: Table) -> str:
    head, rows = table
    cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = ""
    for first, *rest in rows:
        body += f"<tr><th>{html.escape(first)}</th>"
        body += "".join(f"<td>{html.escape(cell)}</td>" for cell in rest) + "</tr>\n"
    return f"<table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def main() -> None:
    args = arguments(__doc__, "day", "dir")
    out, last = Path(args.dir), data_day(args.day)
    months = read_rows(out / "month.csv")
    joined = [row for row in read_rows(out / "join.csv") if row["date"] <= last.isoformat()]
    title = f"{month_name(last)} {last.year} up to {words(last)}"
    markdown, page = f"# {title}\n", ""
    for station, city in CITIES.items():
        own = [row for row in months if row["station"] == station]
        markdown += f"\n## {city}\n\n{sentence(own)}\n\n{as_markdown(years(own))}"
        page += f"<h2>{city}</h2>\n<p>{html.escape(sentence(own))}</p>\n{as_html(years(own))}"
    markdown += f"\n## Day by day\n\n{as_markdown(days(joined))}"
    page += f"<h2>Day by day</h2>\n{as_html(days(joined))}"
    write_text(out / "report.md", markdown)
    write_text(out / "table.html", page)
    print(f"tables of {len(CITIES)} cities and {len(joined)} days")


if __name__ == "__main__":
    main()
