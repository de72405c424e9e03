# SPDX-License-Identifier: Apache-2.0
"""Installs this build into an empty folder, builds examples/cpp against it and runs it.

Usage: installed_package.py SOURCE_FOLDER BUILD_FOLDER CXX_COMPILER
"""

import os
import pathlib
import re
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

        version = run(str(prefix / "bin/pliant"), "--version", cwd=folder, env=environment)
        expect(output.splitlines()[0].split()[1] in version, "program and library differ in version", output + version)


if __name__ == "__main__":
    main()
