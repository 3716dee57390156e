"""The month as a picture (SVG): temperature above, precipitation below, a column a city."""

import datetime
import math
from html import escape
from pathlib import Path
from typing import NamedTuple

from pipeline import (
    CITIES,
    EARLIER,
    arguments,
    data_day,
    day_of,
    mean,
    month_name,
    read_rows,
    words,
    write_text,
)

WIDTH, HEIGHT = 1080, 640
FONT = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
INK, QUIET, GRID, AXIS = "#1f2933", "#616e7c", "#e8ebee", "#9aa5b1"
RANGE, MEAN, USUAL, RAIN = "#f6c9a8", "#c8501e", "#52606d", "#3b7fb6"
LEFT, PANEL, GUTTER = 52, 472, 44  # x of the first column, width of a column, space between columns
TEMPERATURE, PRECIPITATION = (150, 410), (462, 592)  # top and bottom of the two rows
KEYS = ("t_min", "t_max", "t_mean", "rain", "t_usual")  # what join.csv has of each city


class Axis(NamedTuple):
    """A vertical axis: its values, and the y of both ends."""

    low: float
    high: float
    step: float
    top: int
    bottom: int

    def y(self, value: float) -> float:
        return self.bottom - (value - self.low) / (self.high - self.low) * (self.bottom - self.top)

    def ticks(self) -> list[float]:
        return [
            self.low + self.step * i for i in range(round((self.high - self.low) / self.step) + 1)
        ]


def axis(values: list[float], ends: tuple[int, int], ticks: int) -> Axis:
    """Round ends round `values`, with about `ticks` round steps between them."""
    low, high = min(values), max(values)
    rough = max(high - low, 1) / ticks
    power = 10 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough)
    floor, ceiling = math.floor(low / step) * step, math.ceil(high / step) * step
    return Axis(floor, ceiling if ceiling > floor else floor + step, step, *ends)


def text(x: float, y: float, said: str, size: float = 12, fill: str = QUIET, more: str = "") -> str:
    at = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" {more}'
    return f"<text {at}>{escape(said)}</text>\n"


def value_label(x: float, y: float, value: float) -> str:
    """A value beside its mark, with a white rim so that grid lines do not run through it."""
    return text(
        x,
        y,
        label(value),
        11,
        INK,
        'text-anchor="middle" stroke="#fff" stroke-width="3" paint-order="stroke"',
    )


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, more: str = "") -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{stroke}" {more}/>\n'


def bar(
    x: float, y: float, width: float, height: float, fill: str, round_: float, hint: str = ""
) -> str:
    title = f"<title>{escape(hint)}</title>" if hint else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="{round_:.1f}" fill="{fill}">{title}</rect>\n'
    )


def dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{MEAN}"/>\n'


def path(points: list[tuple[float, float]], stroke: str, more: str) -> str:
    d = " ".join(f"{'L' if i else 'M'}{x:.1f},{y:.1f}" for i, (x, y) in enumerate(points))
    return f'<path d="{d}" fill="none" stroke="{stroke}" {more}/>\n'


def label(value: float) -> str:
    return f"{value:.1f}".replace("-", "−")


def frame(x0: float, on: Axis, unit: str, step: float, dates: list[datetime.date]) -> str:
    """Grid, values and days of one panel."""
    svg = text(x0 - 8, on.top - 12, unit, 11, more='text-anchor="end"')
    for tick in on.ticks():
        zero = abs(tick) < 1e-9
        svg += line(x0, on.y(tick), x0 + PANEL, on.y(tick), AXIS if zero else GRID)
        svg += text(
            x0 - 8, on.y(tick) + 4, f"{tick:g}".replace("-", "−"), 11, more='text-anchor="end"'
        )
    for i, date in enumerate(dates):
        if date.day == 1 or date.day % 5 == 0:
            svg += text(
                x0 + step * (i + 0.5),
                on.bottom + 18,
                str(date.day),
                11,
                more='text-anchor="middle"',
            )
    return svg


def temperatures(x0: float, on: Axis, step: float, days: list[dict[str, str]]) -> str:
    """Range, mean and usual of each day; the warmest and the coldest are named."""
    centre = [x0 + step * (i + 0.5) for i in range(len(days))]
    measured = [(x, day) for x, day in zip(centre, days, strict=True) if day["t_mean"]]
    svg = ""
    for x, day in measured:
        low, high = float(day["t_min"]), float(day["t_max"])
        hint = f"{words(day_of(day['date']))}: {label(low)} to {label(high)} °C"
        svg += bar(
            x - step * 0.3,
            on.y(high),
            step * 0.6,
            max(on.y(low) - on.y(high), 1),
            RANGE,
            step * 0.3,
            hint,
        )
    usual = [(x, on.y(float(day["t_usual"]))) for x, day in zip(centre, days, strict=True)]
    svg += path(usual, USUAL, 'stroke-width="1.5" stroke-dasharray="5 4"')
    means = [(x, on.y(float(day["t_mean"]))) for x, day in measured]
    svg += path(means, MEAN, 'stroke-width="2" stroke-linejoin="round"')
    for x, y in means:
        svg += dot(x, y)
    warmest = max(measured, key=lambda at: float(at[1]["t_max"]))
    coldest = min(measured, key=lambda at: float(at[1]["t_min"]))
    for (x, day), key, shift in ((warmest, "t_max", -6), (coldest, "t_min", 14)):
        svg += value_label(x, on.y(float(day[key])) + shift, float(day[key]))
    return svg


