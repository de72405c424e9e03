# SPDX-License-Identifier: Apache-2.0
"""Which design to build: the recommendation, all workloads together, comparisons and the inside of a design, each
number against the Parquet rows; headings, tables and axe-core's findings.

decision_test.py PLIANT [unittest arguments]. Ends with 77 (skipped) when there is no Chromium, chromedriver or
selenium.
"""

import importlib.util
import math
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import reported  # noqa: E402

SWEEP = """pliant: sweep
name: decision
accelerator: npu
workloads:
  - {name: vision, layers: ["conv:M=64,C=32,P=28,Q=28,R=3,S=3", "gemm:M=1,N=100,K=512"]}
  - {name: text, layers: ["gemm:M=128,N=256,K=256", "gemm:M=128,N=128,K=512"]}
vary:
  - rows: [8, 16]
    cols: [8, 16, 32]
  - sram: [64KiB, 512KiB]
flexibility: ["0000", "1000", "0010", "1010", "1111"]
"""


def frontier(points):
    """Points (x, y, design) that no other dominates."""
    return reported.frontier(points, lambda p: p[0], lambda p: p[1])


def in_page(value):
    """The page's numbers have seven digits."""
    return float(f"{value:.7g}")


def edp_of(row):
    return in_page(row["energy_pj"] * 1e-12 * row["latency_s"])


def knee(points):
    low = [min(p[i] for p in points) for i in (0, 1)]
    span = [max(p[i] for p in points) - low[i] for i in (0, 1)]
    return min(points, key=lambda p: sum((p[i] - low[i]) / span[i] for i in (0, 1)))


