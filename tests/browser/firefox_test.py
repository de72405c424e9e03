# SPDX-License-Identifier: Apache-2.0
"""The report in Firefox: every section is drawn, the frontier is that of the Parquet rows, a design is chosen, nothing
overflows. firefox_test.py PLIANT. Ends with 77 (skipped) when there is no Firefox."""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import firefox  # noqa: E402
import reported  # noqa: E402

SWEEP = """pliant: sweep
name: in_firefox
accelerator: npu
workloads:
  - {name: one, layers: ["conv:M=64,C=32,P=14,Q=14,R=3,S=3", "gemm:M=1,N=100,K=512"]}
  - {name: two, layers: ["gemm:M=128,N=256,K=256"]}
vary: {rows: [8, 16], sram: [64KiB, 512KiB]}
flexibility: ["0000", "1010", "1111"]
"""

if not firefox.find_firefox():
    print("skipped: no Firefox; scripts/setup --browser installs one")
    sys.exit(77)

with tempfile.TemporaryDirectory(prefix="pliant-firefox-") as name:
    here = pathlib.Path(name)
    reported.make_dataset(sys.argv[1], here, SWEEP)
    file, rows, _ = reported.make_report(sys.argv[1], here)
    rows = [r for r in rows if r["workload"] == "one" and r["energy_pj"] is not None]
    page = firefox.Firefox()
    try:
        page.open(file)
        page.until("return document.documentElement.dataset.ready === 'details'")
        assert page.js("return document.getElementById('failure').hidden"), "the page failed"
        empty = page.js(
            "return [...document.querySelectorAll('.chart')].filter(c => c.offsetParent && !c.querySelector('svg, "
            "canvas')).map(c => c.id)"
        )
        assert empty == [], f"not drawn: {empty}"
        assert page.js("return document.getElementById('recommendation-body').textContent").startswith("Build design")
        page.js(
            "const s = document.getElementById('filter-workload'); s.value = 'one'; s.dispatchEvent(new "
            "Event('change'))"
        )
        page.until("return document.getElementById('frontier-caption').textContent.includes('on one')")
        page.until("return document.documentElement.dataset.ready === 'all'")
        shown = page.js(
            "return [...document.querySelectorAll('#frontier-list tbody tr')].map(tr => tr.cells[0].textContent)"
        )
        kept = [
            r["design_id"]
            for r in reported.frontier(rows, lambda r: r["area_um2"], lambda r: r["energy_pj"] * r["runtime_cycles"])
        ]
        assert [int(re.match(r"\d+", text)[0]) for text in shown] == kept, (shown, kept)
        page.js("document.querySelector('#frontier-list button').click()")
        page.until("return document.querySelector('#chosen h3').textContent === 'Design ' + arguments[0]", kept[0])
        wide = page.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{wide} pixels too wide"
        version = page.js("return navigator.userAgent")
    finally:
        page.close()
print(f"drawn by {version}")
