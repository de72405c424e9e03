#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks certificates of Pliant without Pliant: audit.py [--seconds N] FILE...

Written from docs/certificates.md, with the standard library alone. It decides certificates of one layer with perfect
factors under the conventions `physical`. What it cannot decide it says, and never accepts.
Exit code: 0 all are accepted, 1 one is refused, 2 one cannot be read, 4 one is undecided.
"""
import heapq, itertools, json, math, pathlib, re, sys, time

ROUNDING, INF = 1e-9, math.inf  # sums are formed in another order than Pliant's
UNDERSTOOD = set("""pliant layer name description conventions bits clock levels area flexibility hints conv gemm
    B M N K C P Q R S stride stride_p stride_q dilation dilation_r dilation_s groups inputs weights outputs partial_sums
    memory capacity word_bits buffers keeps may_bypass resident reserved technology read_pj write_pj update_pj bandwidth
    read_bandwidth write_bandwidth leak_pj_per_cycle area_um2 fanout rows cols multicast reduction partial_multicast
    compute mac_pj cycles_per_mac orders loops parallel shape any_of max_dims_per_side vector links""".split())

class Refused(Exception): code, said = 1, "refused"  # the certificate is wrong
class Undecided(Exception): code, said = 4, "undecided"  # this program does not know

def value_of(text):
    """A value of YAML on one line: where words are quoted the rest is JSON."""
    plain = lambda word: re.fullmatch(r'".*|true|false|-?\d+(\.\d+)?(e[-+]?\d+)?', word)
    quoted = lambda match: word if plain(word := match.group().strip()) else json.dumps(word)
    return json.loads(re.sub(r'"(?:[^"\\]|\\.)*"|[^\[\]{},:\s"][^\[\]{},:"]*', quoted, text))

def parse(text):
    """YAML with maps and lists in blocks."""
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines() if line.strip()]
    def block(i, indent):
        out = [] if lines[i][1].startswith("- ") else {}
        while i < len(lines) and lines[i][0] == indent:
            key, _, rest = lines[i][1].partition(":")
            if isinstance(out, list):
                lines[i] = (indent + 2, lines[i][1][2:])
                item, i = block(i, indent + 2)
                out.append(item)
            elif rest.strip():
                out[key], i = value_of(rest.strip()), i + 1
            else:
                out[key], i = block(i + 1, lines[i + 1][0])
        return out, i
    return block(0, 0)[0]

divisors = lambda n: [d for d in range(1, n + 1) if n % d == 0]
whole = lambda cycles: math.ceil(cycles * (1 - 2 ** -46))

def distinct(strides):
    """How many values the sum of i * stride takes, over all i < count, for pairs of stride and count."""
    apart = []
    for s, n in sorted(pair for pair in strides if pair[1] > 1):
        if apart and apart[-1][0] * apart[-1][1] == s:
            s, n = apart[-1][0], apart.pop()[1] * n
        apart.append((s, n))
    if len(apart) == 2:  # a value counts where it is first met
        (a, m), (b, n) = apart
        return m * n - max(0, m - b // math.gcd(a, b)) * max(0, n - a // math.gcd(a, b))
    sums = (sum(v) for v in itertools.product(*(range(0, s * n, s) for s, n in apart)))
    return len(set(sums)) if len(apart) > 2 else math.prod(n for _, n in apart)

class Tensor:
    def __init__(self, role, ranks, sizes):
        self.role, self.name = role, role.capitalize()  # an index in ranks is a list of (coefficient, dim)
        ranks = [[(a, d) for a, d in rank if sizes[d] > 1] for rank in ranks]
        self.plain = [rank[0][1] for rank in ranks if len(rank) == 1]
        self.affine = [rank for rank in ranks if len(rank) > 1]
        self.windowed = [d for rank in self.affine for _, d in rank]
        self.dims = set(self.plain + self.windowed)
        self.others = [d for d in sizes if sizes[d] > 1 and d not in self.dims]

    def words(self, tile):
        windows = (distinct((a, tile[d]) for a, d in rank) for rank in self.affine)
        return math.prod(tile[d] for d in self.plain) * math.prod(windows)

def read_layer(layer):
    if "gemm" in layer:
        sizes, slide, uses = {"B": 1, **layer["gemm"]}, [], ("BMK", "BKN", "BMN")
    else:
        s = {"B": 1, "groups": 1, **layer["conv"]}
        g, depthwise = s["groups"], 1 < s["groups"] == s["C"] == s["M"]
        sizes = {**{d: s[d] for d in "BPQRS"}, "C": s["C"] // (1 if depthwise else g), "M": s["M"] // g,
                 "G": 1 if depthwise else g}
        slide = [[(s.get("stride", s.get("stride_" + p.lower(), 1)), p),
                  (s.get("dilation", s.get("dilation_" + r.lower(), 1)), r)] for p, r in ("PR", "QS")]
        uses = ("BC", "CRS", "BCPQ") if depthwise else ("BGC", "GMCRS", "BGMPQ")
    return sizes, [Tensor(role, [[(1, d)] for d in dims] + windows, sizes) for role, dims, windows in
                   zip(("inputs", "weights", "outputs"), uses, (slide, [], []))]

class Task:
    def __init__(self, task):
        self.objective, self.most_cycles = task["objective"], task.get("most_cycles", INF)
        layer, machine = parse(task["layer"]), parse(task["accelerator"])
        rules, maps = machine.get("flexibility", {}), [layer, machine] + machine["levels"]
        maps += [rules, layer.get("conv", {})] + [m.get("bits", {}) for m in maps]
        if unknown := set(itertools.chain(*maps, *rules.get("parallel", {}).values())) - UNDERSTOOD:
            raise Undecided(f"keys: {', '.join(sorted(unknown))}")
        if task["factorization"] != "pfm" or machine["conventions"] != "physical":
            raise Undecided("only perfect factors under `physical` are checked here")
        if any(m.get("partial_multicast") or "none" in m.get("bits", {}).values() for m in machine["levels"]):
            raise Undecided("partial multicast, or a memory that takes no partial sums")
        sizes, self.tensors = read_layer(layer)
        self.size, self.output = {d: n for d, n in sorted(sizes.items()) if n > 1}, self.tensors[2]
        self.levels, self.compute = machine["levels"][:-1], machine["levels"][-1]
        self.memories = [l for l, level in enumerate(self.levels) if "memory" in level]
        self.fanouts = [l for l, level in enumerate(self.levels) if "fanout" in level]
        self.rules, built, self.leak = rules, 1, 0
        self.ports, self.held, self.final = [], {}, {}  # ports: level, directions, roles, words per cycle
        for l, level in enumerate(self.levels):
            if l in self.fanouts:
                built *= level["rows"] * level["cols"]
                continue
            self.leak += built * level["leak_pj_per_cycle"]
            said = [level.get("bits", {}), layer.get("bits", {}), machine.get("bits", {})]
            bits = lambda key, default: next((s[key] for s in said if key in s), default)
            for t in self.tensors:  # words of an element, and of a finished output
                final = bits(t.role, level["word_bits"])
                held = max(final, bits("partial_sums", final)) if t is self.output else final
                self.held[l, t], self.final[l, t] = held / level["word_bits"], final / level["word_bits"]
            for key, ways in (("read_bandwidth", "r"), ("write_bandwidth", "w"), ("bandwidth", "rw")):
                rates = level.get(key, {})
                for roles, rate in (rates if isinstance(rates, dict) else {"inputs weights outputs": rates}).items():
                    self.ports.append((l, ways, roles.split(), rate))
        self.leak += built * self.compute["leak_pj_per_cycle"]
        self.macs = math.prod(self.size.values())
        self.busy = self.macs * self.compute["cycles_per_mac"] / built

    def rule(self, axis, l, default):
        rule = self.rules.get(axis, {}).get(self.levels[l].get("memory", self.levels[l].get("fanout")), default)
        if axis == "shape" and "block" in rule or axis == "orders" and "stationary" in str(rule):
            raise Undecided(f"the rule {axis}: {rule}")
        return rule

    def value(self, energy, cycles, steps):
        energy += self.leak * cycles  # which is not in it yet
        return INF if cycles > self.most_cycles else {
            "runtime": cycles, "energy": energy, "perf-per-watt": energy, "edp": energy * cycles,
            "ed2p": energy * cycles ** 2, "edp-over-utilization": energy * cycles * steps / self.busy}[self.objective]

    def spreads(self, l, rows, cols, over_rows, over_cols):
        """May a fanout be used so: numbers of rows and columns, and the dims that run over them?"""
        level, rule, free = self.levels[l], self.rule("parallel", l, {}), self.rule("shape", l, "fixed") == "free"
        ways = rule.get("any_of", [{"rows": self.size, "cols": self.size}])
        sums = [d for side, d in (("rows", over_rows), ("cols", over_cols)) if level["reduction"] in ("always", side)]
        return (max(len(over_rows), len(over_cols)) <= rule.get("max_dims_per_side", INF)
                and not any(dims & self.output.dims for dims in sums)
                and any(over_rows <= set(way["rows"]) and over_cols <= set(way["cols"]) for way in ways)
                and rows * cols <= level["rows"] * level["cols"]
                and (free or rows <= level["rows"] and cols <= level["cols"]))

    def unrollings(self):
        """By fanout the dims that are spread, with their factors."""
        joined = [()]
        for l in self.fanouts:
            here = {((), 1, 1, frozenset(), frozenset())}
            for d, size in self.size.items():
                here = {(f + (((d, r * c),) if r * c > 1 else ()), rows * r, cols * c,
                         over | ({d} if r > 1 else set()), beside | ({d} if c > 1 else set()))
                        for f, rows, cols, over, beside in here for r in divisors(size) for c in divisors(size // r)
                        if rows * r * cols * c <= self.levels[l]["rows"] * self.levels[l]["cols"]}
                here = {way for way in here if self.spreads(l, *way[1:])}
            joined = [u + (f,) for u in joined for f in sorted({way[0] for way in here}) if all(
                n % math.prod(b for e, b in itertools.chain(*u, f) if e == d) == 0 for d, n in self.size.items())]
        return joined

    def keeps(self):
        """All ways to keep: by memory the names of the tensors."""
        ways, seen = [()], set()
        for l in self.memories:
            may = {t.name for t in self.tensors if t.role in self.levels[l]["keeps"]}
            free = {t.name for t in self.tensors if t.role in self.levels[l].get("may_bypass", [])} & may & seen
            subsets = [s for n in range(len(free) + 1) for s in itertools.combinations(sorted(free), n)]
            ways, seen = [w + (frozenset(may - free | set(s)),) for w in ways for s in subsets], seen | may
        return ways

    def orders(self, l):
        """Alternatives, each a list of sets of dims from the inside out: loops of one set stand in any order."""
        loops, orders = self.rule("loops", l, "any"), self.rule("orders", l, "any")
        may = set(self.size) if loops == "any" else set(self.size) & set(loops)
        return [[may - set(o) | {d} & may for d in o[::-1]] for o in orders] if orders != "any" else [[may]]

    def fits(self, l, kept, tile):
        level, number = self.levels[l], lambda size: int(str(size).split()[0])
        if level["capacity"] == "unbounded":
            return True
        held = (t for t in self.tensors if t.name in kept and t.role not in level.get("resident", []))
        room = (number(level["capacity"]) - number(level.get("reserved", 0))) // level.get("buffers", 1)
        return 0 <= sum(t.words(tile) * self.held[l, t] for t in held) <= room

class Choice:
    """An unrolling and a way to keep: what words cost, and bounds of all its mappings."""
    def __init__(self, task, unrolling, kept):
        self.task, self.kept, self.known, self.n = task, dict(zip(task.memories, kept)), {}, len(task.levels)
        self.factor = [dict.fromkeys(task.size, 1) for _ in task.levels]
        for l, factors in zip(task.fanouts, unrolling):
            self.factor[l].update(factors)
        self.inside = [{d: math.prod(f[d] for f in self.factor[l + 1:]) for d in task.size} for l in range(self.n + 1)]
        self.left = {d: size // (self.inside[0][d] * self.factor[0][d]) for d, size in task.size.items()}
        self.steps = task.compute["cycles_per_mac"] * math.prod(self.left.values())
        self.fixed = [task.macs * task.compute["mac_pj"]] + [0] * len(task.ports)  # whatever the tiles are
        self.transfers, self.once = {}, {}  # by tensor, from the inside out: parent, child, costs of words; moved once
        for t in task.tensors:
            keepers = [l for l in reversed(task.memories) if t.name in self.kept[l]]
            self.transfers[t] = [(p, c, *self.costs(t, p, c)) for p, c in zip(keepers, [self.n] + keepers)]
            words = math.prod(self.left[d] for d in t.others + t.windowed) * self.sweep(t, keepers[0], self.n)[0]
            words *= self.different(t, keepers[0], self.n, dict.fromkeys(task.size, 1), task.memories[-1])
            self.fixed = [a + s * words for a, s in zip(self.fixed, self.transfers[t][0][2])]
            self.once[t] = [[t.words(task.size) * (s * self.outside(p, t.others) + e * self.outside(c, t.others))
                             for s, e in zip(served, delivered)] for p, c, served, delivered in self.transfers[t][1:]]

    def outside(self, l, dims):
        return math.prod(f[d] for f in self.factor[:l] for d in dims)

    def charge(self, out, t, l, way, key, words):
        out[0] += self.task.levels[l][key] * words
        for i, (level, ways, roles, rate) in enumerate(self.task.ports):
            if level == l and way in ways and t.role in roles:
                out[i + 1] += words / (rate * self.outside(l, self.task.size))

    def costs(self, t, parent, child):
        """Energy and cycles of every port, of a word served by the parent and of one delivered to the child."""
        served, delivered = [0] * len(self.fixed), [0] * len(self.fixed)
        for out, l, way, key, back, back_key in ((served, parent, "w", "update_pj", "r", "read_pj"),
                                                 (delivered, child, "r", "read_pj", "w", "write_pj")):
            if l == self.n:
                continue
            held, first = self.task.held[l, t], t.words(self.task.size) * self.outside(l, t.others)
            self.charge(out, t, l, back, back_key, held)
            if t is self.task.output:  # old values come back, but not for first arrivals; the last sum is finished
                self.charge(out, t, l, way, key, held)
                self.charge(self.fixed, t, l, back, back_key, -first * held)
                if self.outside(l, t.others) == 1:
                    self.charge(self.fixed, t, l, way, key, -first * (held - self.task.final[l, t]))
        return served, delivered

    def shares(self, t, l):
        return self.task.levels[l]["reduction" if t is self.task.output else "multicast"] is not False

    def sweep(self, t, parent, child):
        """Words served and delivered in one sweep, windows left aside."""
        words, loose = math.prod(self.task.size[d] for d in t.plain), t.others + t.windowed
        apart = [l for l in self.task.fanouts if parent < l < child and not self.shares(t, l)]
        return (words * self.outside(parent, loose) * math.prod(self.factor[l][d] for l in apart for d in t.others),
                words * self.outside(child, loose))

    def different(self, t, parent, child, tile, mover):
        """Different windows among the children of a parent; equal ones share a word."""
        count, between = 1, [l for l in self.task.fanouts if parent < l < child]
        for _, network in itertools.groupby(between, lambda l: sum(m > l for m in self.task.memories)):
            network = list(network)
            for rank in t.affine:
                equal = [(a, d, l) for a, d in rank for l in network if self.factor[l][d] > 1 and self.shares(t, l)]
                if network[0] < mover and len({d for _, d, _ in equal}) > 1:
                    raise Undecided("windows that a memory in between displaces")
                count *= math.prod(self.factor[l][d] for _, d in rank for l in network if not self.shares(t, l))
                count *= distinct((a * tile[d] * self.inside[l][d], self.factor[l][d]) for a, d, l in equal)
        return count

    def moved(self, t, i, tile, mover, dim, bound):
        """Words served and delivered of a transfer whose run ends at a loop, with this tile inside it."""
        key = (t, i, mover, dim, bound) + tuple(tile[d] for d in t.windowed)
        if key not in self.known:
            parent, child = self.transfers[t][i][:2]
            words = math.prod(self.left[d] // tile[d] for d in t.windowed) / (bound if dim in t.windowed else 1)
            for rank in t.affine:
                words *= distinct([(a, tile[d] * self.inside[child][d]) for a, d in rank] +
                                  [(a * tile[d] * self.inside[mover][d], bound) for a, d in rank if d == dim])
            served, delivered = self.sweep(t, parent, child)
            self.known[key] = served * words * self.different(t, parent, child, tile, mover), delivered * words
        repeats = math.prod(self.left[d] // tile[d] for d in t.others)
        return [words * repeats for words in self.known[key]]

    def price(self, loops):
        """Energy and cycles of a mapping, as (level, dim, bound) from the inside out."""
        total = list(self.fixed)
        for t in self.task.tensors:
            for i, (_, child, served, delivered) in list(enumerate(self.transfers[t]))[1:]:
                tile = {d: math.prod(b for l, e, b in loops if e == d and l >= child) for d in self.left}
                outer = [loop for loop in loops if loop[0] < child]
                while outer and outer[0][1] not in t.dims:
                    tile[outer[0][1]] *= outer.pop(0)[2]
                mover, dim, bound = outer[0] if outer else (0, None, 1)
                for l, d, b in outer[1:] if dim in t.windowed else ():  # the slide goes on
                    if d != dim or any(f[dim] > 1 for f in self.factor[l:mover]):
                        break
                    bound *= b
                words = self.moved(t, i, tile, mover, dim, bound)
                total = [a + s * words[0] + e * words[1] for a, s, e in zip(total, served, delivered)]
        return total[0], max([self.steps] + [whole(load) for load in total[1:]])

    def least(self, measure, cutoff, deadline):
        """The least energy (measure 0) or cycles of a port over all mappings; the cutoff where it is not below."""
        tensors, levels, dims = self.task.tensors, self.task.memories[::-1], list(self.left)
        rest = [[sum(o[measure] for o in self.once[t][i:]) for i in range(len(self.once[t]) + 1)] for t in tensors]
        orders = [self.task.orders(l) for l in levels]
        def paid(i, since, l, tile, d, b):
            """What the transfers of a tensor that wait cost where a loop at a level ends their run."""
            waiting = [j for j, moves in enumerate(self.transfers[tensors[i]]) if j >= since and moves[1] > l]
            return sum(costs[measure] * words for j in waiting for costs, words in
                       zip(self.transfers[tensors[i]][j][2:], self.moved(tensors[i], j, tile, l, d, b)))
        def ahead(k, waiting):
            """What is not paid yet moves once, at least."""
            return sum(rest[i][(since or 1 + sum(c > levels[k] for _, c, *_ in self.transfers[t][1:])) - 1]
                       for i, (t, since) in enumerate(zip(tensors, waiting))) if k < len(levels) else 0
        start = [(0, a, 0, (1,) * len(dims), (0, 0, 0)) for a in range(len(orders[0]))]
        heap, best = [(self.fixed[measure] + ahead(0, (0, 0, 0)), 0, s) for s in start], dict.fromkeys(start, 0)
        while heap:
            total, cost, (k, a, phase, node, waiting) = heapq.heappop(heap)
            if k == len(levels):
                return total
            if cost > best[k, a, phase, node, waiting]:
                continue
            if time.monotonic() > deadline:
                raise Undecided("time is up")
            tile, l, after = dict(zip(dims, node)), levels[k], []
            held = lambda tile: {e: n * self.inside[l][e] for e, n in tile.items()}
            for d in orders[k][a][phase]:
                users = [i for i, since in enumerate(waiting) if since and d in tensors[i].dims]
                waits = tuple(0 if i in users else since for i, since in enumerate(waiting))
                for b in divisors(self.left[d] // tile[d])[1:]:
                    grown = {**tile, d: tile[d] * b}
                    if not self.task.fits(l, self.kept[l], held(grown)):
                        break
                    more = sum(paid(i, waiting[i], l, tile, d, b) for i in users)
                    after.append((cost + more, (k, a, phase, tuple(grown.values()), waits)))
            if phase + 1 < len(orders[k][a]):
                after.append((cost, (k, a, phase + 1, node, waiting)))
            elif self.task.fits(l, self.kept[l], held(tile)) and (k + 1 < len(levels) or tile == self.left):
                starts = [next((j for j, moves in enumerate(self.transfers[t]) if moves[1] == l), 0) for t in tensors]
                waits = tuple(since or new for since, new in zip(waiting, starts))
                if k + 1 < len(levels):
                    after += [(cost, (k + 1, b, 0, node, waits)) for b in range(len(orders[k + 1]))]
                else:
                    more = sum(paid(i, since, -1, tile, None, 1) for i, since in enumerate(waits) if since)
                    after.append((cost + more, (k + 1, 0, 0, node, waits)))
            for cost, state in after:
                total = self.fixed[measure] + cost + ahead(state[0], state[4])
                if total < cutoff and cost < best.get(state, INF):
                    best[state] = cost
                    heapq.heappush(heap, (total, cost, state))
        return cutoff

    def bound(self, target, deadline):
        """A number that no mapping's value is below; tiles are looked at until it reaches the target."""
        least = [sum(costs) for costs in zip(self.fixed, *(once for t in self.task.tensors for once in self.once[t]))]
        cycles = lambda: max([self.steps] + [whole(load * (1 - ROUNDING)) for load in least[1:]])
        value = lambda energy, time: self.task.value(energy, time, self.steps)
        for m in range(len(least)):
            if value(least[0], cycles()) >= target * (1 - ROUNDING):
                break
            enough, slope = INF, value(1, cycles()) - value(0, cycles())
            if m == 0:  # so much energy, whatever the cycles are; a port must take so many of them
                enough = (target - value(0, cycles())) / slope * (1 + ROUNDING) if slope > 0 else 0
            elif target < INF:
                enough = next((c for i in range(1, 60) if value(least[0], c := cycles() * 2 ** i) >= target), 0)
            least[m] = max(least[m], self.least(m, enough, deadline))
        return value(least[0], cycles())