class Decision(reported.ReportedSweep):
    @classmethod
    def make(cls, folder):
        reported.make_dataset(cls.pliant, folder, SWEEP)

    def by_design(self):
        """Designs that have every workload: id -> {workload: row}."""
        found = {}
        for row in self.designs:
            if row["energy_pj"] is not None:
                found.setdefault(row["design_id"], {})[row["workload"]] = row
        return {key: rows for key, rows in found.items() if len(rows) == 2}

    def factors(self, weights, worst=False):
        """Area and how far EDP stays behind each workload's best, by design."""
        designs = self.by_design()
        edp = edp_of
        best = {w: min(edp(rows[w]) for rows in designs.values()) for w in weights}
        points = []
        for key, rows in designs.items():
            ratios = {w: edp(rows[w]) / best[w] for w in weights}
            mean = math.exp(sum(weights[w] * math.log(ratios[w]) for w in weights) / sum(weights.values()))
            points.append((in_page(rows["text"]["area_um2"]), max(ratios.values()) if worst else mean, key))
        return points

    def test_all_workloads_together(self):
        equal = {"vision": 1, "text": 1}
        self.assertEqual(self.shown_frontier(), [p[2] for p in frontier(self.factors(equal))])
        self.page.choose("#together-how", "worst")
        self.page.settle()
        self.assertEqual(self.shown_frontier(), [p[2] for p in frontier(self.factors(equal, worst=True))])
        self.page.choose("#together-how", "mean")
        self.page.choose("#weight-0", "5")
        self.page.settle()
        weighted = self.factors({"vision": 5, "text": 1})
        self.assertEqual(self.shown_frontier(), [p[2] for p in frontier(weighted)])
        drawn = {d["row"]: d["y"] for d in self.page.marks("chart-frontier", "symbol")}
        self.assertEqual(len({round(v, 9) for v in drawn.values()}), len({round(p[1], 9) for p in weighted}))
        for value in drawn.values():
            self.assertTrue(any(math.isclose(value, p[1], rel_tol=1e-4) for p in weighted))
        # What the design loses on each network against that network's own best.
        chosen = self.chosen_design()
        for cells in self.page.rows("#losses"):
            rows = [r for r in self.designs if r["workload"] == cells[0] and r["energy_pj"] is not None]
            own = next(r for r in rows if r["design_id"] == chosen)
            edp = lambda r: r["energy_pj"] * r["latency_s"]
            best = min(rows, key=edp)
            if best is own:
                self.assertEqual(cells[-2], "is the best")
                continue
            ratio = edp(own) / edp(best)
            if found := re.match(r"([\d.]+) times", cells[-2]):
                self.assertTrue(math.isclose(float(found[1]), ratio, rel_tol=0.06), (cells, ratio))
            elif found := re.match(r"\+([\d.]+) %", cells[-2]):
                self.assertAlmostEqual(float(found[1]), 100 * (ratio - 1), delta=0.6)
            else:
                self.assertLess(ratio, 1.0006, cells)

    def test_recommendation(self):
        points = self.factors({"vision": 1, "text": 1})
        kept = frontier(points)
        best = knee(kept)
        words = self.page.text("#recommendation-body")
        self.assertRegex(words, rf"^Build design {best[2]}: \d{{4}}: ")
        self.assertIn(f"Of {len(points)} designs, {len(kept)} are beaten by no other", words)
        # The picture beside it marks the same design.
        marked = {d["label"] for d in self.page.marks("chart-knee", "symbol") if d["knee"]}
        self.assertEqual(marked, {f"design {best[2]}"})
        # A value at the end of an axis asks for a wider one.
        row = self.by_design()[best[2]]["text"]
        for column, name in (("set_rows", "rows"), ("set_cols", "cols"), ("set_sram", "sram")):
            values = [r[column] for r in self.designs]
            at_end = min(values) < max(values) and row[column] in (min(values), max(values))
            self.assertEqual(f"{name} (" in (self.page.text(".ends") or ""), at_end, column)
        way = [abs(best[i] - kept[0][i]) / abs(kept[-1][i] - kept[0][i]) for i in (0, 1)]
        shares = [float(s) for s in re.search(r"it has ([\d.]+) %.* for ([\d.]+) %", words).groups()]
        self.assertAlmostEqual(shares[0], 100 * way[1], delta=1)
        self.assertAlmostEqual(shares[1], 100 * way[0], delta=1)
        by_id = {p[2]: p for p in kept}
        steps = self.page.js("return [...document.querySelectorAll('#steps li')].map(li => li.textContent)")
        checked = 0
        for step in steps:
            if not step.startswith("One step"):
                continue
            number, area, edp = re.match(r"One step \w+, design (\d+): (.+?) area, (.+?) EDP", step).groups()
            for index, text in ((0, area), (1, edp)):
                ratio = by_id[int(number)][index] / best[index]
                if found := re.fullmatch(r"([+−])([\d.]+) %", text):
                    shown = float(found[2]) * (1 if found[1] == "+" else -1)
                    self.assertAlmostEqual(shown, 100 * (ratio - 1), delta=0.6, msg=step)
                    checked += 1
            # What the step is made of is what differs in the dataset.
            a, b = (self.by_design()[i]["text"] for i in (best[2], int(number)))
            for column, name in (("set_rows", "rows"), ("set_cols", "columns"), ("set_sram", "sram")):
                self.assertEqual(name in step.split("from", 1)[1], a[column] != b[column], step)
        self.assertGreaterEqual(checked, 2)

    def test_what_limits_it_and_what_flexibility_pays(self):
        best = knee(frontier(self.factors({"vision": 1, "text": 1})))
        limits = self.page.js("return [...document.querySelectorAll('.limits')].map(p => p.textContent)")
        self.assertEqual(len(limits), 2)
        for text in limits:
            workload = re.match(r"On (\w+),", text)[1]
            layers = [r for r in self.layers if r["design_id"] == best[2] and r["workload"] == workload]
            total = sum(r["count"] * r["runtime_cycles"] for r in layers)
            for share, bound in re.findall(r"([\d.]+) % of the time is bound by ([\w ]+?)(?:,| and|\.)", text):
                time = sum(r["count"] * r["runtime_cycles"] for r in layers if r["bound_by"] == bound)
                self.assertTrue(math.isclose(float(share), 100 * time / total, rel_tol=0.06), text)
        # The table of axes: alone against 0000 on the hardware of the knee, geometric mean over the networks.
        row = self.by_design()[best[2]]["text"]
        same = {
            rows["text"]["class"]: rows
            for rows in self.by_design().values()
            if all(rows["text"][c] == row[c] for c in ("set_rows", "set_cols", "set_sram"))
        }
        table = {cells[0][0]: cells for cells in self.page.rows("#recommendation")}
        if "0000" in same and "1000" in same:
            edp = lambda r: r["energy_pj"] * r["latency_s"]
            ratio = math.sqrt(math.prod(edp(same["1000"][w]) / edp(same["0000"][w]) for w in ("text", "vision")))
            found = re.match(r"−([\d.]+) % EDP", table["T"][2])
            self.assertAlmostEqual(float(found[1]), 100 * (1 - ratio), delta=0.6)

    def test_inside(self):
        self.page.choose("#filter-workload", "vision")
        self.page.settle()
        chosen = self.chosen_design()
        design = self.by_design()[chosen]["vision"]
        layers = [r for r in self.layers if r["design_id"] == chosen and r["workload"] == "vision"]
        bars = [d for d in self.page.marks("chart-timeline", "rect") if d["part"] == "time"]
        scale = bars[-1]["to"] / design["latency_s"]
        for bar, layer in zip(bars, layers):
            width = layer["count"] * layer["latency_s"] * scale
            self.assertTrue(math.isclose(bar["to"] - bar["from"], width, rel_tol=1e-5))
            self.assertEqual(bar["bound_by"], layer["bound_by"])
        energy = sum(d["energy"] for d in self.page.marks("chart-timeline", "rect") if d["part"] == "energy")
        self.assertTrue(math.isclose(energy, design["energy_pj"], rel_tol=1e-4))
        area = sum(d["value"] for d in self.page.marks("chart-area", "rect"))
        self.assertTrue(math.isclose(area, design["area_um2"] * 1e-6, rel_tol=1e-4))
        bands = self.page.js("return [...document.querySelectorAll('#flow .band')].map(b => Number(b.dataset.energy))")
        moved = sum(
            r["count"] * t["energy_pj"] for r in layers for memory in r["memories"] for t in memory["tensors"]
        )
        self.assertTrue(math.isclose(sum(bands), moved, rel_tol=1e-4))
        # Tiles: loops of the level and inside of it.
        self.page.click("[data-layer='0']")
        self.page.settle()
        tiles = self.page.js("return [...document.querySelectorAll('#mapping .level p')].map(p => p.textContent)")
        inner = {}
        for level, text in reversed(list(zip(layers[0]["mapping"], tiles))):
            for loop in level["temporal"] + level["rows"] + level["cols"]:
                inner[loop["dim"]] = inner.get(loop["dim"], 1) * loop["bound"]
            if "tile" in text:
                shown = dict(re.findall(r"([A-Z])(\d+)", text.split("tile", 1)[1]))
                self.assertEqual(shown, {d: str(n) for d, n in inner.items() if n > 1}, text)
        fills = self.page.js("return [...document.querySelectorAll('#mapping .trough')].map(f => f.ariaLabel)")
        bounded = [m for m in layers[0]["memories"] if m["capacity_words"]]
        self.assertEqual(len(fills), len(bounded))
        for text, memory in zip(fills, bounded):
            share = float(re.search(r"([\d.]+) %", text)[1])
            self.assertTrue(math.isclose(share, 100 * memory["used_words"] / memory["capacity_words"], rel_tol=6e-3))
        drawing = self.page.js("return document.querySelector('.array-drawing svg').ariaLabel")
        array = next(level for level in layers[0]["mapping"] if level["rows"] or level["cols"])
        for side, word in (("rows", "rows"), ("cols", "columns")):
            words = " × ".join(f"{loop['dim']} {loop['bound']}" for loop in array[side]) or "nothing"
            self.assertIn(f"over the {word} {words}", drawing)

    def test_compare(self):
        self.page.choose("#filter-workload", "text")
        self.page.settle()
        other = max(self.by_design())
        self.enter("compare-id", other)
        head = self.page.js("return [...document.querySelectorAll('#compare-figures th')].map(t => t.textContent)")
        ids = [int(h.split()[1]) for h in head[1:]]
        self.assertIn(other, ids)
        self.assertTrue(2 <= len(ids) <= 4)
        cells = dict((c[0], c[1:]) for c in self.page.rows("#compare-figures"))
        for i, key in enumerate(ids):
            row = self.by_design()[key]["text"]
            self.assertAlmostEqual(float(cells["area"][i].split()[0]), row["area_um2"] * 1e-6, delta=1e-3)
            self.assertEqual(cells["class"][i].split(":")[0], row["class"])
        charts = (("area", "area_um2", 1e-6), ("energy", "energy_pj", None), ("time", "latency_s", None))
        for chart, column, scale in charts:
            drawn = {}
            for d in self.page.marks(f"chart-compare-{chart}", "rect"):
                drawn[d["level"]] = drawn.get(d["level"], 0) + d["value"]
            values = {f"design {key}": self.by_design()[key]["text"][column] for key in ids}
            factor = scale or next(iter(drawn.values())) / values[next(iter(drawn))]
            for name, value in values.items():
                self.assertTrue(math.isclose(drawn[name], value * factor, rel_tol=1e-4), (chart, name))
        nests = self.page.js("return document.querySelectorAll('#compare-mappings .nest').length")
        self.assertEqual(nests, len(ids))

    def test_compare_shows_every_network_of_the_recommendation(self):
        lines = [cells[0] for cells in self.page.rows("#compare-figures")]
        for network in ("text", "vision"):
            self.assertIn(f"EDP, {network}", lines)
            self.assertIn(f"latency, {network}", lines)

    def test_links_show_their_headings(self):
        """The bar of filters stays on top; a heading must not end up under it."""
        for name in self.page.js("return [...document.querySelectorAll('nav a:not([hidden])')].map(a => a.hash)"):
            self.page.click(f"nav a[href='{name}']")
            top, bar = self.page.js(
                "return [document.querySelector(arguments[0] + ' h2').getBoundingClientRect().top, "
                "document.getElementById('filters').getBoundingClientRect().bottom]",
                name,
            )
            self.assertGreaterEqual(top, bar if name != "#provenance" else min(bar, top), name)

    def test_tables_are_whole_or_say_so(self):
        hidden = self.page.js(
            "return [...document.querySelectorAll('.scroll')].filter(s => s.scrollHeight > s.clientHeight + 1).length"
        )
        self.assertEqual(hidden, 0, "a table hides rows")
        shown = len(self.page.rows("#frontier-list"))
        more = self.page.text("#frontier-list .rest")
        self.assertTrue(more is None or re.search(r"other \d+ of", more), (shown, more))
        self.page.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": 800, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        )
        self.page.settle()
        cut = self.page.js(
            "return [...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1).map(s => "
            "s.id)"
        )
        self.assertEqual(cut, [], "a table hides columns at 800 pixels")

    def test_axe_finds_nothing_serious(self):
        spec = importlib.util.find_spec("axe_core_python")
        if spec is None:
            self.skipTest("no axe-core-python; scripts/setup --browser installs it")
        source = (pathlib.Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")
        for theme in ("light", "dark"):
            if self.page.js("return document.documentElement.dataset.theme") != theme:
                self.page.click("#theme")
                self.page.settle()
            self.page.js(source + ";window.axe = axe;")
            found = self.page.driver.execute_async_script(
                "const done = arguments[arguments.length - 1]; axe.run({resultTypes: ['violations']}).then(r => "
                "done(r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => [v.id, v.help, "
                "v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))])))"
            )
            self.assertEqual(found, [], theme)


SEARCH = """pliant: sweep
name: search
accelerator: npu
workloads:
  - {name: vision, layers: ["conv:M=64,C=32,P=28,Q=28,R=3,S=3", "gemm:M=1,N=100,K=512"]}
vary:
  - rows: [4, 8, 16]
    cols: [8, 16, 32]
  - sram: [64KiB, 128KiB, 512KiB]
flexibility: ["1010", "1111"]
minimize: [area_um2, energy_pj]
"""


class Search(reported.ReportedSweep):
    """A search proves its frontier in its goals: the page opens on these, and says where it shows something else."""

    @classmethod
    def make(cls, folder):
        (folder / "sweep.yaml").write_text(SEARCH, encoding="utf-8")
        reported.run_pliant(cls.pliant, "design", folder / "sweep.yaml", "-o", folder / "data")

    def test_it_opens_on_its_goals(self):
        axes = self.page.js("return ['axis-x', 'axis-y'].map(id => document.getElementById(id).value)")
        self.assertEqual(axes, ["area_um2", "energy_pj"])
        rows = [row for row in self.designs if row["energy_pj"] is not None]
        kept = reported.frontier(rows, lambda r: in_page(r["area_um2"]), lambda r: in_page(r["energy_pj"]))
        self.assertEqual(self.shown_frontier(), [row["design_id"] for row in kept])
        words = self.page.text("#recommendation-body")
        self.assertIn("in both area and energy", words)
        self.assertIn("the others proven worse by their bounds)", words)

    def test_other_measures_are_not_what_was_proven(self):
        self.page.js(
            "const up = document.getElementById('axis-y'); up.value = 'edp_pj_cycles'; "
            "up.dispatchEvent(new Event('change'))"
        )
        self.page.settle()
        self.assertIn("proven worse by their bounds, in area and energy only)", self.page.text("#recommendation-body"))


if __name__ == "__main__":
    reported.ReportedSweep.pliant = sys.argv.pop(1)
    browser.require()
    unittest.main(verbosity=2)
