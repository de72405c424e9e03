#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes all kept tables of results/studies by the program of one commit, with the pictures and the summary of docs.

    bench/keep_studies.py WORK [--pliant build/ci/bin/pliant] [--no-samples]

First `pliant study all`, one process on all cores with nothing in its cache, then every study that draws at random
once more with its samples, which finds in the cache what the first run has searched. WORK/COMMIT has all of it; what an
earlier call finished there is not run again. A study whose second run has other numbers than its first is an error.
results/studies/made_by.csv then says for each table the commit that last changed sources or configurations, the hash
of the sources that answers depend on, the processor seconds of its study (pictures included) without and with samples,
its rows and its SHA-256; a test refuses a table that was changed or made again alone. Sources and configurations must
be committed, and the program built of them. --no-samples ends after the first run and keeps nothing.
"""

import argparse
import csv
import hashlib
import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT, PICTURES = ROOT / "results" / "studies", ROOT / "docs" / "img" / "studies"
COLUMNS = ["table", "commit", "sources", "cpu_seconds", "sampled_cpu_seconds", "rows", "sha256"]
# Tables that are kept beside a study's own.
BESIDE = {"goma": "goma_certificates"}
# Studies with searches that draw at random.
SAMPLED = ["ruby-mapspaces", "ruby-arrays", "ruby-resnet50", "goma", "quickflow", "future-proofing"]
# What cannot change a number.
FREE = ["docs", "results", "tests", "bench", "scripts", "examples", "CHANGELOG.md", "README.md", "CONTRIBUTING.md"]


def told(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def commit_of_sources():
    """The commit that last changed what can change a number."""
    answering = [".", *(f":(exclude){path}" for path in FREE)]
    if changed := told("git", "status", "--porcelain", "--", *answering):
        raise SystemExit(f"not committed:\n{changed}")
    return told("git", "log", "-1", "--abbrev=10", "--format=%h", "--", *answering).strip()


def hash_of_sources():
    """As cmake/PliantSources.cmake has it: of the program that is built of this checkout."""
    rule = (ROOT / "cmake" / "PliantSources.cmake").read_text(encoding="utf-8")
    folders = rule.split("foreach(folder ")[1].split(")")[0].split()
    names = [path.relative_to(ROOT).as_posix() for folder in folders for path in (ROOT / folder).rglob("*")
             if path.suffix in (".h", ".cpp")]  # fmt: skip
    lines = (f"{name} {hashlib.sha256((ROOT / name).read_bytes()).hexdigest()}\n" for name in sorted(names))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def run(pliant, work, study, *more):
    """Processor seconds by study."""
    answer = told(pliant, "study", study, "--png", "--json", "-o", str(work), *more)
    return {one["study"]: one["cpu_seconds"] for one in json.loads(answer)["studies"]}


def rows_of(file):
    with open(file, encoding="utf-8", newline="") as text:
        return {(row["figure"], row["quantity"]): row["ours"] for row in csv.DictReader(text)}


def run_all(pliant, work):
    """Without samples, then with them: two times by study."""
    notes = work / "seconds.json"
    if not notes.exists():
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        seconds = {name: [f"{one:.1f}", ""] for name, one in run(pliant, work, "all").items()}
        for name in seconds:
            shutil.copy(work / f"{name}.csv", work / f"{name}.first.csv")
        notes.write_text(json.dumps(seconds), encoding="utf-8")
    return json.loads(notes.read_text(encoding="utf-8"))


def run_samples(pliant, work, seconds):
    for name in SAMPLED:
        if seconds[name][1]:
            continue
        seconds[name][1] = f"{run(pliant, work, name, '--sampled')[name]:.1f}"
        first, second = rows_of(work / f"{name}.first.csv"), rows_of(work / f"{name}.csv")
        if other := [row for row, ours in first.items() if ours and second.get(row) != ours]:
            raise SystemExit(f"{name}: {len(other)} numbers of the run with samples are others, first {other[0]}")
        (work / "seconds.json").write_text(json.dumps(seconds), encoding="utf-8")
        print(f"{name}: {seconds[name][1]} CPU s with samples", flush=True)


def tables_of(study, work):
    """Names and files of the tables that are kept of a study."""
    tables = {study: work / f"{study}.csv"}
    if study in BESIDE:
        tables[BESIDE[study]] = work / study / "figures" / f"{BESIDE[study]}.csv"
    return tables


def keep(study, work, commit, sources, seconds):
    """Copies tables and pictures; the lines of made_by.csv."""
    for name, file in tables_of(study, work).items():
        shutil.copy(file, KEPT / f"{name}.csv")
        content = file.read_bytes()
        took = seconds if name == study else ["", ""]
        cells = (name, commit, sources, *took, content.count(b"\n") - 1, hashlib.sha256(content).hexdigest())
        yield dict(zip(COLUMNS, cells))
    for picture in (work / study / "figures").glob("*.png"):
        if (PICTURES / picture.name).exists():
            shutil.copy(picture, PICTURES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--pliant", default=str(ROOT / "build/ci/bin/pliant"))
    parser.add_argument("--no-samples", action="store_true")
    arguments = parser.parse_args()
    commit, sources = commit_of_sources(), hash_of_sources()
    if sources not in told(arguments.pliant, "--version"):
        raise SystemExit(f"{arguments.pliant} is not built of these sources ({sources})")
    work = arguments.work.resolve() / commit
    seconds = run_all(arguments.pliant, work)
    for name, (first, _) in seconds.items():
        print(f"{name}: {first} CPU s", flush=True)
    print(f"all: {sum(float(first) for first, _ in seconds.values()) / 60:.1f} CPU min", flush=True)
    if arguments.no_samples:
        return
    run_samples(arguments.pliant, work, seconds)
    rows = [row for study in seconds for row in keep(study, work, commit, sources, seconds[study])]
    with open(KEPT / "made_by.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (ROOT / "docs" / "studies" / "summary.md").write_text(told(arguments.pliant, "study", "summary"), encoding="utf-8")


if __name__ == "__main__":
    main()
