# SPDX-License-Identifier: Apache-2.0
"""examples/audit.py accepts what the program certifies and nothing that is spoiled.

Usage: audit_test.py PLIANT SOURCE_DIR
"""
import copy
import importlib.util
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

PLIANT, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
SPEC = importlib.util.spec_from_file_location("audit", SOURCE / "examples" / "audit.py")
witness = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(witness)

TASKS = [
    ("eyeriss", "resnet50", "conv2_1b", "edp"), ("eyeriss", "alexnet", "conv3", "energy"),
    ("eyeriss", "mobilenet_v2", "block1_dw", "edp"), ("eyeriss", "bert_base_seq512", "attn_score", "edp"),
    ("gemmini", "resnet50", "conv2_1b", "edp"), ("gemmini", "alexnet", "conv3", "runtime"),
    ("simba", "resnet50", "conv5_1c", "edp"), ("simba", "alexnet", "conv3", "ed2p"),
    ("tpuv1", "alexnet", "conv3", "edp"), ("tpuv1", "bert_base_seq512", "attn_score", "energy"),
    ("flexref", "resnet50", "conv2_1b", "edp"), ("flexref", "bert_base_seq512", "attn_score", "edp"),
    ("npu", "resnet50", "conv5_1c", "edp"), ("npu", "alexnet", "conv3", "energy"),
    ("ruby_eyeriss", "resnet50", "conv2_1b", "edp"), ("ruby_simba_15", "alexnet", "conv3", "edp"),
    ("chip_eyeriss", "resnet50", "conv5_1c", "edp"), ("chip_simba", "alexnet", "conv3", "edp"),
    ("chip_tpuv1", "resnet50", "conv2_1b", "edp"), ("accelforge_tpu_v4i", "resnet50", "conv5_1c", "edp"),
]

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what, flush=True)


def certificate_of(folder, accelerator, layer, objective, *more):
    path = folder / "certificate.json"
    subprocess.run([PLIANT, "map", "--accelerator", accelerator, *layer, "--objective", objective, *more,
                    "--certificate", path], check=True, stdout=subprocess.DEVNULL)
    return json.loads(path.read_text())


def verdict(certificate):
    try:
        return "accepted", witness.check(certificate, math.inf)
    except witness.Refused as why:
        return "refused", str(why)
    except witness.Undecided as why:
        return "undecided", str(why)


def member_of_optimum(certificate):
    """The part that the mapping's choice is in, its own bound where it has one."""
    task = witness.Task(certificate["task"])
    (unrolling, kept), _ = witness.read_mapping(task, certificate["claim"]["mapping"])
    ways = [tuple(map(frozenset, way)) for way in certificate["keeps"]]
    for part in certificate["parts"]:
        for member in part.get("members", []):
            if tuple(tuple(sorted(f.items())) for f in member[0]) == unrolling and ways[member[1]] == kept:
                return part, member
    return next(part for part in certificate["parts"] if "rest" in part), None


