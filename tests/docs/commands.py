# SPDX-License-Identifier: Apache-2.0
"""Every command printed in README and docs runs as printed: commands.py PLIANT SOURCE [PAGE...].

Commands run in their order, README first, in one folder where configs and tests are those of the source: a page may
use what README made, such as out/demo. They must end with 0 and print something. What is left out, and why, stands in
LEFT_OUT and SKIPPED_PAGES.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED_PAGES = {
    "docs/import.md": "its inputs are files of other tools; tests/dse/import has them",
    "docs/tutorial.md": "tests/docs/tutorial.py runs it",
}
LEFT_OUT = {
    r"\[--|\bFILE\b|FORMAT": "a pattern, not a command",
    r"import +auto resnet18\.onnx": "an ONNX file of the reader's",
    r"^pliant study (?!.*--quick)": "takes minutes; its --quick form is run where a page prints one",
    r"--svg docs/img": "writes into the source",
}
COMMAND = re.compile(r"^(?:    )?((?:\$P|pliant) .*)$", re.MULTILINE)


def commands(page):
    text = re.sub(r" \\\n +", " ", page.read_text(encoding="utf-8"))  # a backslash goes on with the next line
    for match in COMMAND.finditer(text):
        yield re.sub(r"^\$P\b", "pliant", match[1].split("  #")[0].split(" # ")[0].strip())


def run_page(pliant, source, name, folder):
    failed, ran = [], 0
    environment = {**os.environ, "PATH": f"{pathlib.Path(pliant).resolve().parent}:{os.environ['PATH']}"}
    for command in commands(source / name):
        if any(re.search(pattern, command) for pattern in LEFT_OUT):
            continue
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        ran += 1
        good = done.returncode == 0 and done.stdout.strip()
        if not good:
            failed.append(f"{name}: {command}: exit code {done.returncode}\n{done.stderr[-600:]}")
        print(f"{'ok' if good else 'FAILED'}  {name}: {command}", flush=True)
    return failed, ran


if __name__ == "__main__":
    pliant, source = sys.argv[1], pathlib.Path(sys.argv[2])
    pages = sys.argv[3:] or ["README.md", *sorted(str(p.relative_to(source)) for p in source.glob("docs/**/*.md"))]
    failed, ran = [], 0
    with tempfile.TemporaryDirectory(prefix="pliant-docs-") as folder:
        for link in ("configs", "tests"):
            (pathlib.Path(folder) / link).symlink_to((source / link).resolve())
        for name in pages:
            if name not in SKIPPED_PAGES:
                found, count = run_page(pliant, source, name, folder)
                failed += found
                ran += count
    print("\n".join(failed))
    print(f"{ran} commands, {len(failed)} failed")
    assert ran >= 20 or sys.argv[3:]
    sys.exit(1 if failed else 0)
