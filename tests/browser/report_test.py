# SPDX-License-Identifier: Apache-2.0
"""End to end: a real sweep, its report in a headless Chromium, and every number shown against the Parquet rows.

report_test.py PLIANT [unittest arguments]. Ends with 77 (skipped) when there is no Chromium, chromedriver or selenium.
"""

import csv
import json
import math
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import hostile_dataset  # noqa: E402
import reported  # noqa: E402
from hostile_dataset import HOSTILE, LAYER, SWEEP_NAME  # noqa: E402

PREFIX = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "m": 1e-3, "µ": 1e-6, "n": 1e-9, "p": 1e-12}


def number(text):
    """'2,860,000 cycles', '4.662 mJ', '1.2 MJ × cycles', '0.19 mm²', '99 %' as numbers in the unit without prefix."""
    match = re.match(r"^([-+\d.,e]+)(?: ([kMGTPmµnp]?)(J|s|W)?(?![a-z²]))?", text)
    value = float(match[1].replace(",", ""))
    if text.endswith("%"):
        return value / 100
    return value * PREFIX[match[2] or ""] if match[3] or match[2] in ("k", "M", "G", "T", "P") else value


def frontier(rows, x, y):
    """Rows that no other dominates in two columns."""
    return reported.frontier(rows, lambda row: row[x], lambda row: row[y])


