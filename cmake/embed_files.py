# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ source that holds files as string literals: embed_files.py OUTPUT FOLDER FILE...

Names are the files' paths in FOLDER. Vega, Vega-Lite and Vega-Embed come as one script, vega.js, from the vl-convert
wheel.
"""

import pathlib
import sys

import vl_convert

CHUNK = 60_000  # compilers need only accept literals of 65536 bytes


def literals(text: bytes) -> list[str]:
    chunks = []
    for start in range(0, len(text), CHUNK):
        escaped = []
        for byte in text[start : start + CHUNK]:
            char = chr(byte)
            if char in '"\\?':
                escaped.append("\\" + char)
            elif char == "\n":
                escaped.append('\\n"\n"')
            elif 32 <= byte < 127:
                escaped.append(char)
            else:
                escaped.append(f"\\{byte:03o}")
        chunks.append('"' + "".join(escaped) + '"')
    return chunks


def main() -> None:
    output, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = {
        pathlib.Path(name).relative_to(folder).as_posix(): pathlib.Path(name).read_bytes() for name in sys.argv[3:]
    }
    vega = vl_convert.javascript_bundle()
    if "</script" in vega or "<!--" in vega:
        sys.exit("the Vega bundle cannot stand in a script element as it is")
    files["vega.js"] = vega.encode()
    parts = [
        '// Made by cmake/embed_files.py.\n#include "dse/report/resources.h"\n#include <stdexcept>\n\n'
        "namespace pliant {\n"
    ]
    parts.append("std::string resource(std::string_view name) {\n  std::string text;\n")
    for name, text in sorted(files.items()):
        parts.append(f'  if (name == "{name}") {{\n    text.reserve({len(text)});\n')
        parts += [
            f"    text.append({literal}, {min(CHUNK, len(text) - i * CHUNK)});\n"
            for i, literal in enumerate(literals(text))
        ]
        parts.append("    return text;\n  }\n")
    parts.append('  throw std::logic_error("no such resource: " + std::string(name));\n}\n}  // namespace pliant\n')
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(parts))


main()
