# SPDX-License-Identifier: Apache-2.0
"""Pictures of a report for docs/report.md: screenshots.py REPORT.html FOLDER. Every section, 1440 wide and light, 800
wide and dark."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

browser.require()
folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for width, dark in ((1440, False), (800, True), (1440, True), (800, False)):
    page = browser.Page(sys.argv[1], width=width, dark=dark)
    try:
        page.settle()
        for section in ("frontier", "design", "flexibility", "hardware", "provenance"):
            page.screenshot(folder / f"{section}-{width}-{'dark' if dark else 'light'}.png", f"#{section}")
    finally:
        page.close()
