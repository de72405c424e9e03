# SPDX-License-Identifier: Apache-2.0
"""Served language models: the view of a sweep over batches, each point against the Parquet rows.

serving_test.py PLIANT [unittest arguments]. Ends with 77 (skipped) when there is no Chromium, chromedriver or selenium.
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import reported  # noqa: E402

MODEL = """{"model_type": "llama", "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
"num_key_value_heads": 2, "head_dim": 32, "intermediate_size": 256, "vocab_size": 512}"""
SWEEP = """pliant: sweep
name: served
accelerator: npu
workloads:
  - {serve: tiny.json, prompt: 32, output: 5, batch: [1, 4, 1000], memory: 2 MB}
vary: {cols: [8, 16]}
"""


class Serving(reported.ReportedSweep):
    @classmethod
    def make(cls, folder):
        (folder / "tiny.json").write_text(MODEL, encoding="utf-8")
        reported.make_dataset(cls.pliant, folder, SWEEP)

    def shown(self):
        return [row for row in self.designs if row["status"] == "solved"]

    def test_what_does_not_fit_is_not_shown(self):
        self.assertEqual([row["status"] for row in self.designs], ["solved", "solved", "over_limit"] * 2)
        for row in self.designs:
            self.assertGreaterEqual(row["largest_batch"], 4)
            self.assertLess(row["largest_batch"], 1000)
        self.assertTrue(self.page.text("#serving-note").startswith("tiny_serve_32_5: 4 points"))
        self.assertEqual({d["load"] for d in self.page.marks("chart-serving-users", "symbol")}, {"batch1", "batch4"})

    def test_points_are_the_rows(self):
        """To the seven digits that a page holds."""
        charts = {
            "chart-serving-users": ("user", lambda row: 1 / row["tpot_s"], "tokens", "served_tokens_per_s"),
            "chart-serving-joules": ("tokens", lambda row: row["served_tokens_per_s"], "joule", "tokens_per_j"),
        }
        for chart, (x, x_of, y, column) in charts.items():
            drawn = {(d["design"], d["workload"]): (d[x], d[y]) for d in self.page.marks(chart, "symbol")}
            self.assertEqual(len(drawn), 4)
            for row in self.shown():
                point = drawn[row["design_id"], row["workload"]]
                for shown, value in zip(point, (x_of(row), row[column]), strict=True):
                    self.assertAlmostEqual(shown / value, 1, places=6)

    def test_a_line_joins_the_batches_of_a_design(self):
        lines = self.page.js(
            "return [...document.querySelectorAll('#chart-serving-users .mark-line.role-mark path')]"
            ".filter(e => e.__data__).map(e => e.__data__.mark.items.map(i => [i.datum.design, i.datum.sequences]))"
        )
        self.assertEqual(sorted(lines), [[[0, 1], [0, 4]], [[1, 1], [1, 4]]])

    def test_a_click_chooses_the_design(self):
        mark = next(d for d in self.page.marks("chart-serving-joules", "symbol") if d["design"] == 1)
        self.page.click_at(*self.page.point("chart-serving-joules", mark["row"]))
        self.page.settle()
        self.assertEqual(self.chosen_design(), 1)


if __name__ == "__main__":
    browser.require()
    Serving.pliant = sys.argv.pop(1)
    unittest.main()
