# SPDX-License-Identifier: Apache-2.0
"""What stays on chip, whole or in tiles: the view of a sweep of networks, each number against the Parquet rows.

residency_test.py PLIANT [unittest arguments]. Ends with 77 (skipped) when there is no Chromium, chromedriver or
selenium.
"""

import math
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import reported  # noqa: E402

NETWORK = """name: net
layers:
  - {layer: a, conv: {M: 16, C: 8, P: 14, Q: 14, R: 3, S: 3}}
  - {layer: b, count: 2, conv: {M: 16, C: 16, P: 14, Q: 14, R: 1, S: 1}}
graph:
  - {layer: a}
  - {repeat: 2, from: a, nodes: [{layer: b, from: previous}, {op: add, name: sum, from: [previous, b]}]}
"""
SWEEP = """pliant: sweep
name: staying
accelerator: npu
workloads: [net.yaml]
set: {rows: 4, cols: 4}
vary: {SRAM.capacity: [2KiB, 16KiB, 64KiB]}
flexibility: ["1000", "1111"]
residency: true
"""


class Residency(reported.ReportedSweep):
    @classmethod
    def make(cls, folder):
        (folder / "net.yaml").write_text(NETWORK, encoding="utf-8")
        reported.make_dataset(cls.pliant, folder, SWEEP)

    def open(self, row):
        self.page.js(
            "const input = document.getElementById('design-id'); input.value = arguments[0];"
            "input.dispatchEvent(new Event('change'))",
            row["design_id"],
        )
        self.page.settle()

    def test_every_design_shows_what_stays(self):
        staying = 0
        for row in self.designs:
            self.open(row)
            tensors = [t for t in row["residency_tensors"] if t["level"]]
            staying += len(tensors)
            note = self.page.text("#on-chip-note")
            self.assertTrue(note.startswith(f"{len(tensors)} of {row['tensors']} tensors stay on chip"), note)
            self.assertEqual(len(tensors), row["tensors_on_chip"])
            factor = row["outside_runtime_cycles"] / row["runtime_cycles"]
            self.assertIn(f"÷ {float(f'{factor:.4g}'):g}", note)
            shown = [cells[0] for cells in self.page.rows("#on-chip-tensors")]
            self.assertEqual(shown, [t["node"] for t in tensors])
            # Two bars of time and of energy for each step, a bar of room for each memory that holds something, a life
            # for each tensor that stays.
            steps = row["residency_steps"]
            bars = 4 * len(steps) + sum(len(s["on_chip"]) for s in steps) + len(tensors)
            drawn = self.page.js("return document.getElementById('chart-residency').dataset.points")
            self.assertEqual(int(drawn), bars)
        self.assertGreater(staying, 0)

    def test_networks_are_counted_not_their_layers(self):
        proven = sum(row["certified"] for row in self.designs)
        body = self.page.text("#provenance-body")
        self.assertIn(f"({proven} of {len(self.designs)} networks on a design)", body)
        self.assertIn("networks mapped", self.page.text("#tiles"))

    def test_the_rows_add_up(self):
        for row in self.designs:
            for own, column in (("energy_pj", "energy_pj"), ("runtime_cycles", "runtime_cycles")):
                total = sum(step[own] for step in row["residency_steps"])
                self.assertAlmostEqual(total / row[column], 1, places=9)
                outside = sum(step[f"outside_{own}"] for step in row["residency_steps"])
                self.assertAlmostEqual(outside / row[f"outside_{column}"], 1, places=9)
            levels = sum(level["energy_pj"] for level in row["energy_by_level"])
            self.assertAlmostEqual(levels / row["energy_pj"], 1, places=9)

    def test_what_limits_it_is_about_the_network(self):
        text = self.page.js("return document.querySelector('.limits').textContent")
        chosen = self.page.js("return document.querySelector('.verdict [data-row]').textContent")
        row = next(r for r in self.designs if f"design {r['design_id']}" == chosen and r["workload"] in text)
        found = re.findall(r"([\d.]+) % of the time is bound by ([\w ]+?)(?:,| and \d|\.)", text)
        self.assertTrue(found, text)
        for share, bound in found:
            name = "" if bound == "operators without MACs" else bound
            time = sum(s["runtime_cycles"] for s in row["residency_steps"] if s["bound_by"] == name)
            self.assertTrue(math.isclose(float(share), 100 * time / row["runtime_cycles"], rel_tol=0.06), text)
        self.assertNotIn("null", self.page.text("#compare-controls"))


CHAIN = """name: chain
layers:
  - {layer: a, gemm: {M: 64, N: 64, K: 64}}
  - {layer: b, from: a, gemm: {M: 64, N: 64, K: 64}}
"""
TILES = """pliant: sweep
name: tiles
accelerator: npu
workloads: [chain.yaml]
set: {rows: 4, cols: 4}
vary: {SRAM.capacity: [2KiB, 16KiB]}
fusion: tiles
"""


class Tiles(reported.ReportedSweep):
    @classmethod
    def make(cls, folder):
        (folder / "chain.yaml").write_text(CHAIN, encoding="utf-8")
        reported.make_dataset(cls.pliant, folder, TILES)

    def test_tiles_have_stripes_and_their_loops(self):
        seen = 0
        for row in self.designs:
            Residency.open(self, row)
            tensors = [t for t in row["residency_tensors"] if t["level"]]
            tiles = [t for t in tensors if t["tiles"]]
            self.assertEqual(len(tiles), row["tensors_in_tiles"])
            steps = row["residency_steps"]
            lives = sum(2 * (t["to_step"] - t["from_step"]) if t["tiles"] else 1 for t in tensors)
            bars = 4 * len(steps) + sum(len(s["on_chip"]) for s in steps) + lives
            drawn = self.page.js("return document.getElementById('chart-residency').dataset.points")
            self.assertEqual(int(drawn), bars)
            note = self.page.text("#on-chip-note")
            whole = row["whole_energy_pj"] * row["whole_runtime_cycles"] / row["edp_pj_cycles"]
            self.assertIn(f"tiles that by {float(f'{whole:.4g}'):g}.", note)
            if not tiles:
                continue
            seen += 1
            self.assertIn(f"({len(tiles)} of them in tiles)", note)
            shown = [cells[-1] for cells in self.page.rows("#on-chip-tensors")]
            self.assertEqual(shown, [steps[t["from_step"]]["under"] if t["tiles"] else "whole" for t in tensors])
        self.assertGreater(seen, 0)


if __name__ == "__main__":
    browser.require()
    Residency.pliant = Tiles.pliant = sys.argv.pop(1)
    unittest.main()
