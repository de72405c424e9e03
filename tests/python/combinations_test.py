# SPDX-License-Identifier: Apache-2.0
"""Every pair of what works together (docs/combinations.md), asked of the package and of the program: the same answers,
byte for byte but for times and places, and the same sentence where something is refused. The rows are those of the C++
tests; ``combination_rows`` writes them."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import pliant

BUILT = Path(__file__).resolve().parents[2] / "build/release/bin"
PROGRAM = os.environ.get("PLIANT_BINARY", str(BUILT / "pliant"))
#: How long it took and where it is written is never the same twice.
CHANGING = {"solve_seconds", "solve_cpu_seconds", "seconds", "search_seconds", "logging_cpu_seconds", "dataset"}
#: What the functions have no argument for: a result is saved by a method, a proof is written by the command.
ONLY_COMMANDS = {
    "layer": {"certificate", "deadline", "fusion", "inferences", "save"},
    "workload": {"certificate", "deadline", "fusion", "inferences", "save"},
    "frontier": {"certificate", "deadline", "fusion", "inferences", "save", "gap", "predict"},
    "network": {"certificate", "save", "predict"},
    "sweep": {"certificates"},
}


def rows() -> list[dict[str, Any]]:
    folder = tempfile.mkdtemp(prefix="pliant-rows-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([os.environ.get("PLIANT_ROWS", str(BUILT / "combination_rows")), folder], check=True)
    return list(json.loads((Path(folder) / "rows.json").read_text()))


ROWS = rows()
WORKING = [row for row in ROWS if "refused" not in row]
REFUSED = [row for row in ROWS if "refused" in row]


def named(some: list[dict[str, Any]]) -> list[str]:
    return [f"{Path(row['folder']).name}-{row['question']}" for row in some]


def program(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=600)


def constant(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: constant(one) for key, one in value.items() if key not in CHANGING}
    return [constant(one) for one in value] if isinstance(value, list) else value


def same(ours: Any, theirs: str) -> None:
    """Keys in the same order, numbers with the same digits."""
    assert json.dumps(constant(ours)) == json.dumps(constant(json.loads(theirs)))


def options_of(words: list[str]) -> dict[str, Any]:
    """The options of ``pliant map`` as arguments of a function. ``mapper-option`` may come several times."""
    flags = {"--network", "--layers", "--predict"}
    given: dict[str, Any] = {}
    at = 1
    while at < len(words):
        name, value = words[at][2:], "" if words[at] in flags else words[at + 1]
        at += 1 if words[at] in flags else 2
        if name in ("network", "layers"):
            continue
        if name == "predict":
            given[name] = True
        elif name in ("mapper-option", "set"):
            given.setdefault("mapper_options" if name == "mapper-option" else name, {}).update([value.split("=")])
        elif name == "gap":
            given[name] = float(value.rstrip("%")) / 100
        elif name == "residency":
            given[name] = value == "on"
        elif name in ("threads", "inferences"):
            given[name] = int(value)
        elif name == "deadline":
            given[name] = float(value)
        else:
            given[name] = value
    return given


def ask(question: str, words: list[str]) -> Any:
    """The same question to a function of the package."""
    given = options_of(words)
    accelerator, workload = given.pop("accelerator"), given.pop("workload")
    if "set" in given:
        accelerator = pliant.load_accelerator(accelerator, settings=given.pop("set"))
    if question == "workload":
        return pliant.map_workload(workload, accelerator, progress=False, **given)
    if question == "network":
        return pliant.map_network(workload, accelerator, **given)
    layer = given.pop("layer")
    if question == "frontier":
        objectives = given.pop("objective").split(",")
        return pliant.map_frontier(layer, accelerator, objectives, workload=workload, **given)
    return pliant.map(layer, accelerator, workload=workload, **given)


def without(words: list[str], *options: str) -> list[str]:
    kept = list(words)
    for option in options:
        while option in kept:
            at = kept.index(option)
            del kept[at : at + 2]
    return kept


def check_map(row: dict[str, Any], tmp_path: Path) -> None:
    words, question = list(row["words"]), row["question"]
    theirs = program([*words, "--json"])
    assert theirs.returncode in (0, 3), theirs.stderr
    ours = ask("layer" if question == "verify" else question, without(words, "--save", "--certificate"))
    if question == "network" and not ours.feasible:
        assert theirs.returncode == 3 and str(ours) == theirs.stderr
        return
    if question == "frontier" and not len(ours):
        assert theirs.returncode == 3
        return
    same(ours.to_dict(), theirs.stdout)
    if "--save" in words and ours.feasible:
        ours.mapping.save(tmp_path / "ours.yaml")
        assert (tmp_path / "ours.yaml").read_bytes() == (Path(row["folder"]) / "best.yaml").read_bytes()
    if "--certificate" in words and ours.feasible:
        proof = Path(row["folder"]) / "proof.json"
        written = proof.read_bytes()
        proof.unlink()
        same(pliant.ask(*words), theirs.stdout)
        assert proof.read_bytes() == written
    if question == "verify":
        answer = tmp_path / "answer.json"
        answer.write_text(json.dumps(ours.to_dict()))
        same(pliant.ask("verify", str(answer)), program(["verify", str(answer), "--json"]).stdout)


def check_export(row: dict[str, Any], tmp_path: Path) -> None:
    mapping = Path(row["folder"]) / "best.yaml"
    found = ask("layer", row["map"])
    if not found.feasible:
        return
    found.mapping.save(mapping)
    theirs = program([*row["words"], "--json"])
    out = Path(row["folder"]) / "out"
    files = {file.name: file.read_bytes() for file in out.glob("*")} if out.exists() else {}
    shutil.rmtree(out, ignore_errors=True)
    if theirs.returncode != 0:
        with pytest.raises(pliant.CommandFailed) as raised:
            pliant.ask(*row["words"])
        assert str(raised.value) == theirs.stderr.strip()
        return
    same(pliant.ask(*row["words"]), theirs.stdout)
    assert files and {file.name: file.read_bytes() for file in out.glob("*")} == files


def tables(dataset: Path) -> list[pyarrow.Table]:
    files = sorted(dataset.glob("layers/*.parquet")) + sorted(dataset.glob("designs/*.parquet"))
    return [pyarrow.parquet.read_table(file) for file in files]


def check_dataset(row: dict[str, Any], tmp_path: Path) -> None:
    words = list(row["words"])
    theirs = program([*words, "--json"])
    given = Path(row["folder"]) / "data"
    threads = int(words[words.index("--threads") + 1])
    if row["question"] == "design":
        gap = 0.05 if "--gap" in words else 0.0
        found = pliant.design(words[1], tmp_path / "ours", gap=gap, threads=threads, progress=False)
        assert theirs.returncode == (0 if len(found) else 2), theirs.stderr
        same(found.to_dict(), theirs.stdout)
    else:
        assert theirs.returncode in (0, 1), theirs.stderr  # 1: a row has no certificate
        swept = pliant.sweep(words[1], tmp_path / "ours", threads=threads, progress=False)
        same(swept.outcome, theirs.stdout)
    ours, expected = tables(tmp_path / "ours"), tables(given)
    assert len(ours) == len(expected) > 1
    for one, other in zip(ours, expected):
        assert one.equals(other, check_metadata=True)
    if "--certificates" in words:
        words[words.index("-o") + 1] = str(tmp_path / "ours")
        try:
            pliant.ask(*words)
        except pliant.CommandFailed as error:
            assert error.code == theirs.returncode == 1
        proofs = {file.name: file.read_bytes() for file in (given / "certificates").glob("*")}
        assert {file.name: file.read_bytes() for file in (tmp_path / "ours/certificates").glob("*")} == proofs


def check_other(row: dict[str, Any]) -> None:
    words = list(row["words"])
    theirs = program([*words, "--json"]).stdout
    given = options_of(without([word for word in words if word != "--no-tuples"], "--layer"))
    given.pop("workload")
    if row["question"] == "flexion":
        found = pliant.flexion(given["accelerator"], row["folder"] + "/workload.yaml", tile_tuples=False)
        same(found.to_dict(), theirs)
    else:
        accelerator = pliant.load_accelerator(given["accelerator"], conventions=given["conventions"])
        counted = pliant.count(
            "a", accelerator, workload=row["folder"] + "/workload.yaml", factorization=given["factorization"]
        )
        same(counted.to_dict(), theirs)


@pytest.mark.parametrize("row", WORKING, ids=named(WORKING))
def test_the_package_answers_as_the_program(row: dict[str, Any], tmp_path: Path) -> None:
    if row["question"] in ("layer", "workload", "network", "frontier", "verify"):
        if row["question"] == "verify":
            row = {**row, "words": row["map"]}
        check_map(row, tmp_path)
    elif row["question"] in ("timeloop", "zigzag", "c"):
        check_export(row, tmp_path)
    elif row["question"] in ("sweep", "design"):
        check_dataset(row, tmp_path)
    else:
        check_other(row)


@pytest.mark.parametrize("row", REFUSED, ids=named(REFUSED))
def test_the_package_refuses_as_the_program(row: dict[str, Any], tmp_path: Path) -> None:
    words, question = list(row["words"]), row["question"]
    if question == "timeloop":
        assert program([*row["map"], "--save", str(Path(row["folder"]) / "best.yaml")]).returncode == 0
    theirs = program(words)
    sentence = f"{row['refused']['what']}; expected {row['refused']['instead']}"
    assert theirs.returncode == 2 and sentence in theirs.stderr, theirs.stderr
    said = {word[2:] for word in words if word.startswith("--")}
    if question in ("sweep", "design") and "certificates" not in said:
        with pytest.raises(pliant.InputError) as refused:
            function = pliant.sweep if question == "sweep" else pliant.design
            function(words[1], tmp_path / "ours", progress=False)
        assert sentence in str(refused.value)
        return
    if question == "count":
        with pytest.raises(pliant.InputError) as refused:
            given = options_of(words[:-1])
            pliant.count("a", given["accelerator"], workload=given["workload"],
                         factorization=given.get("factorization", "pfm"), mode="legal")  # fmt: skip
        assert sentence in str(refused.value)
        return
    if question in ONLY_COMMANDS and not said & ONLY_COMMANDS[question]:
        with pytest.raises(pliant.InputError) as refused:
            ask(question, words)
        assert f"{refused.value.message}; expected {refused.value.diagnostics[0].expected}" == sentence
        return
    with pytest.raises(pliant.CommandFailed) as failed:
        pliant.ask(*words)
    assert str(failed.value) == theirs.stderr.strip()


def test_every_question_and_refusal_is_there() -> None:
    assert {row["question"] for row in WORKING} >= {"layer", "network", "sweep", "design", "verify", "c", "count"}
    assert len(WORKING) > 50 and len(REFUSED) > 35
