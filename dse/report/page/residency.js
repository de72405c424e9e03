// SPDX-License-Identifier: Apache-2.0
// What stays on chip: the room that tensors take in every memory, from when to when each of them stays, and what every
// step takes with and without.

/** Steps and tensors of a design on a workload; null where its tensors may not stay. */
function residencyOf(row) {
  const found = details?.json.residency?.[row];
  if (!found) return null;
  return {
    steps: found.steps.map((step, index) => {
      const [node, count, energy, cycles, outsideEnergy, outsideCycles, taken, boundBy, under] = step;
      return {
        node,
        count,
        energy,
        cycles,
        outsideEnergy,
        outsideCycles,
        taken: new Map(taken),
        boundBy,
        under,
        index,
      };
    }),
    levels: found.levels,
    tensors: found.tensors.map(([node, elements, from, to, level, tiles]) => {
      return { node, elements, from, to, level, tiles };
    }),
  };
}

/** The first lane that is free from the tensor's first step to its last. */
function inLanes(tensors) {
  const ends = [];
  return tensors.map((tensor) => {
    let lane = ends.findIndex((end) => end < tensor.from);
    if (lane < 0) lane = ends.length;
    ends[lane] = tensor.to;
    return { ...tensor, lane };
  });
}

/** A tensor's life is a bar; one that is passed on in tiles has stripes, two for each step. */
function barsOf(tensor) {
  const from = tensor.from + 0.5,
    to = tensor.to + 0.5;
  if (!tensor.tiles) return [{ from, to }];
  return Array.from({ length: Math.round(2 * (to - from)) }, (_, i) => ({
    from: from + 0.5 * i + 0.08,
    to: from + 0.5 * i + 0.42,
  }));
}

/** The loops around the layers that make and read it in tiles. */
function loopsOf(tensor, found) {
  for (let s = tensor.from; s <= tensor.to; ++s) if (found.steps[s].under) return found.steps[s].under;
  return "";
}

async function drawResidency(row, layers) {
  const place = document.getElementById("on-chip"),
    found = residencyOf(row);
  place.hidden = !found;
  document.getElementById("alone-note").hidden = !found;
  if (!found) return;
  const capacities = new Map(layers.flatMap((l) => l.memories.map((m) => [m.level, m.capacity])));
  const stay = found.tensors.filter((t) => t.level);
  drawResidencyNote(row, found, stay);
  drawStayingTensors(found, stay);
  const levels = [...new Set(found.steps.flatMap((s) => [...s.taken.keys()]))];
  const shareOf = (words, level) => (capacities.get(level) ? words / capacities.get(level) : 0);
  const clock = designs.get("clock_hz", row);
  const time = axisOf({ title: "time", unit: clock ? "s" : "", scale: clock ? 1 / clock : 1, format: ".3~s" }, [
    found.steps.reduce((most, s) => Math.max(most, s.cycles, s.outsideCycles), 0),
  ]);
  const energy = axisOf({ title: "energy", unit: "J", scale: 1e-12, format: ".3~s" }, [
    found.steps.reduce((most, s) => Math.max(most, s.energy, s.outsideEnergy), 0),
  ]);
  const rows = [];
  for (const step of found.steps) {
    levels.forEach((level, i) => {
      const words = step.taken.get(level) ?? 0;
      const width = 1 / levels.length;
      if (words > 0)
        rows.push({
          part: "room",
          from: step.index + i * width,
          to: step.index + (i + 1) * width,
          value: shareOf(words, level),
          words,
          level,
          step: step.index,
        });
    });
    for (const [part, now, outside, scale] of [
      ["time", step.cycles, step.outsideCycles, time.scale],
      ["energy", step.energy, step.outsideEnergy, energy.scale],
    ]) {
      const common = { part, step: step.index };
      rows.push({ ...common, from: step.index + 0.08, to: step.index + 0.5, value: outside * scale, kind: "outside" });
      rows.push({ ...common, from: step.index + 0.5, to: step.index + 0.92, value: now * scale, kind: "staying" });
    }
  }
  const lanes = inLanes(stay);
  for (const t of lanes)
    for (const bar of barsOf(t))
      rows.push({ part: "life", ...bar, lane: t.lane + 0.1, lane2: t.lane + 0.9, ...named(t, found) });
  await draw(
    "chart-residency",
    "residency",
    {
      width: plotWidth("chart-residency", 70, 120, 160),
      end: found.steps.length,
      lanes: Math.max(1, ...lanes.map((t) => t.lane + 1)),
      lanes_height: 14 * Math.max(1, ...lanes.map((t) => t.lane + 1)),
      levels,
      level_colours: levels.map((_, i) => report.measures.colours[i % 8]),
      time_title: clock ? time.title : "cycles",
      time_format: time.format,
      energy_title: energy.title,
      energy_format: energy.format,
    },
    rows,
    { tip: (d) => residencyTip(d, found, row) },
  );
}

