# SPDX-License-Identifier: Apache-2.0
"""A sweep of 10,000 designs: its report stays under 10 MB and shows its frontier.

large_test.py PLIANT. It prints the page's own times, from the start of loading to the drawn frontier (two seconds is
the aim); they depend on the machine, so nothing is asked of them.
"""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402
import reported  # noqa: E402

SWEEP = """pliant: sweep
name: ten_thousand
accelerator: flexref
workloads:
  - {name: toy, layers: ["gemm:M=64,N=48,K=36"]}
vary:
  - rows: {from: 2, to: 50, step: 2}
    cols: {from: 4, to: 100, step: 4}
  - Buffer.capacity: {from: 16Ki, to: 64Ki, step: 16Ki}
flexibility: ["0000", "1000", "0010", "1111"]
"""

browser.require()
pliant = sys.argv[1]
with tempfile.TemporaryDirectory(prefix="pliant-large-") as name:
    here = pathlib.Path(name)
    reported.make_dataset(pliant, here, SWEEP)
    reported.run_pliant(pliant, "report", here / "data", "-o", here / "report.html")
    size = (here / "report.html").stat().st_size
    page = browser.Page(here / "report.html")
    try:
        times = []
        for _ in range(3):
            page.reload()
            times.append(page.js("return performance.getEntriesByName('frontier')[0].startTime"))
        shown = page.text("#tiles dd")
        messages = page.messages()
    finally:
        page.close()
print(f"{size / 1e6:.2f} MB; frontier drawn after {', '.join(f'{t:.0f}' for t in times)} ms")
assert shown == "10,000", shown
assert size < 10e6
assert messages == [], messages
