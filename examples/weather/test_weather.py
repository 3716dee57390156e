"""Runs every job in order for a fixed night, as a worker would, and checks what comes out.

    python3 examples/weather/test_weather.py

The scripts are taken from the job files, and only the declared `files` lie beside them: a file
that a job needs and does not name is found here. What is read of YAML is read by patterns that
hold for these files, so that nothing has to be installed.
"""

import csv
import datetime
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
NIGHT = datetime.date(2026, 11, 30)  # the report is about the day before
ORDER = [
    "ingest/read_seattle",
    "ingest/read_newyork",
    "ingest/check",
    "clean/seattle",
    "clean/newyork",
    "day",
    "month",
    "join",
    "report/table",
    "report/plot",
    "report/change",
    "report/publish",
]


def jobs() -> dict[str, str]:
    """The text of each job, by its path under `weather`."""
    found = {}
    for file in HERE.glob("*.yaml"):
        head, *entries = re.split(r"^  - name: ", file.read_text(encoding="utf-8"), flags=re.M)
        group = re.search(r"^group: weather/?(.*)$", head, re.M).group(1)
        for entry in entries:
            name, _, body = entry.partition("\n")
            found[f"{group}/{name}".lstrip("/")] = body
    return found


def listed(body: str, key: str) -> list[str]:
    """The names of `key: [a, b]`."""
    match = re.search(rf"^    {key}: \[(.*)\]$", body, re.M)
    return match.group(1).split(", ") if match else []


def script(body: str) -> str | None:
    """The script as written, from the job file or from the file that it names."""
    if match := re.search(r"^    script: \{ file: (\S+) \}$", body, re.M):
        return (HERE / match.group(1)).read_text(encoding="utf-8")
    match = re.search(r"^    script: \|\n((?:      .*\n?)+)", body, re.M)
    return re.sub(r"^      ", "", match.group(1), flags=re.M) if match else None


def render(text: str, config: dict[str, str], night: datetime.date) -> str:
    """Config, then dates; what is unknown stays for the shell."""
    text = re.sub(r"\$\{([\w.]+)\}", lambda m: config.get(m.group(1), m.group(0)), text)

    def day(match: re.Match[str]) -> str:
        shown = night + datetime.timedelta(days=int(match.group(1)))
        return shown.strftime({"yyyyMMdd": "%Y%m%d", "yyyy-MM-dd": "%Y-%m-%d"}[match.group(2)])

    text = re.sub(r'\$\{zdt\.addDay\((-?\d+)\)\.format\("([\w-]+)"\)\}', day, text)
    return text.replace("${yesterday}", (night - datetime.timedelta(days=1)).strftime("%Y%m%d"))


