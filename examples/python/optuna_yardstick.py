# SPDX-License-Identifier: Apache-2.0
"""Optuna searches designs, and is measured against the proven frontier of the same designs.

    python examples/python/optuna_yardstick.py [TRIALS]

The design space is small enough to sweep, so its frontier is known: every point is proven. The regret of a study is the
share of that frontier's hypervolume that its own frontier lacks.
"""

from __future__ import annotations

import sys

import optuna

import pliant

ROWS = [8, 16, 32]
COLS = [16, 32, 64]
BUFFERS = ["50KiB", "100KiB", "200KiB"]
CLASSES = ["InFlex-0000", "FullFlex-1000", "FullFlex-0100", "FullFlex-0011", "FullFlex-1111"]
WORKLOAD = "alexnet"


def evaluate(rows: int, cols: int, buffer: str, flexibility: str) -> tuple[float, float]:
    """Area and EDP of one design, with the best mapping of every layer."""
    accelerator = pliant.load_accelerator(
        "flexref", flexibility=flexibility, settings={"rows": rows, "cols": cols, "Buffer.capacity": buffer}
    )
    found = pliant.map_workload(WORKLOAD, accelerator, progress=False)
    return found[0].area_um2, found.edp_pj_cycles


def hypervolume(points: list[tuple[float, float]], reference: tuple[float, float]) -> float:
    """Area under the reference point that the points dominate, both coordinates to be small."""
    volume, height = 0.0, reference[1]
    for x, y in sorted(points):
        if x < reference[0] and y < height:
            volume += (reference[0] - x) * (height - y)
            height = y
    return volume


def proven_frontier() -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """All designs, swept; and the worst of each coordinate, for the hypervolume."""
    found = pliant.sweep(
        {
            "pliant": "sweep",
            "name": "yardstick",
            "accelerator": "flexref",
            "workloads": [WORKLOAD],
            "vary": [{"rows": ROWS}, {"cols": COLS}, {"Buffer.capacity": BUFFERS}],
            "flexibility": CLASSES,
            "objective": "edp",
        },
        progress=False,
    )
    group = pliant.frontier(found, ["area_um2", "edp_pj_cycles"]).groups[0]
    points = [(row["area_um2"], row["edp_pj_cycles"]) for row in group["frontier"]]
    return points, (group["reference"]["area_um2"], group["reference"]["edp_pj_cycles"])


def run(trials: int, seed: int = 1) -> float:
    """The regret of a study, from 0 (it found the whole frontier) to 1."""
    frontier, reference = proven_frontier()

    def objective(trial: optuna.Trial) -> tuple[float, float]:
        return evaluate(
            trial.suggest_categorical("rows", ROWS),
            trial.suggest_categorical("cols", COLS),
            trial.suggest_categorical("buffer", BUFFERS),
            trial.suggest_categorical("flexibility", CLASSES),
        )

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.NSGAIISampler(seed=seed, population_size=20)
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
    study.optimize(objective, n_trials=trials)
    found = [(trial.values[0], trial.values[1]) for trial in study.best_trials]
    best = hypervolume(frontier, reference)
    return (best - hypervolume(found, reference)) / best


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    print(f"regret after {trials} trials: {run(trials):.4f}")
