#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sampling beside proving: what random search, a genetic search and Optuna's TPE miss with ten times the work.

    bench/design_sampling.py [--pliant build/release/bin/pliant] [--evaluator build/release/bin/design_evaluator]
                             [--workload bert_base_seq512] [--times 10] [--seeds 3]
                             [--csv docs/img/design_sampling.csv] [--plot docs/img/design_sampling.svg]

The space: 32 heights x 32 widths x 32 buffers of flexref x 16 classes (524,288 designs), one network. `pliant design`
proves its frontier; the work is the number of its searches of layers. Each sampler gets `times` as much of the same
work on the same evaluator, which never searches a layer twice. Regret: for every design of the frontier, how much
larger the EDP of the best design is that the sampler has found within the same area. The table has it after the work of
the proof and after `times` as much; the picture has it along the way. TPE needs Optuna and ends after 1500 trials, for
it slows down.
"""

import argparse
import csv
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


SPACE = """pliant: sweep
name: sampling
accelerator: flexref
set: {{DRAM.bandwidth: 16}}
workloads: [{workload}]
network: false
flexion: false
vary:
  rows: {{from: 2, to: 64, step: 2}}
  cols: {{from: 4, to: 128, step: 4}}
  Buffer.capacity: {{from: 16KiB, to: 512KiB, step: 16KiB}}
