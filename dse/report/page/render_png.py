# SPDX-License-Identifier: Apache-2.0
"""Draws specifications and drawings: SCALE FILE..., each NAME.vl.json or NAME.svg; writes NAME.png beside it."""
import pathlib
import sys

import vl_convert

scale = float(sys.argv[1])
for name in sys.argv[2:]:
    file = pathlib.Path(name)
    if file.name.endswith(".svg"):
        picture = vl_convert.svg_to_png(file.read_text(encoding="utf-8"), scale=scale)
        target = file.with_suffix(".png")
    else:
        picture = vl_convert.vegalite_to_png(file.read_text(encoding="utf-8"), scale=scale)
        target = file.with_name(file.name.removesuffix(".vl.json") + ".png")
    target.write_bytes(picture)