function named(tensor, found) {
  const { level, node, elements, to, tiles } = tensor;
  return { level, node, elements, until: to, loops: tiles ? loopsOf(tensor, found) : "" };
}

function residencyTip(d, found, row) {
  const step = found.steps[d.step];
  if (d.part === "room")
    return [
      ["while", step.node],
      ["memory", d.level],
      ["taken by tensors", `${plain(d.words)} words, ${percent(d.value)}`],
    ];
  if (d.part === "life")
    return [
      ["made by", d.node],
      [d.loops ? "passes in tiles in" : "stays in", d.level],
      ...(d.loops ? [["under", d.loops]] : []),
      ["elements", plain(d.elements)],
      ["until", found.steps[d.until].node],
    ];
  if (d.part === "time")
    return [
      ["step", step.node],
      ["tensors stay", layerTime(step.cycles, row)],
      ["every tensor outside", layerTime(step.outsideCycles, row)],
    ];
  if (d.part === "energy")
    return [
      ["step", step.node],
      ["tensors stay", si(step.energy * 1e-12, "J")],
      ["every tensor outside", si(step.outsideEnergy * 1e-12, "J")],
    ];
  return null;
}

function drawResidencyNote(row, found, stay) {
  const outside = designs.get("outside_runtime_cycles", row);
  const sum = (of) => found.steps.reduce((total, s) => total + of(s), 0);
  const times = outside
    ? ` Time ${layerTime(outside, row)} → ${layerTime(
        sum((s) => s.cycles),
        row,
      )} (÷ ${plain(outside / sum((s) => s.cycles), 4)}), energy ${si(
        designs.get("outside_energy_pj", row) * 1e-12,
        "J",
      )} → ${si(sum((s) => s.energy) * 1e-12, "J")} (÷ ${plain(
        designs.get("outside_energy_pj", row) / sum((s) => s.energy),
        4,
      )}).`
    : " With every tensor outside there are no mappings.";
  const tiles = stay.filter((t) => t.tiles).length,
    inTiles = tiles ? ` (${tiles} of them in tiles)` : "";
  document.getElementById("on-chip-note").textContent =
    `${stay.length} of ${found.tensors.length} tensors stay on chip${inTiles}, ${bytes(
      designs.get("most_on_chip_bits", row) / 8,
    )} at most at once.${times}${freedomWords(row)}`;
}

/** What each step of freedom gains, where layers may pass tiles on. */
function freedomWords(row) {
  const edp = (kind) => designs.get(`${kind}energy_pj`, row) * designs.get(`${kind}runtime_cycles`, row);
  const whole = edp("whole_"),
    outside = edp("outside_");
  if (!whole) return "";
  const tiles = plain(whole / edp(""), 4);
  if (!outside) return ` Tiles divide the EDP of whole tensors by ${tiles}.`;
  return ` EDP: whole tensors on chip divide it by ${plain(outside / whole, 4)}, tiles that by ${tiles}.`;
}

function drawStayingTensors(found, stay) {
  const header = [
    { title: "made by" },
    { title: "stays in" },
    { title: "elements", number: true },
    { title: "until" },
    { title: "steps", number: true },
    ...(stay.some((t) => t.tiles) ? [{ title: "in tiles under" }] : []),
  ];
  const loops = (t) => (t.tiles ? loopsOf(t, found) : "whole");
  wholeTable(
    document.getElementById("on-chip-tensors"),
    header,
    stay.map((t) => ({
      cells: [
        t.node,
        t.level,
        plain(t.elements),
        found.steps[t.to].node,
        plain(t.to - t.from),
        ...(header.length > 5 ? [loops(t)] : []),
      ],
    })),
  );
}

/** In words: are the figures of a network or of its layers one by one, and what would the other say? */
function mappedAsWords(rows) {
  const networks = rows.filter((r) => designs.get("mapped_as", r) === "network"),
    layers = rows.filter((r) => designs.get("mapped_as", r) === "layers");
  const named = (all) => listed([...new Set(all.map((r) => workloadName(designs.get("workload", r))))]);
  const gains = networks
    .filter((r) => designs.get("outside_runtime_cycles", r))
    .map((r) => {
      const here = designs.get("energy_pj", r) * designs.get("runtime_cycles", r),
        outside = designs.get("outside_energy_pj", r) * designs.get("outside_runtime_cycles", r);
      return `${workloadName(designs.get("workload", r))} ${(outside / here).toPrecision(3)}`;
    });
  const words = [];
  if (networks.length)
    words.push(
      `${named(networks)}: mapped as a network, tensors stay on chip where that is best and operators without MACs ` +
        `count. With every tensor outside ` +
        (gains.length ? `the EDP would be larger by the factor: ${listed(gains)}.` : "there are no mappings."),
    );
  if (layers.length)
    words.push(
      `${named(layers)}: mapped layer by layer, which is quicker; every tensor goes outside between layers, so ` +
        "nothing here speaks for a buffer that keeps them. As a network (a workload with a graph, and no " +
        "`network: false` in the sweep) larger buffers would gain more.",
    );
  return words.join(" ");
}
