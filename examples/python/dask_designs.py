# SPDX-License-Identifier: Apache-2.0
"""Designs as Dask tasks, and the best of them.

    python examples/python/dask_designs.py

Accelerators and layers travel to other processes; what comes back are numbers.
"""

from __future__ import annotations

import dask
import dask.bag

import pliant

COLS = [8, 16, 32, 64]
CLASSES = ["InFlex-0000", "FullFlex-1111"]
WORKLOAD = "alexnet"


def cost(design: tuple[int, str]) -> tuple[float, int, str]:
    """EDP of a design on the whole network, and which design it is."""
    cols, flexibility = design
    accelerator = pliant.load_accelerator("flexref", flexibility=flexibility, settings={"cols": cols})
    found = pliant.map_workload(WORKLOAD, accelerator, progress=False)
    return found.edp_pj_cycles, cols, flexibility


def run(scheduler: str = "processes") -> list[tuple[float, int, str]]:
    """All designs, the best first. Threads serve as well: a search does not hold Python's lock."""
    designs = [(cols, flexibility) for cols in COLS for flexibility in CLASSES]
    with dask.config.set(scheduler=scheduler, num_workers=2):
        return sorted(dask.bag.from_sequence(designs, npartitions=4).map(cost).compute())


if __name__ == "__main__":
    for edp, cols, flexibility in run():
        print(f"{flexibility:<14} {cols:>3} columns: EDP {edp:.4g} pJ x cycles")