def change_line(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


def first_number(text, key):
    """`key` and its number, as they stand in the text."""
    at = text.index(key + ": ")
    end = min(text.find(c, at) % (len(text) + 1) for c in "\n,}")
    return text[at:end], float(text[at + len(key) + 2:end].split()[0])


def bound_raised(c):
    part, member = member_of_optimum(c)
    if member:
        member[2] = c["claim"]["value"] * (1 + 1e-6)
    else:
        part["lower_bound"] = c["claim"]["value"] * (1 + 1e-6)


def claim_raised(c):
    c["claim"]["lower_bound"] *= 1 + 1e-6


def value_lowered(c):
    c["claim"]["value"] *= 1 - 1e-6
    c["claim"]["lower_bound"] = c["claim"]["value"]


def part_dropped(c):
    del c["parts"][0]


def member_dropped(c):
    part = next(p for p in c["parts"] if len(p.get("members", [])) > 1)
    del part["members"][0]


def member_twice(c):
    part = next(p for p in c["parts"] if p.get("members"))
    part["members"].append(part["members"][0])
    part["choices"] += 1


def count_changed(c):
    c["parts"][-1]["choices"] += 1


def steps_moved(c):
    part = next(p for p in c["parts"] if "steps_at_least" in p)
    part["steps_at_least"] *= 1.5


def size_of_layer(c):
    old, size = first_number(c["task"]["layer"], "M")
    c["task"]["layer"] = change_line(c["task"]["layer"], old, f"M: {int(size * 2)}")


def energy_of_level(c):
    old, pj = first_number(c["task"]["accelerator"], "read_pj")
    c["task"]["accelerator"] = change_line(c["task"]["accelerator"], old, f"read_pj: {pj * 1.01}")


def loop_lost(c):
    lines = c["claim"]["mapping"].splitlines()
    i = next(i for i, line in enumerate(lines) if "temporal: [{" in line)
    lines[i] = "    temporal: []"
    c["claim"]["mapping"] = "\n".join(lines)


def loop_grown(c):
    text = c["claim"]["mapping"]
    at = text.index("temporal: [{") + len("temporal: [{")
    c["claim"]["mapping"] = text[:at] + text[at:].replace("}", "0}", 1)


def left_open(c):
    c["parts"][-1]["closed_by"] = "left"


def infeasible(c):
    c["claim"]["infeasible"] = True


SPOILINGS = [bound_raised, claim_raised, value_lowered, part_dropped, count_changed, size_of_layer, energy_of_level,
             loop_lost, loop_grown, left_open, infeasible, steps_moved]
MEMBERS = [member_dropped, member_twice]


def shipped_certificates(folder):
    refused = 0
    for i, (accelerator, workload, layer, objective) in enumerate(TASKS):
        name = f"{accelerator} {layer} {objective}"
        good = certificate_of(folder, accelerator, ["--workload", workload, "--layer", layer], objective)
        said = verdict(good)
        expect(said[0] == "accepted", f"{name}: {said}")
        for spoil in (SPOILINGS[i % len(SPOILINGS)], SPOILINGS[(i + 5) % len(SPOILINGS)]):
            bad = copy.deepcopy(good)
            spoil(bad)
            said = verdict(bad)
            expect(said[0] == "refused", f"{name}, {spoil.__name__}: {said}")
            refused += 1
        if any(len(p.get("members", [])) > 1 for p in good["parts"]):
            for spoil in MEMBERS:
                bad = copy.deepcopy(good)
                spoil(bad)
                said = verdict(bad)
                expect(said[0] == "refused", f"{name}, {spoil.__name__}: {said}")
                refused += 1
    expect(refused >= 20, "20 spoiled certificates")
    print(f"{len(TASKS)} certificates accepted, {refused} spoiled ones refused")


MACHINE = """pliant: accelerator
name: tiny
word_bits: 8
bits: {{inputs: 8, weights: 8, outputs: 8, partial_sums: {sums}}}
levels:
  - {{memory: Far, capacity: unbounded, read_pj: {far}, write_pj: 30, bandwidth: {port}}}
  - {{memory: Near, capacity: {near}, read_pj: 2, may_bypass: [weights], buffers: {buffers}}}
  - {{fanout: Array, rows: {rows}, cols: {cols}, multicast: {multicast}}}
  - {{memory: Unit, capacity: {unit}, read_pj: 0.5, keeps: [{keeps}]}}
  - {{compute: MAC, mac_pj: 0.1}}
"""


def mappings_of(task, unrolling, kept):
    """All loops of a choice that fit, one by one: every split of every dim over the memories, in every order."""
    choice = witness.Choice(task, unrolling, kept)
    memories, dims = task.memories, list(choice.left)
    splits = []
    for d in dims:
        ways = []
        for bounds in itertools.product(witness.divisors(choice.left[d]), repeat=len(memories)):
            if math.prod(bounds) == choice.left[d]:
                ways.append(bounds)
        splits.append(ways)
    for split in itertools.product(*splits):
        tile, fits = dict.fromkeys(dims, 1), True
        for m in reversed(range(len(memories))):
            for d, bounds in zip(dims, split):
                tile[d] *= bounds[m]
            held = {d: n * choice.inside[memories[m]][d] for d, n in tile.items()}
            fits = fits and task.fits(memories[m], kept[m], held)
        if not fits:
            continue
        here = [[(memories[m], d, bounds[m]) for d, bounds in zip(dims, split) if bounds[m] > 1]
                for m in reversed(range(len(memories)))]
        for orders in itertools.product(*(itertools.permutations(loops) for loops in here)):
            yield choice, [loop for order in orders for loop in order]


def bounds_hold(folder, seed, rounds):
    """On small tasks no bound of the witness is above a mapping that it lists and prices; and it decides the task."""
    rng = random.Random(seed)
    choices = listed = 0
    for _ in range(rounds):
        machine = MACHINE.format(far=rng.choice([20, 60]), port=rng.choice([1, 3, 100]), near=rng.choice([24, 40, 200]),
                                 rows=rng.choice([1, 2]), cols=rng.choice([2, 3]), unit=rng.choice([4, 8]),
                                 keeps=rng.choice(["outputs", "inputs, weights, outputs", "weights", "inputs"]),
                                 sums=rng.choice([8, 16]), buffers=rng.choice([1, 2]),
                                 multicast=rng.choice(["true", "false"]))
        (folder / "tiny.yaml").write_text(machine)
        layer = rng.choice(["conv:M=2,C=2,P=2,Q=1,R=3,S=1", "conv:M=2,C=1,P=4,Q=1,R=2,S=1,stride=2",
                            "conv:M=1,C=2,P=3,Q=2,R=2,S=1", "gemm:M=4,N=2,K=3", "depthwise:C=2,P=4,Q=1,R=3,S=1"])
        objective = rng.choice(["edp", "energy", "runtime"])
        good = certificate_of(folder, str(folder / "tiny.yaml"), ["--layer", layer], objective)
        said = verdict(good)
        expect(said[0] == "accepted", f"{machine} {layer} {objective}: {said}")
        task = witness.Task(good["task"])
        for unrolling in task.unrollings():
            for kept in task.keeps():
                least = math.inf
                for choice, loops in mappings_of(task, unrolling, kept):
                    least = min(least, task.value(*choice.price(loops), choice.steps))
                    listed += 1
                found = witness.Choice(task, unrolling, kept).bound(2 * good["claim"]["value"], math.inf)
                case = f"{machine} {layer} {objective} {unrolling} {kept}"
                expect(found <= least * (1 + 1e-9), f"{case}: {found} is above {least}")
                expect(least >= good["claim"]["value"] * (1 - 1e-9), f"{layer}: a mapping is better than the optimum")
                choices += 1
    print(f"bounds of {choices} choices hold for the {listed} mappings they have")


def written(task, unrolling, kept, loops):
    """A mapping as text; everything that is spread runs over the columns."""
    lines = ["levels:"]
    for l, level in enumerate(task.levels):
        lines.append(f"  - level: {level.get('memory', level.get('fanout'))}")
        if l in task.fanouts:
            factors = ", ".join(f"{{{d}: {b}}}" for d, b in unrolling[task.fanouts.index(l)])
            lines.append(f"    cols: [{factors}]")
        else:
            times = ", ".join(f"{{{d}: {b}}}" for m, d, b in reversed(loops) if m == l)
            keeps = ", ".join(sorted(kept[task.memories.index(l)]))
            lines += [f"    temporal: [{times}]", f"    keeps: [{keeps}]"]
    return "\n".join(lines)


def worse_optimum(folder):
    """A mapping that is not the best, called the best in every number: never accepted."""
    machine = MACHINE.format(far=20, port=3, near=40, rows=1, cols=2, unit=4, keeps="outputs", sums=8, buffers=1,
                             multicast="true")
    (folder / "tiny.yaml").write_text(machine)
    good = certificate_of(folder, str(folder / "tiny.yaml"), ["--layer", "gemm:M=4,N=2,K=3"], "edp")
    task, tried = witness.Task(good["task"]), 0
    for unrolling, kept in itertools.product(task.unrollings(), task.keeps()):
        for choice, loops in itertools.islice(mappings_of(task, unrolling, kept), 20):
            value = task.value(*choice.price(loops), choice.steps)
            if value <= good["claim"]["value"] * (1 + 1e-9):
                continue
            bad = copy.deepcopy(good)
            bad["claim"].update(value=value, lower_bound=value, mapping=written(task, unrolling, kept, loops))
            for part in bad["parts"]:
                part["lower_bound"] = value
                for member in part.get("members", []):
                    member[2] = value
            said = verdict(bad)
            expect(said[0] == "undecided", f"a worse mapping called the best: {said}")
            tried += 1
    expect(tried > 20, "worse mappings")
    print(f"{tried} certificates of worse mappings not accepted")


def command_line(folder):
    good = certificate_of(folder, "eyeriss", ["--layer", "gemm:M=8,N=6,K=4"], "edp")
    ruby = certificate_of(folder, "eyeriss", ["--layer", "gemm:M=7,N=6,K=4"], "edp", "--factorization", "ruby-s")
    bad = copy.deepcopy(good)
    claim_raised(bad)
    for text, code in ((json.dumps(good), 0), (json.dumps(bad), 1), (json.dumps(ruby), 4), ("{", 2), ("{}", 2)):
        (folder / "one.json").write_text(text)
        run = subprocess.run([sys.executable, "-I", SOURCE / "examples" / "audit.py", folder / "one.json"],
                             stdout=subprocess.PIPE, text=True)
        expect(run.returncode == code, f"exit code {run.returncode}, not {code}: {run.stdout}")


with tempfile.TemporaryDirectory() as name:
    shipped_certificates(pathlib.Path(name))
    bounds_hold(pathlib.Path(name), 1, 12)
    worse_optimum(pathlib.Path(name))
    command_line(pathlib.Path(name))
sys.exit(1 if failures else 0)