def precipitation(x0: float, on: Axis, step: float, days: list[dict[str, str]]) -> str:
    """A bar for each wet day; the wettest is named."""
    svg, wettest = "", (0.0, 0.0)
    for i, day in enumerate(days):
        rain = float(day["rain"] or 0)
        if rain > 0:
            x = x0 + step * (i + 0.5)
            hint = f"{words(day_of(day['date']))}: {label(rain)} mm"
            svg += bar(
                x - step * 0.3, on.y(rain), step * 0.6, on.bottom - on.y(rain), RAIN, 1.5, hint
            )
            wettest = max(wettest, (rain, x))
    if wettest[0] > 0:
        svg += value_label(wettest[1], on.y(wettest[0]) - 5, wettest[0])
    else:
        svg += text(
            x0 + PANEL / 2, (on.top + on.bottom) / 2, "none so far", 12, more='text-anchor="middle"'
        )
    return svg


def column(x0: float, city: str, days: list[dict[str, str]], upper: Axis, lower: Axis) -> str:
    """Both panels of one city under its name and its figures."""
    step = PANEL / len(days)
    dates = [day_of(day["date"]) for day in days]
    measured = [day for day in days if day["t_mean"]]
    warmth = mean([float(day["t_mean"]) for day in measured])
    rain = sum(float(day["rain"]) for day in measured)
    figures = f"mean {label(warmth)} °C, {label(rain)} mm in all"
    svg = text(x0, upper.top - 30, city, 16, INK, 'font-weight="600"')
    svg += text(x0 + PANEL, upper.top - 30, figures, 12.5, QUIET, 'text-anchor="end"')
    svg += frame(x0, upper, "°C", step, dates) + temperatures(x0, upper, step, days)
    svg += frame(x0, lower, "mm", step, dates) + precipitation(x0, lower, step, days)
    return svg


def legend(y: float) -> str:
    """What the marks mean. The widths leave room for any of the fonts above."""
    stroke = 'stroke-width="2"'
    dashes = 'stroke-width="1.5" stroke-dasharray="5 4"'
    x1, x2, x3, x4 = LEFT, LEFT + 150, LEFT + 246, LEFT + 454
    svg = bar(x1, y - 13, 9, 16, RANGE, 4.5) + text(x1 + 16, y, "lowest to highest", 12.5, INK)
    svg += line(x2, y - 4.5, x2 + 22, y - 4.5, MEAN, stroke) + dot(x2 + 11, y - 4.5)
    svg += text(x2 + 30, y, "mean", 12.5, INK)
    svg += line(x3, y - 4.5, x3 + 22, y - 4.5, USUAL, dashes)
    svg += text(x3 + 30, y, f"usual mean ({EARLIER})", 12.5, INK)
    return svg + bar(x4, y - 10, 9, 13, RAIN, 1.5) + text(x4 + 16, y, "precipitation", 12.5, INK)


def picture(joined: list[dict[str, str]], last: datetime.date) -> str:
    """The whole SVG. Both cities share their axes, so that heights can be compared."""
    cities = {
        station: [
            {"date": row["date"]} | {key: row[f"{station}_{key}"] for key in KEYS} for row in joined
        ]
        for station in CITIES
    }
    everything = [day for days in cities.values() for day in days]
    degrees = [
        float(day[key]) for day in everything for key in ("t_min", "t_max", "t_usual") if day[key]
    ]
    rain = [float(day["rain"]) for day in everything if day["rain"]]
    upper = axis([*degrees, min(degrees) - 1, max(degrees) + 1], TEMPERATURE, 6)
    lower = axis([0, *rain, max(5, max(rain) * 1.1)], PRECIPITATION, 3)
    title = f"{month_name(last)} {last.year} in {' and '.join(CITIES.values())}"
    subtitle = f"Temperature and precipitation of each day up to {words(last)}"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" font-family="{FONT}">\n'
        f"<title>{escape(title)}</title>\n<desc>{escape(subtitle)}</desc>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
    )
    svg += text(LEFT, 36, title, 22, INK, 'font-weight="600"') + text(LEFT, 58, subtitle, 13.5)
    svg += legend(86)
    for i, (station, days) in enumerate(cities.items()):
        svg += column(LEFT + i * (PANEL + GUTTER), CITIES[station], days, upper, lower)
    svg += text(LEFT, HEIGHT - 8, "Measurements: NOAA Climate Data Online", 11)
    return svg + "</svg>\n"


def main() -> None:
    args = arguments(__doc__, "day", "dir")
    out, last = Path(args.dir), data_day(args.day)
    write_text(out / "month.svg", picture(read_rows(out / "join.csv"), last))
    print(f"drew {month_name(last)} {last.year} up to {words(last)}")


if __name__ == "__main__":
    main()