class Report(reported.ReportedSweep):
    @classmethod
    def make(cls, folder):
        hostile_dataset.make(cls.pliant, folder)

    def tearDown(self):
        super().tearDown()
        self.assertIsNone(self.page.js("return window.hacked ?? null"), "a name ran as a script")
        self.assertEqual(
            self.page.js("return document.querySelectorAll('img, b[onmouseover], i[onclick]').length"),
            0,
            "a name became an element",
        )
        self.assertEqual(
            self.page.js("return performance.getEntriesByType('resource').length"), 0, "something was fetched"
        )

    def of(self, workload, **wanted):
        """Rows of designs that have mappings; the small buffer holds no fixed tile, so some have none."""
        return [
            r
            for r in self.designs
            if r["energy_pj"] is not None and r["workload"] == workload and all(r[k] == v for k, v in wanted.items())
        ]

    def show(self, workload):
        """The page opens with all workloads together."""
        self.page.choose("#filter-workload", workload)
        self.page.until(
            "return document.getElementById('frontier-caption').textContent.includes('on ' + arguments[0])",
            workload[:20],
        )
        self.page.settle()

    def show_gemms(self):
        self.show("gemms")

    def row_of(self, design):
        """The page numbers rows as the dataset orders them."""
        return self.designs.index(design)

    def assert_close(self, shown, value, message=""):
        self.assertTrue(math.isclose(shown, value, rel_tol=2e-3), f"{message}: shown {shown}, Parquet has {value}")

    def assert_frontier(self, workload, x, y, **wanted):
        rows = [r for r in self.of(workload, **wanted) if r[y] is not None]
        expected = [r["design_id"] for r in frontier(rows, x, y)]
        self.assertEqual(self.shown_frontier(), expected)
        points = [d for d in self.page.marks("chart-frontier", "symbol") if "row" in d and not d.get("chosen")]
        drawn = {d["row"] for d in points}
        missing = {self.row_of(r) for r in rows} - drawn
        self.assertLessEqual(len(missing), 1, "all but the chosen one, which has a ring of its own, are drawn once")
        for d in points:
            design = self.designs[d["row"]]
            self.assertEqual(d["frontier"], design["design_id"] in expected)
        return points

    def test_hostile_names_are_text(self):
        self.assertEqual(self.page.text("#name"), SWEEP_NAME)
        self.assertEqual(self.page.js("return document.title"), SWEEP_NAME + " - Pliant")
        self.assertEqual(self.page.text("#filter-workload option:nth-child(2)"), HOSTILE)
        self.show(HOSTILE)
        self.assertEqual(self.page.text("#layers tbody td"), LAYER)
        self.assertIn(HOSTILE.strip()[:40], self.page.text("#design-name"))
        wide = self.page.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.assertLessEqual(wide, 0, "long names push the page wider than the window")

    def test_frontier_and_axes(self):
        self.show(HOSTILE)
        self.assert_frontier(HOSTILE, "area_um2", "edp_pj_cycles")
        self.page.choose("#axis-y", "runtime_cycles")
        self.page.settle()
        points = self.assert_frontier(HOSTILE, "area_um2", "runtime_cycles")
        for d in points:
            self.assertAlmostEqual(d["y"], self.designs[d["row"]]["runtime_cycles"])
            self.assert_close(d["x"], self.designs[d["row"]]["area_um2"] * 1e-6, "area")
        titles = self.page.js(
            "return [...document.querySelectorAll('#chart-frontier .role-axis-title text')].map(t => t.textContent)"
        )
        self.assertEqual(sorted(titles), ["area (mm²)", "runtime (cycles)"])
        self.page.choose("#axis-x", "energy_pj")
        self.page.click("#log-x")
        self.page.settle()
        self.assert_frontier(HOSTILE, "energy_pj", "runtime_cycles")

    def test_filters(self):
        self.show_gemms()
        self.assert_frontier("gemms", "area_um2", "edp_pj_cycles")
        self.page.click("#labels-none")
        self.page.settle()
        self.assertIn("No design", self.page.text("#chart-frontier"))
        self.page.click("[data-label='1010']")
        self.page.settle()
        self.assert_frontier("gemms", "area_um2", "edp_pj_cycles", **{"class": "1010"})
        self.page.choose("#filter-array", "8 x 16")
        self.page.settle()
        self.assert_frontier("gemms", "area_um2", "edp_pj_cycles", **{"class": "1010", "set_rows": 8, "set_cols": 16})
        self.page.choose("#filter-set_Buffer_capacity_words", "65536")
        self.page.settle()
        self.assertEqual(
            len(
                self.assert_frontier(
                    "gemms",
                    "area_um2",
                    "edp_pj_cycles",
                    **{"class": "1010", "set_rows": 8, "set_cols": 16, "set_Buffer_capacity_words": 65536},
                )
            ),
            1,
        )

    def test_hover_shows_the_design(self):
        self.show_gemms()
        design = frontier(self.of("gemms"), "area_um2", "edp_pj_cycles")[-1]
        self.page.hover(*self.page.point("chart-frontier", self.row_of(design)))
        self.page.until("return !document.getElementById('tip').hidden")
        tip = dict(
            self.page.js(
                "return [...document.querySelectorAll('#tip div')].map(d => [d.children[0].textContent, "
                "d.children[1].textContent])"
            )
        )
        self.assertEqual(tip["design"], str(design["design_id"]))
        self.assertEqual(tip["class"].split(":")[0], design["class"])
        self.assertEqual(tip["array"], f"{design['set_rows']} x {design['set_cols']}")
        for words, column, scale in (
            ("area", "area_um2", 1e-6),
            ("energy", "energy_pj", 1e-12),
            ("runtime", "runtime_cycles", 1),
            ("EDP", "edp_pj_cycles", 1e-12),
            ("utilization", "utilization", 1),
        ):
            self.assert_close(number(tip[words]), design[column] * scale, words)

    def test_click_shows_the_layers(self):
        self.show_gemms()
        design = frontier(self.of("gemms"), "area_um2", "edp_pj_cycles")[0]
        self.page.click_at(*self.page.point("chart-frontier", self.row_of(design)))
        self.page.until(
            "return document.querySelector('#chosen h3').textContent === arguments[0]", f"Design {design['design_id']}"
        )
        self.page.settle()
        self.assert_close(number(self.page.pairs("#chosen")["energy"]), design["energy_pj"] * 1e-12, "energy")
        layers = [r for r in self.layers if r["design_id"] == design["design_id"] and r["workload"] == "gemms"]
        shown = self.page.rows("#layers")
        self.assertEqual(len(shown), len(layers))
        for cells, layer in zip(shown, layers):
            self.assertEqual(cells[0], layer["layer"])
            self.assertEqual(cells[1], " ".join(f"{d['dim']}{d['bound']}" for d in layer["dims"]))
            self.assert_close(number(cells[4]), layer["energy_pj"] * 1e-12, "energy of a layer")
            self.assertEqual(number(cells[5]), layer["runtime_cycles"])
            self.assert_close(number(cells[6]), layer["utilization"], "utilization")
            self.assertEqual(cells[7], layer["bound_by"])
            self.assertEqual(cells[8] == "optimal", layer["certificate"]["certified"])
        # Energy and traffic by memory and tensor.
        for chart, value_of, scale in (
            ("chart-energy", lambda t: t["energy_pj"], 1e-12 / self.prefix("chart-energy", "J")),
            ("chart-traffic", lambda t: t["words_read"] + t["words_written"], 1),
        ):
            drawn = {(d["level"], d["tensor"]): d["value"] for d in self.page.marks(chart, "rect")}
            for memory in layers[0]["memories"]:
                for tensor in memory["tensors"]:
                    name = (memory["level"], tensor["tensor"])
                    total = sum(
                        layer["count"] * value_of(t)
                        for layer in layers
                        for m in layer["memories"]
                        for t in m["tensors"]
                        if (m["level"], t["tensor"]) == name
                    )
                    if total:
                        self.assert_close(drawn[name], total * scale, f"{chart} {name}")
            if scale != 1:
                self.assert_close(sum(drawn.values()), design["energy_pj"] * scale, "energy of the design")
        utilization = [d["utilization"] for d in self.page.marks("chart-utilization", "rect") if not d.get("chosen")]
        self.assertGreaterEqual(len(utilization), len(layers) - 1)
        roofline = {d["name"]: d for d in self.page.marks("chart-roofline", "symbol") if d.get("kind") == "layer"}
        for layer in layers:
            words = sum(t["reads"] for t in layer["memories"][0]["tensors"])
            self.assert_close(roofline[layer["layer"]]["x"], layer["macs"] / words, "intensity")
            self.assert_close(roofline[layer["layer"]]["y"], layer["macs"] / layer["runtime_cycles"], "MACs per cycle")
            self.assertLessEqual(
                roofline[layer["layer"]]["y"],
                4 * roofline[layer["layer"]]["x"] * (1 + 1e-6),
                "above the roof of 4 words a cycle",
            )
        # The mapping of a layer, loop by loop.
        self.page.click("[data-layer='1']")
        self.page.settle()
        loops = self.page.js(
            "return [...document.querySelectorAll('#mapping li')].map(li => [li.querySelector('i').textContent, "
            "li.querySelector('b')?.textContent ?? '', li.textContent])"
        )
        expected = []
        for level in layers[1]["mapping"]:
            expected += [["for", loop["dim"], loop["bound"]] for loop in level["temporal"]]
            expected += [["parallel", loop["dim"], loop["bound"]] for loop in level["rows"] + level["cols"]]
        self.assertEqual(
            [[kind, dim, int(re.search(r"… (\d+)", words)[1]) + 1] for kind, dim, words in loops[:-1]], expected
        )

    def prefix(self, chart, unit):
        """The factor of the unit in an axis' title: 1e-6 for 'energy (µJ)'."""
        titles = self.page.js(
            "return [...document.querySelectorAll(`#${arguments[0]} .role-axis-title text`)].map(t => t.textContent)",
            chart,
        )
        return next(PREFIX[m[1]] for t in titles if (m := re.search(rf"\((.?){unit}\)", t)))

    def test_flexibility(self):
        """The heat map against the definition: geometric mean over the hardware of runtime over the inflexible
        one's."""
        hardware = lambda r: (r["workload"], r["set_rows"], r["set_cols"], r["set_Buffer_capacity_words"])
        base = {hardware(r): r for r in self.designs if r["class"] == "0000"}
        self.assertGreater(len(base), 0)
        self.assertLess(len(base), len({hardware(r) for r in self.designs}), "some hardware has no inflexible design")
        ratios = {}
        for r in self.designs:
            if hardware(r) not in base:
                continue
            ratios.setdefault((r["class"], r["workload"]), []).append(
                r["runtime_cycles"] / base[hardware(r)]["runtime_cycles"]
            )
        expected = {key: math.exp(sum(map(math.log, values)) / len(values)) for key, values in ratios.items()}
        goal = self.page.js("return document.getElementById('flexibility-metric').value")
        self.assertEqual(goal, "rel_edp", "it opens on what the recommendation looks for")
        self.page.choose("#flexibility-metric", "rel_runtime")
        self.page.settle()
        cells = {(d["label"], d["workload"]): d["value"] for d in self.page.marks("chart-classes", "rect")}
        self.assertEqual(set(cells), set(expected))
        for key, value in expected.items():
            self.assert_close(cells[key], value, key)
        # --png draws the same numbers.
        reported.run_pliant(self.pliant, "report", self.here / "data", "--png", self.here / "figures", "--scale", "0.5")
        with open(self.here / "figures/classes_runtime.csv", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                self.assert_close(float(row["value"]), expected[row["label"], row["workload"]], "CSV")
        self.assertTrue((self.here / "figures/classes_runtime.png").read_bytes().startswith(b"\x89PNG"))
        drawings = list((self.here / "figures").glob("venn_*.svg"))
        self.assertEqual(len(drawings), 8)
        for drawing in drawings:
            self.assertNotIn("script", {e.tag.split("}")[1] for e in xml.etree.ElementTree.parse(drawing).iter()})
        for workload in (HOSTILE, "gemms"):
            flexible = [r for r in self.of(workload, **{"class": "1111"}) if hardware(r) in base]
            areas, bases = [r["area_um2"] for r in flexible], [base[hardware(r)]["area_um2"] for r in flexible]
            ratio = math.exp(sum(math.log(a / b) for a, b in zip(areas, bases)) / len(areas))
        gains = {d["label"]: d for d in self.page.marks("chart-overhead", "rect")}
        ticks = self.page.js(
            "return [...document.querySelectorAll('#chart-overhead .role-axis-label text')].map(t => t.textContent)"
        )
        self.assertFalse([t for t in ticks if t.startswith(("-", "−"))], "bars begin at 0")
        self.assert_close(gains["1111"]["area_percent"], 100 * (ratio - 1), "area of flexibility")
        self.show(HOSTILE)
        chosen = self.chosen_design()
        design = self.of(HOSTILE, design_id=chosen)[0]
        panels = self.page.js(
            "return [...document.querySelectorAll('.venn-panel')].map(p => [...p.querySelectorAll('.flexions "
            "b')].map(b => Number(b.textContent.slice(4).replaceAll(',', ''))))"
        )
        circles = self.page.js(
            "return [...document.querySelectorAll('.venn-panel')].map(p => ['.ring-c', '.ring-w', '.set-a'].map(c => "
            "Number(p.querySelector(c).getAttribute('r'))))"
        )
        for sets, (c, w, a) in zip(design["flexion_sets"], circles):
            for name, radius in (("w", w), ("a", a)):
                if min(c, radius) > 2.3:  # smaller ones are drawn larger, and the page says so
                    self.assertTrue(
                        math.isclose((radius / c) ** 2, sets[name] / sets["c"], rel_tol=2e-2),
                        f"{sets['axis']}: area of {name} is not to scale",
                    )
        for axis, (h_f, w_f) in zip("tops", panels):
            self.assertTrue(math.isclose(h_f, design[f"h_f_{axis}"], rel_tol=6e-3), (axis, h_f, design[f"h_f_{axis}"]))
            self.assertTrue(math.isclose(w_f, design[f"w_f_{axis}"], rel_tol=6e-3), (axis, w_f, design[f"w_f_{axis}"]))

    def test_hardware(self):
        self.show_gemms()
        goal = self.page.js("return document.getElementById('hardware-metric').value")
        self.assertEqual(goal, "edp_pj_cycles", "it opens on what the recommendation looks for")
        self.page.choose("#hardware-metric", "runtime_cycles")
        self.page.settle()
        cells = {(d["rows"], d["cols"]): d["value"] for d in self.page.marks("chart-array", "rect")}
        for (rows, cols), value in cells.items():
            self.assertEqual(value, min(r["runtime_cycles"] for r in self.of("gemms", set_rows=rows, set_cols=cols)))
        self.assertEqual(len(cells), 4)
        points = self.page.marks("chart-buffer", "symbol")
        self.assertGreaterEqual(len({d["group"] for d in points}), 4, "a line for every number of free axes")
        for d in points:
            group = [
                r["runtime_cycles"]
                for r in self.of("gemms", set_Buffer_capacity_words=d["x"])
                if r["class"].count("1") == int(d["group"])
            ]
            self.assertEqual(d["value"], min(group))
        # With the other axes held, a line is one array.
        self.page.choose("#hardware-others", "fixed")
        self.page.settle()
        chosen = self.chosen_design()
        like = self.of("gemms", design_id=chosen)[0]
        for d in self.page.marks("chart-buffer", "symbol"):
            row = self.designs[d["row"]]
            self.assertEqual((row["set_rows"], row["set_cols"]), (like["set_rows"], like["set_cols"]))
        # The broadest line lies lowest, so that equal lines show as stripes.
        widths = {d["group"]: d["broad"] for d in self.page.marks("chart-buffer", "symbol")}
        self.assertEqual(sorted(widths, reverse=True), sorted(widths, key=widths.get))

    def test_provenance(self):
        certified = sum(r["certificate"]["certified"] for r in self.layers if r["status"] == "solved")
        solved = sum(r["status"] == "solved" for r in self.layers)
        body = self.page.text("#provenance-body")
        self.assertIn(f"({certified:,} of {solved:,} layers that have a mapping)", body)
        self.assertIn(self.layers[0]["mapper"], body)
        self.assertRegex(body, r"[0-9a-f]{64}")

    def test_any_design_by_its_number(self):
        self.show_gemms()
        design = self.of("gemms", **{"class": "0100"})[-1]
        self.enter("design-id", design["design_id"])
        self.assertEqual(self.page.text("#chosen h3"), f"Design {design['design_id']}")
        self.assertEqual(number(self.page.pairs("#chosen")["runtime"]), design["runtime_cycles"])

    def test_a_design_without_mappings_says_why(self):
        row, design = next(
            (i, r) for i, r in enumerate(self.designs) if r["status"] == "invalid_design" and r["workload"] == HOSTILE
        )
        self.show(HOSTILE)
        self.enter("design-id", design["design_id"])
        self.assertIn(design["reason"], self.page.pairs("#chosen")["status"])
        self.assertIn("has no mapping", self.page.text("#mapping-title"))
        self.assertEqual(len(self.page.rows("#layers")), design["layers"])

    def test_charts_can_be_saved(self):
        """What the buttons below a chart hand over, caught where it becomes a file."""
        self.show_gemms()
        self.page.js(
            "window.saved = []; URL.createObjectURL = (blob) => { blob.text().then((t) => window.saved.push(t)); "
            "return '#'; }"
        )
        for i, kind in enumerate(("SVG", "CSV", "Vega-Lite")):
            self.page.click(f"#chart-array ~ .save [data-save='{kind}']")
            self.page.until("return window.saved.length === arguments[0]", i + 1)
        svg, text, spec = self.page.js("return window.saved")
        self.assertTrue(svg.startswith("<svg"))
        rows = list(csv.DictReader(text.splitlines()))
        drawn = {(d["rows"], d["cols"]): d["value"] for d in self.page.marks("chart-array", "rect")}
        self.assertEqual({(int(r["rows"]), int(r["cols"])): float(r["value"]) for r in rows}, drawn)
        self.assertEqual(len(json.loads(spec)["data"]["values"]), len(drawn))

    def test_keyboard_theme_and_width(self):
        from selenium.webdriver.common.keys import Keys

        self.page.js("document.querySelectorAll('#frontier-list button')[1].focus()")
        name = self.page.js("return document.activeElement.textContent")
        self.page.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.page.until(
            "return document.querySelector('#chosen h3').textContent === arguments[0]",
            f"Design {re.match(r'[0-9]+', name)[0]}",
        )
        self.page.settle()
        reachable = self.page.js(
            "return [...document.querySelectorAll('button, select, input, a, summary')].every(e => e.tabIndex >= 0)"
        )
        self.assertTrue(reachable)
        self.page.click("#theme")
        self.page.settle()
        self.assertEqual(self.page.js("return document.documentElement.dataset.theme"), "dark")
        self.page.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": 800, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        )
        self.page.settle()
        self.assertLessEqual(self.page.js("return document.documentElement.scrollWidth"), 800)
        self.page.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
        )
        # The page waits until the width has come to rest.
        self.page.until("return document.documentElement.scrollWidth <= 400")
        self.page.settle()
        self.assertLessEqual(self.page.js("return document.documentElement.scrollWidth"), 390)
        # Nothing is cut off: no table and no chart is wider than what can be seen of it.
        cut = self.page.js(
            "return [...document.querySelectorAll('.scroll, .chart, td, th, p, li')].filter(e => e.clientWidth > 0 && "
            "e.scrollWidth > e.clientWidth + 2 && !e.closest('.pairs')).map(e => `${e.tagName} ${e.id} ${e.className} "
            "${e.scrollWidth} of ${e.clientWidth}`)"
        )
        self.assertEqual(cut, [])


if __name__ == "__main__":
    reported.ReportedSweep.pliant = sys.argv.pop(1)
    browser.require()
    unittest.main(verbosity=2)