flexibility: all-16
minimize: [area_um2, edp_pj_cycles]
"""


class Evaluator:
    """Values of designs by number, and how many searches of layers they took so far."""

    def __init__(self, program, sweep, budget):
        self.process = subprocess.Popen([program, sweep], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.space = json.loads(self.process.stdout.readline())
        self.sizes = [*self.space["axes"], self.space["inner"]]
        self.budget, self.searches, self.found = budget, 0, {}
        self.order = []  # (searches so far, values), in the order in which designs were mapped

    def __call__(self, genome):
        number = 0
        for position, size in zip(genome, self.sizes):
            number = number * size + position
        if number not in self.found:
            self.process.stdin.write(f"{number}\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
            self.searches = answer["searches"]
            self.found[number] = answer["values"][0]
            self.order.append((self.searches, self.found[number]))
        return self.found[number]

    def spent(self):
        return self.searches >= self.budget or len(self.found) == math.prod(self.sizes)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def random_search(evaluate, rng):
    while not evaluate.spent():
        evaluate([rng.randrange(size) for size in evaluate.sizes])


def dominates(a, b):
    return all(x <= y for x, y in zip(a, b)) and a != b


def genetic(evaluate, rng, population=60):
    """NSGA-II without frills: ranks by domination, ties by distance to the neighbours of the same rank."""

    def ranked(members):
        left, order, rank = list(members), [], 0
        while left:
            front = [m for m in left if not any(dominates(o[1], m[1]) for o in left)]
            left = [m for m in left if m not in front]
            front.sort(key=lambda m: m[1])
            for k, member in enumerate(front):
                edge = k in (0, len(front) - 1)
                gap = math.inf if edge else math.dist(*([math.log(v) for v in front[j][1]] for j in (k - 1, k + 1)))
                order.append((rank, -gap, member))
            rank += 1
        order.sort(key=lambda item: item[:2])
        return [member for _, _, member in order]

    def draw():
        genome = [rng.randrange(size) for size in evaluate.sizes]
        return genome, evaluate(genome)

    members = []
    while len(members) < population and not evaluate.spent():
        member = draw()
        if member[1]:
            members.append(member)
    idle = 0
    while not evaluate.spent() and idle < 200:
        known = len(evaluate.found)
        members = ranked(members)[:population]
        children = []
        while len(children) < population and not evaluate.spent():
            parents = [members[min(rng.randrange(len(members)) for _ in range(2))][0] for _ in range(2)]
            child = [rng.choice(genes) for genes in zip(*parents)]
            for k, size in enumerate(evaluate.sizes):
                chance = rng.random()
                if chance < 0.1:
                    child[k] = rng.randrange(size)
                elif chance < 0.4:
                    child[k] = min(size - 1, max(0, child[k] + rng.choice([-2, -1, 1, 2])))
            value = evaluate(child)
            if value:
                children.append((child, value))
        members += [child for child in children if child not in members]
        idle = idle + 1 if len(evaluate.found) == known else 0


def tpe(evaluate, rng, most=1500):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=["minimize"] * evaluate.space["goals"],
                                sampler=optuna.samplers.TPESampler(seed=rng.randrange(2**31)))
    for _ in range(most):
        if evaluate.spent():
            break
        trial = study.ask()
        genome = [trial.suggest_int(f"axis{k}", 0, size - 1) for k, size in enumerate(evaluate.sizes[:-1])]
        genome.append(trial.suggest_categorical("class", list(range(evaluate.sizes[-1]))))
        value = evaluate(genome)
        if value:
            study.tell(trial, [math.log(v) for v in value])
        else:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)


def regrets(frontier, found):
    """For every proven design: the least EDP found within its area over its EDP, less 1; infinite without any."""
    values = [value for value in found if value]
    all_regrets = []
    for area, edp in frontier:
        best = min((v[1] for v in values if v[0] <= area * (1 + 1e-9)), default=math.inf)
        all_regrets.append(best / edp - 1)
    return all_regrets


def percent(share):
    return "nothing found" if math.isinf(share) else f"{100 * share:.2f} %"


def after(evaluate, searches):
    """The values of the designs that were mapped with so many searches."""
    return [values for done, values in evaluate.order if done <= searches]


def summary(name, seed, times, work, frontier, evaluate):
    designs = after(evaluate, times * work)
    found = sorted(regrets(frontier, designs))
    return {"sampler": name, "seed": seed, "work": times, "designs": len(designs),
            "exact": sum(r <= 1e-9 for r in found), "frontier": len(found),
            "median": percent(statistics.median(found)), "p90": percent(found[int(0.9 * (len(found) - 1))]),
            "worst": percent(found[-1])}


def curve(name, seed, most, work, frontier, evaluate):
    """Mean regret along the way; a design of the frontier within whose area nothing is found counts as 100 %."""
    points = []
    for step in range(-8, round(8 * math.log10(most)) + 1):
        times = 10 ** (step / 8)
        if evaluate.searches < times * work * 0.9:
            break
        found = [min(r, 1) for r in regrets(frontier, after(evaluate, times * work))]
        points.append({"by": name, "seed": seed, "work": times, "regret": 100 * statistics.mean(found)})
    return points


def plot(values, file):
    import vl_convert

    axes = {
        "x": {"field": "work", "type": "quantitative", "scale": {"type": "log"},
              "title": "searches of layers, as multiples of the proof's"},
        "y": {"field": "regret", "type": "quantitative", "scale": {"type": "symlog", "constant": 0.1},
              "axis": {"values": [0, 0.1, 1, 10, 100], "format": "~g"},
              "title": "mean regret on the frontier (% of EDP)"},
    }
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 520,
        "height": 320,
        "background": "white",
        "layer": [
            {"data": {"values": values}, "mark": {"type": "line", "point": {"size": 14}},
             "encoding": {**axes, "detail": {"field": "seed", "type": "nominal"},
                          "color": {"field": "by", "type": "nominal", "title": None}}},
            {"data": {"values": [{"work": 1, "regret": 0, "text": "proven"}]},
             "mark": {"type": "point", "filled": True, "size": 90, "color": "black"}, "encoding": axes},
            {"data": {"values": [{"work": 1, "regret": 0, "text": "proven"}]},
             "mark": {"type": "text", "align": "right", "dx": -9, "dy": -2, "color": "black"},
             "encoding": {**axes, "text": {"field": "text"}}},
        ],
    }
    file.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pliant", default=str(ROOT / "build/release/bin/pliant"))
    parser.add_argument("--evaluator", default=str(ROOT / "build/release/bin/design_evaluator"))
    parser.add_argument("--workload", default="bert_base_seq512")
    parser.add_argument("--times", type=float, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samplers", default="random,genetic,tpe")
    parser.add_argument("--csv", type=pathlib.Path, default=ROOT / "docs/img/design_sampling.csv")
    parser.add_argument("--plot", type=pathlib.Path, default=ROOT / "docs/img/design_sampling.svg")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sweep = pathlib.Path(folder) / "space.yaml"
        sweep.write_text(SPACE.format(workload=args.workload), encoding="utf-8")
        command = [args.pliant, "design", str(sweep), "-o", f"{folder}/out", "--threads", "1", "--json"]
        proven = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        frontier = sorted(design["values"] for design in proven["frontier"])
        print(f"proven: {len(frontier)} of {proven['designs']} designs, {proven['opened']} mapped, "
              f"{proven['searches']} searches", flush=True)
        rows, curves = [], []
        for name in args.samplers.split(","):
            for seed in range(1, args.seeds + 1):
                evaluate = Evaluator(args.evaluator, str(sweep), args.times * proven["searches"])
                {"random": random_search, "genetic": genetic, "tpe": tpe}[name](evaluate, random.Random(seed))
                evaluate.close()
                work = proven["searches"]
                for times in (1, args.times):
                    rows.append(summary(name, seed, times, work, frontier, evaluate))
                    print(rows[-1], flush=True)
                curves += curve(name, seed, args.times, work, frontier, evaluate)
                with args.csv.open("w", newline="", encoding="utf-8") as out:
                    writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows)
        plot(curves, args.plot)


if __name__ == "__main__":
    main()