def read_mapping(task, text):
    """The mapping's unrolling, way to keep and loops in time from the inside out; Refused where it is not legal."""
    loops, unrolling, kept, tile = [], (), (), dict.fromkeys(task.size, 1)
    given = {level["level"]: level for level in parse(text)["levels"]}
    for l, level in reversed(list(enumerate(task.levels))):
        here = given[level.get("memory", level.get("fanout"))]
        rows, cols, times = ([(d, b) for loop in here.get(key, []) for d, b in loop.items() if b != 1]
                             for key in ("rows", "cols", "temporal"))
        for d, b in rows + cols + times:
            if d not in tile or b < 1:
                raise Refused(f"the mapping has a loop of {b} over {d}")
            tile[d] *= b
        if l in task.fanouts:
            numbers, dims = zip(*((math.prod(b for _, b in side), {d for d, _ in side}) for side in (rows, cols)))
            if times or not task.spreads(l, *numbers, *dims):
                raise Refused(f"the mapping spreads {rows} x {cols} over {level['fanout']}")
            merged = {d: math.prod(b for e, b in rows + cols if e == d) for d, _ in rows + cols}
            unrolling = (tuple(sorted(merged.items())),) + unrolling
            continue
        kept, names = (frozenset(here["keeps"]),) + kept, [d for d, _ in reversed(times)]
        ordered = any(all(d in order[i] for i, d in zip(steps, names)) for order in task.orders(l)
                      for steps in itertools.combinations_with_replacement(range(len(order)), len(names)))
        if rows or cols or len(set(names)) < len(names) or not ordered or not task.fits(l, kept[0], tile):
            raise Refused(f"the mapping has the tile {tile} and the loops {times} at {level['memory']}")
        loops += [(l, d, b) for d, b in reversed(times)]
    if tile != task.size or kept not in task.keeps():
        raise Refused(f"the mapping's loops cover {tile} of {task.size}; it keeps {kept}")
    return [unrolling, kept], loops

