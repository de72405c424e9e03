# SPDX-License-Identifier: Apache-2.0
"""Installs this build into an empty folder, builds examples/cpp against it and runs it.

Usage: installed_package.py SOURCE_FOLDER BUILD_FOLDER CXX_COMPILER
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(*command: str, **options) -> str:
    """The command's output; shows it and fails when the command fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        print(" ".join(command), done.stdout, sep="\n")
        raise SystemExit(1)
    return done.stdout


def expect(condition: bool, what: str, output: str) -> None:
    if not condition:
        print(f"{what}; the output was:\n{output}")
        raise SystemExit(1)


# The words of the command line for each question of examples/cpp/ask.cpp, in an order in which each finds its files.
GEMM = ["--accelerator", "eyeriss", "--layer", "gemm:M=64,N=64,K=64"]
QUESTIONS = {
    "show": ["show", "accelerator", "eyeriss"],
    "map": ["map", *GEMM, "--save", "{folder}/best.yaml", "--certificate", "{folder}/proof.json"],
    "network": ["map", "--accelerator", "eyeriss", "--workload", "alexnet", "--objective", "runtime"],
    "eval": ["eval", *GEMM, "--mapping", "{folder}/best.yaml"],
    "export": ["export", "c", *GEMM, "--mapping", "{folder}/best.yaml", "-o", "{folder}/loops"],
    "audit": ["audit", "{folder}/proof.json"],
    "verify": ["verify", "{folder}/map.json"],
    "serve": ["serve", "llama3_2_1b", "--accelerator", "npu", "--prompt", "64", "--output", "4"],
    "count": ["count", *GEMM, "--legal"],
    "flexion": ["flexion", *GEMM, "--no-tuples"],
    "sweep": ["sweep", "{example}/sweep.yaml", "-o", "{folder}/sweep", "--progress", "none"],
    "design": ["design", "{example}/space.yaml", "-o", "{folder}/design", "--gap", "1%", "--threads", "1"],
    "pareto": ["pareto", "{folder}/sweep", "--minimize", "area_um2,edp_pj_cycles"],
    "query": ["query", "{folder}/sweep", "--where", "class == 1111", "--where", "edp_pj_cycles > 0", "--limit", "3"],
    "report": ["report", "{folder}/sweep", "-o", "{folder}/report.html"],
    "import": ["import", "scalesim", "{example}/topology.csv", "-o", "{folder}/imported"],
    "study": ["study", "list"],
    "validate": ["validate", "{folder}/vectors.jsonl", "--excused"],
}


def constant(text: str) -> str:
    """Without how long it took, which is never the same twice, nor is a page as long that says it."""
    return re.sub(r'("(?:\w*seconds|bytes)": )[^,\n]+', r"\1...", text)


def ask_every_question(
    prefix: pathlib.Path, example: pathlib.Path, vectors: pathlib.Path, folder: pathlib.Path, environment: dict
) -> None:
    """Program and library answer alike, byte for byte; each in a folder that has the same name while it is asked."""
    answers: dict[str, dict[str, str]] = {"library": {}, "program": {}}
    place = folder / "answers"
    for who, said in answers.items():
        place.mkdir()
        shutil.copy(vectors, place / "vectors.jsonl")
        for name, words in QUESTIONS.items():
            if who == "library":
                command = [str(example / "build/pliant_ask"), name, str(place)]
            else:
                said_as = [word.format(folder=place, example=example) for word in words]
                command = [str(prefix / "bin/pliant"), *said_as, "--json"]
            said[name] = run(*command, cwd=folder, env=environment)
            (place / f"{name}.json").write_text(said[name])
        place.rename(folder / who)
    for name in QUESTIONS:
        ours, theirs = constant(answers["library"][name]), constant(answers["program"][name])
        expect(len(ours) > 50 and ours == theirs, f"library and program differ on {name}", f"{ours}\n{theirs}")


def main() -> None:
    source, build, compiler = sys.argv[1:4]
    with tempfile.TemporaryDirectory(prefix="pliant_install") as folder:
        prefix, example = pathlib.Path(folder, "prefix"), pathlib.Path(folder, "example")
        run("cmake", "--install", build, "--prefix", str(prefix))
        expect((prefix / "include/pliant/core/layer.h").is_file(), "no header of core was installed", "")

        # A copy beside nothing of ours: only the installed package can provide headers and libraries.
        run("cp", "-r", str(pathlib.Path(source, "examples/cpp")), str(example))
        run(
            "cmake",
            "-S",
            str(example),
            "-B",
            str(example / "build"),
            "-G",
            "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_CXX_COMPILER={compiler}",
            f"-DCMAKE_PREFIX_PATH={prefix}",
        )
        run("cmake", "--build", str(example / "build"))

        # Neither an environment variable nor the source tree may help the example find its files.
        environment = {name: value for name, value in os.environ.items() if name != "PLIANT_CONFIGS"}
        output = run(
            str(example / "build/pliant_example"),
            str(example / "sweep.yaml"),
            str(example / "dataset"),
            cwd=folder,
            env=environment,
        )
        expect("certified" in output and "not certified" not in output, "the layer's mapping has no proof", output)
        edp = {(m[1], float(m[2])) for m in re.finditer(r"^(\S+)  EDP (\S+)$", output, re.MULTILINE)}
        expect(len(edp) == 4, "a sweep of two arrays and two classes must give four designs", output)
        expect(
            min(edp, key=lambda row: row[1])[0] == "1111",
            "what a fixed design can do a flexible one can: the best design must be flexible",
            output,
        )

        vectors = pathlib.Path(source, "tests/data/oracle_perfect.jsonl")
        ask_every_question(prefix, example, vectors, pathlib.Path(folder), environment)

        version = run(str(prefix / "bin/pliant"), "--version", cwd=folder, env=environment)
        expect(output.splitlines()[0].split()[1] in version, "program and library differ in version", output + version)


if __name__ == "__main__":
    main()
