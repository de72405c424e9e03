# SPDX-License-Identifier: Apache-2.0
"""Pictures of a report: screenshots.py REPORT.html FOLDER. Every view at 1440 and 800 pixels, light and dark.

With --docs report or --docs tutorial, FOLDER is docs/img: the pictures that docs/report.md (of out/demo) and
docs/tutorial.md show, with few colours so that they stay small.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

VIEWS = ("recommendation", "frontier", "design", "compare", "flexibility", "hardware", "provenance")
IN_DOCS = {
    "report": {False: VIEWS, True: ("recommendation", "hardware")},
    "tutorial": {False: ("recommendation", "frontier", "design"), True: ()},
}


def shrink(file):
    """To 128 colours, if Pillow is there."""
    try:
        from PIL import Image
    except ImportError:
        return
    colours = Image.open(file).convert("RGB").quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    colours.save(file, optimize=True)


browser.require()
report, folder = map(pathlib.Path, sys.argv[1:3])
docs = sys.argv[4] if sys.argv[3:4] == ["--docs"] else None
folder.mkdir(parents=True, exist_ok=True)
for width, dark in ((1440, False), (800, True)) if docs else ((1440, False), (800, True), (1440, True), (800, False)):
    page = browser.Page(report, width=width, dark=dark)
    try:
        page.settle()
        for view in VIEWS:
            if not docs:
                page.screenshot(folder / f"{view}-{width}-{'dark' if dark else 'light'}.png", f"#{view}")
            elif view in IN_DOCS[docs][dark]:
                file = folder / f"{docs}-{view}{'-dark-800' if dark else ''}.png"
                page.screenshot(file, f"#{view}")
                shrink(file)
    finally:
        page.close()
