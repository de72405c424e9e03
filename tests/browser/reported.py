# SPDX-License-Identifier: Apache-2.0
"""A sweep, its rows and its report: what every browser test begins with, and what its frontier must be."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import browser


def run_pliant(pliant, *words):
    done = subprocess.run([pliant, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"pliant {words}: {done.stdout}{done.stderr}")


def make_dataset(pliant, folder, sweep):
    """Writes the sweep file and the dataset folder/data."""
    (folder / "sweep.yaml").write_text(sweep, encoding="utf-8")
    run_pliant(pliant, "sweep", folder / "sweep.yaml", "-o", folder / "data")


def make_report(pliant, folder):
    """The page of folder/data, and its rows: designs, layers."""
    import pyarrow.parquet

    run_pliant(pliant, "report", folder / "data", "-o", folder / "report.html")
    tables = [pyarrow.parquet.read_table(folder / "data" / name).to_pylist() for name in ("designs", "layers")]
    return folder / "report.html", *tables


def frontier(rows, x, y):
    """The textbook way: rows that no other dominates in x(row) and y(row), by ascending x; of equal ones the first."""
    at = [(x(row), y(row)) for row in rows]

    def beaten(i):
        return any(
            b[0] <= at[i][0] and b[1] <= at[i][1] and (b != at[i] or j < i) for j, b in enumerate(at) if j != i
        )

    return sorted((row for i, row in enumerate(rows) if not beaten(i)), key=x)


class ReportedSweep(unittest.TestCase):
    """Tests of one page. A class of tests gives `pliant` and `make`, which writes the dataset data of a folder."""

    pliant = None

    @classmethod
    def make(cls, folder):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="pliant-report-")
        cls.here = pathlib.Path(cls.folder.name)
        cls.make(cls.here)
        file, cls.designs, cls.layers = make_report(cls.pliant, cls.here)
        cls.page = browser.Page(file)

    @classmethod
    def tearDownClass(cls):
        cls.page.close()
        cls.folder.cleanup()

    def setUp(self):
        self.page.reload()
        self.page.settle()

    def tearDown(self):
        self.assertEqual(self.page.messages(), [], "the console is not empty")

    def shown_frontier(self):
        """Designs of the list beside the frontier."""
        return [int(re.match(r"\d+", cells[0])[0]) for cells in self.page.rows("#frontier-list")]

    def chosen_design(self):
        return int(self.page.text("#chosen h3").split()[1])

    def enter(self, field, value):
        """Types into a field of the page."""
        self.page.js(
            "const i = document.getElementById(arguments[0]); i.value = arguments[1]; i.dispatchEvent(new "
            "Event('change'))",
            field,
            value,
        )
        self.page.settle()