def check(certificate, deadline):
    number = lambda value: INF if value is None else value
    task, claim, parts = Task(certificate["task"]), certificate["claim"], certificate["parts"]
    value, lower_bound = number(claim["value"]), number(claim["lower_bound"])
    proven, best = claim["certified"] or claim["infeasible"], None
    if lower_bound > value * (1 + ROUNDING) or proven and lower_bound < value * (1 - ROUNDING) or \
            claim["infeasible"] != (proven and value == INF) or ("mapping" in claim) != (value < INF):
        raise Refused("the claims do not fit together")
    if "mapping" in claim:
        best, loops = read_mapping(task, claim["mapping"])
        choice = Choice(task, *best)
        if not math.isclose(priced := task.value(*choice.price(loops), choice.steps), value, rel_tol=ROUNDING):
            raise Refused(f"the mapping's value is {priced}, not {value}")
    unrollings, keeps, owner = task.unrollings(), task.keeps(), {}
    steps = {u: task.compute["cycles_per_mac"] * task.macs / math.prod(b for f in u for _, b in f) for u in unrollings}
    ways = [tuple(map(frozenset, way)) for way in certificate["keeps"]]
    for n, part in sorted(enumerate(parts, 1), key=lambda item: "rest" in item[1]):
        stated = number(part["lower_bound"])
        if "members" not in part:
            slow = part.get("steps_at_least", 0) * (1 - ROUNDING)
            chosen = [(u, k, stated) for u in unrollings if steps[u] >= slow for k in keeps
                      if "rest" not in part or (u, k) not in owner]
        else:
            chosen = [(tuple(tuple(sorted(f.items())) for f in u), ways[k], number(b)) for u, k, b in part["members"]]
        if part["choices"] != len(chosen) or min([b for *_, b in chosen] or [stated]) < stated * (1 - ROUNDING):
            raise Refused(f"part {n} has {len(chosen)} choices, not {part['choices']}, or a bound below its own")
        if stated < lower_bound * (1 - ROUNDING) or proven and part["closed_by"] == "left":
            raise Refused(f"part {n} is open")
        for u, k, bound in chosen:
            if (u, k) in owner or u not in steps or k not in keeps:
                raise Refused(f"part {n} has a choice that another part or no mapping has: {u}, {k}")
            if [u, k] == best and bound > value * (1 + ROUNDING):
                raise Refused(f"part {n}: the mapping's value is below the bound of its choice")
            owner[u, k] = n, bound
    if len(owner) != len(unrollings) * len(keeps):
        raise Refused(f"{len(unrollings) * len(keeps) - len(owner)} choices are in no part")
    for (u, k), (n, stated) in owner.items():
        found = Choice(task, u, k).bound(stated, deadline)
        if found < stated * (1 - ROUNDING):
            raise Undecided(f"part {n}: {found} is known of {u}, {k}, less than {stated}")
    return f"accepted: {claim['value']} in {len(parts)} parts of {len(owner)} choices"

def main(arguments):
    timed, codes = arguments[:1] == ["--seconds"], {0}
    seconds, arguments = (float(arguments[1]), arguments[2:]) if timed else (600.0, arguments)
    for name in arguments or sys.exit(__doc__):
        try:
            certificate = json.loads(pathlib.Path(name).read_text("utf-8"))
            if (certificate["pliant"], certificate["schema"]) != ("certificate", 1):
                raise ValueError("not a certificate of schema 1")
            code, said = 0, check(certificate, time.monotonic() + seconds)
        except (Refused, Undecided) as why:
            code, said = why.code, f"{why.said}: {why}"
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as why:
            code, said = 2, f"cannot be read: {why!r}"
        print(f"{name}: {said}", flush=True)
        codes.add(code)
    return next(code for code in (1, 2, 4, 0) if code in codes)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
