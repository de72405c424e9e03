#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes all kept tables of results/studies by the program of one commit, with the pictures and the summary of docs.

    bench/keep_studies.py WORK [--pliant build/ci/bin/pliant]

Each study runs by itself below WORK, on all cores, and those that draw at random once more with their samples; what an
earlier call with the same commit finished there is not run again. results/studies/made_by.csv then says for each table
the commit, the program's sources, the processor seconds of its study (without samples, pictures included, and of the
run with samples, which finds some of its answers in the cache), its rows and its SHA-256; a test refuses a table that
was changed or made again alone. Sources and configurations must be committed, and the program built of them.
"""

import argparse
import csv
import hashlib
import pathlib
import resource
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT, PICTURES = ROOT / "results" / "studies", ROOT / "docs" / "img" / "studies"
COLUMNS = ["table", "commit", "sources", "cpu_seconds", "sampled_cpu_seconds", "rows", "sha256"]
# Tables that are kept beside a study's own.
BESIDE = {"goma": "goma_certificates"}
# Studies with searches that draw at random.
SAMPLED = {"ruby-mapspaces", "ruby-arrays", "ruby-resnet50", "goma", "quickflow", "future-proofing"}


def told(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def committed():
    """The commit, if nothing that can change a number differs from it."""
    changed = [line[3:] for line in told("git", "status", "--porcelain").splitlines()]
    free = ("docs/", "results/", "tests/", "bench/", "CHANGELOG.md", "README.md")
    if other := [path for path in changed if not path.startswith(free)]:
        raise SystemExit(f"not committed: {', '.join(other)}")
    return told("git", "rev-parse", "--short=10", "HEAD").strip()


def read(path):
    if not path.exists():
        return {}
    with open(path, encoding="utf-8") as file:
        return {row["table"]: row for row in csv.DictReader(file)}


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def run(pliant, study, work, *more):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([pliant, "study", study, "--png", "-o", work, *more], check=True, cwd=ROOT,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tables_of(study, work):
    """Names and files of the tables that are kept of a study."""
    tables = {study: work / f"{study}.csv"}
    if study in BESIDE:
        tables[BESIDE[study]] = work / study / "figures" / f"{BESIDE[study]}.csv"
    return tables


def made(name, file, commit, sources, seconds):
    """A line of made_by.csv."""
    content = file.read_bytes()
    cells = (name, commit, sources, *seconds, content.count(b"\n") - 1, hashlib.sha256(content).hexdigest())
    return dict(zip(COLUMNS, cells))


def keep(study, work):
    for name, file in tables_of(study, work).items():
        shutil.copy(file, KEPT / f"{name}.csv")
    for picture in (work / study / "figures").glob("*.png"):
        if (PICTURES / picture.name).exists():
            shutil.copy(picture, PICTURES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--pliant", default=str(ROOT / "build/ci/bin/pliant"))
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    commit = committed()
    sources = next(line.split()[1] for line in told(arguments.pliant, "--version").splitlines() if "sources" in line)
    studies = [line.split()[0] for line in told(arguments.pliant, "study", "list").splitlines()]
    done = {name: row for name, row in read(work / "made_by.csv").items() if row["commit"] == commit}
    for study in studies:
        if study not in done:
            seconds = [f"{run(arguments.pliant, study, work):.1f}", ""]
            if study in SAMPLED:
                seconds[1] = f"{run(arguments.pliant, study, work, '--sampled'):.1f}"
            for name, file in tables_of(study, work).items():
                done[name] = made(name, file, commit, sources, seconds if name == study else ["", ""])
            write(work / "made_by.csv", done.values())
        print(f"{study}: {done[study]['cpu_seconds']} CPU s", flush=True)
    for study in studies:
        keep(study, work)
    write(KEPT / "made_by.csv", [done[name] for study in studies for name in tables_of(study, work)])
    (ROOT / "docs" / "studies" / "summary.md").write_text(told(arguments.pliant, "study", "summary"), encoding="utf-8")
    print(f"all: {sum(float(row['cpu_seconds'] or 0) for row in done.values()) / 60:.1f} CPU min")


if __name__ == "__main__":
    main()