class Weather(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(tempfile.mkdtemp(prefix="weather test "))  # a blank in the path, on purpose
        self.addCleanup(shutil.rmtree, self.dir)
        shutil.copytree(HERE / "data", self.dir / "data")

    def run_job(self, name: str, night: datetime.date = NIGHT) -> subprocess.CompletedProcess[str]:
        body = jobs()[name]
        config = {"hera.dir": str(self.dir), "wet_day_mm": "1.0"}
        if match := re.search(r"config: \{ station: (\w+) \}", body):
            config["station"] = match.group(1)
        with tempfile.TemporaryDirectory() as attempt:
            for file in listed(body, "files"):
                shutil.copy(HERE / file, attempt)
            environment = {
                "PATH": os.environ["PATH"],
                "HERA_JOB": f"weather/{name}",
                "HERA_VERSION": f"{night}T12:30:00Z",
            }
            rendered = render(script(body), config, night)
            return subprocess.run(
                ["bash", "-c", rendered],
                cwd=attempt,
                env=environment,
                capture_output=True,
                text=True,
            )

    def run_all(self, night: datetime.date = NIGHT) -> Path:
        for name in ORDER:
            done = self.run_job(name, night)
            self.assertEqual(done.returncode, 0, f"{name}: {done.stdout}{done.stderr}")
        return self.dir / "out" / f"{night - datetime.timedelta(days=1):%Y%m%d}"

    def break_line(self, station: str, line: int, text: str) -> None:
        path = self.dir / "data" / f"{station}.csv"
        lines = path.read_text().splitlines()
        lines[line - 1] = text
        path.write_text("\n".join(lines) + "\n")

    def test_every_job_but_ready_and_tidy_is_in_the_order(self) -> None:
        self.assertEqual(set(jobs()), {*ORDER, "ready", "tidy"})

    def test_the_figures_are_those_of_the_measurements(self) -> None:
        out = self.run_all()
        with open(out / "month.csv", newline="") as file:
            months = {(row["station"], row["year"]): row for row in csv.DictReader(file)}
        for station in ("seattle", "newyork"):
            with open(HERE / "data" / f"{station}.csv", newline="") as file:
                days = [
                    row
                    for row in csv.DictReader(file)
                    if "2015-11-01" <= row["date"] <= "2015-11-29"
                ]
            row = months[station, "2015"]
            self.assertEqual(row["days"], "29")
            rain = sum(float(day["precipitation_mm"]) for day in days)
            self.assertAlmostEqual(float(row["rain"]), rain, places=1)
            self.assertEqual(float(row["t_min"]), min(float(day["temp_min_c"]) for day in days))
        report = (out / "report.md").read_text(encoding="utf-8")
        self.assertIn("| 2015 | 6.8 | 15.6 (6 November) | −2.7 (28 November) | 212.1 |", report)
        self.assertIn("| 2015 | 11.6 | 23.9 (6 November) | −0.5 (24 November) | 30.5 |", report)
        self.assertIn("| mean 2012–2014 | 8.4 |  |  | 130.7 |  | 13.7 |", report)
        self.assertNotIn("30 November", report)

    def test_the_picture_has_a_bar_for_each_day_and_each_wet_day(self) -> None:
        out = self.run_all()
        svg = ElementTree.parse(out / "month.svg").getroot()
        hints = [title.text for title in svg.iterfind(".//{*}rect/{*}title")]
        self.assertEqual(len([hint for hint in hints if hint.endswith("°C")]), 2 * 29)
        self.assertIn("14 November: 47.2 mm", hints)

    def test_the_page_holds_table_picture_and_change_and_is_the_latest(self) -> None:
        self.run_all(NIGHT - datetime.timedelta(days=1))
        out = self.run_all()
        page = (self.dir / "out" / "latest" / "index.html").read_text(encoding="utf-8")
        self.assertEqual(os.readlink(self.dir / "out" / "latest"), out.name)
        self.assertIn("<svg ", page)
        self.assertIn("<td>212.1</td>", page)
        self.assertIn(
            "<li>Seattle: 0.0 mm of precipitation, the mean went from 7.03 to 6.78 °C.</li>", page
        )
        self.assertEqual([path.name for path in out.iterdir() if path.name.startswith(".")], [])

    def test_a_second_run_gives_the_same_files_and_an_older_night_does_not_take_the_page_back(
        self,
    ) -> None:
        out = self.run_all()
        before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        self.run_all()
        self.assertEqual(
            {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}, before
        )
        self.run_all(NIGHT - datetime.timedelta(days=5))
        self.assertEqual(os.readlink(self.dir / "out" / "latest"), out.name)

    def test_the_first_day_of_a_month_and_the_leap_day_have_a_report(self) -> None:
        for night in (datetime.date(2027, 1, 2), datetime.date(2028, 3, 1)):
            out = self.run_all(night)
            ElementTree.parse(out / "month.svg")
        self.assertTrue(
            (out / "report.md").read_text().startswith("# February 2015 up to 28 February\n")
        )

    def test_broken_measurements_are_refused_by_file_and_line(self) -> None:
        cases = [
            (
                "2012-01-09,4.3,abc,5.0",
                'seattle.csv line 10: temp_max_c is "abc", which is not a number',
            ),
            ("2012-01-09,4.3,9.4", "seattle.csv line 10: it does not have 4 fields"),
            ("2012-01-09,4.3,9.4,5.0,1", "seattle.csv line 10: it does not have 4 fields"),
            (
                "9 January,4.3,9.4,5.0",
                'seattle.csv line 10: date is "9 January", which is not a date',
            ),
            ("2012-01-09,4.3,94,5.0", "seattle.csv line 10: temp_max_c is 94, outside -40 to 50"),
            (
                "2012-01-09,4.3,4.0,5.0",
                "seattle.csv line 10: temp_min_c 5.0 is above temp_max_c 4.0",
            ),
            (
                "2012-01-08,4.3,9.4,5.0",
                "seattle.csv line 10: date is 2012-01-08, which does not follow 2012-01-08",
            ),
        ]
        for text, message in cases:
            self.break_line("seattle", 10, text)
            for name in ORDER[:2]:
                self.assertEqual(self.run_job(name).returncode, 0)
            done = self.run_job("ingest/check")
            self.assertEqual(done.returncode, 3)
            self.assertIn(message, done.stdout)

    def test_a_day_with_a_missing_value_is_left_out(self) -> None:
        self.break_line("seattle", 10, "2012-01-09,,9.4,5.0")
        out = self.run_all()
        clean = (out / "clean" / "seattle.csv").read_text()
        self.assertNotIn("2012-01-09", clean)
        self.assertEqual(len(clean.splitlines()), 1 + 1429 - 1)

    def test_tidy_deletes_old_days_only(self) -> None:
        for day in ("20261020", "20261021"):
            (self.dir / "out" / day).mkdir(parents=True)
        (self.dir / "out" / "notes").mkdir()
        done = self.run_job("tidy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.dir / "out")), ["20261021", "notes"])


if __name__ == "__main__":
    unittest.main()
