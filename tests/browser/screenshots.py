# SPDX-License-Identifier: Apache-2.0
"""Pictures of a report: screenshots.py REPORT.html FOLDER. Every view at 1440 and 800 pixels, light and dark.

screenshots.py --docs DEMO.html TUTORIAL.html keeps the pictures of docs/report.md (docs/img/report, all views of
out/demo) and docs/tutorial.md (docs/img/tutorial-*.png) current, with few colours so that they stay small.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402

DOCS = pathlib.Path(__file__).parents[2] / "docs/img"
VIEWS = ("recommendation", "frontier", "design", "compare", "flexibility", "hardware", "provenance")
IN_TUTORIAL = ("recommendation", "frontier", "design")


def take(report, name_of, views=VIEWS, widths=(1440, 800), themes=("light", "dark")):
    """Pictures of a page's views, each where name_of(view, width, theme) says."""
    made = []
    for width in widths:
        for theme in themes:
            page = browser.Page(report, width=width, dark=theme == "dark")
            try:
                page.settle()
                for view in views:
                    made.append(name_of(view, width, theme))
                    made[-1].parent.mkdir(parents=True, exist_ok=True)
                    page.screenshot(made[-1], f"#{view}")
            finally:
                page.close()
    return made


def shrink(file):
    """To 64 colours, if Pillow is there."""
    try:
        from PIL import Image
    except ImportError:
        return
    colours = Image.open(file).convert("RGB").quantize(64, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    colours.save(file, optimize=True)


browser.require()
if sys.argv[1] == "--docs":
    demo, tutorial = sys.argv[2:4]
    files = take(demo, lambda view, width, theme: DOCS / "report" / f"{view}-{width}-{theme}.png")
    files += take(tutorial, lambda view, *_: DOCS / f"tutorial-{view}.png", IN_TUTORIAL, (1440,), ("light",))
    for one in files:
        shrink(one)
else:
    files = take(sys.argv[1], lambda view, width, theme: pathlib.Path(sys.argv[2]) / f"{view}-{width}-{theme}.png")
print(f"{len(files)} pictures")
