// SPDX-License-Identifier: Apache-2.0
// One design on one workload: where its energy goes, what bounds its layers, how they are mapped.

const chosen = { row: null, layer: null, scope: "all", workload: null };
let details = null; // Details, once unpacked

/** The chosen design on one workload: where all are looked at together, the one that the reader picks below. */
function insideRow() {
  if (chosen.row === null || !isTogether(chosen.row)) return chosen.row;
  chosen.workload ??= workloadNames()[0];
  return rowOn(designs.get("design_id", chosen.row), chosen.workload) ?? null;
}

function choose(anyRow, scroll = false) {
  const row = rowOn(designs.get("design_id", anyRow), filters.workload);
  if (row === undefined) return;
  chosen.row = row;
  chosen.layer = null;
  chosen.scope = "all";
  drawCard();
  drawFrontier();
  drawLosses();
  drawDesign();
  drawVenn();
  if (scroll) document.getElementById("design").scrollIntoView();
}

/** Any design by its number, as `pliant pareto` prints it. */
function drawDesignNumber() {
  const find = (event) => {
    const id = Number(event.target.value);
    const row = rowOn(id, filters.workload);
    if (row !== undefined) return choose(row);
    event.target.setCustomValidity(`There is no design ${event.target.value} of ${workloadName(filters.workload)}.`);
    event.target.reportValidity();
  };
  document.getElementById("design-number").replaceChildren(
    element(
      "label",
      { for: "design-id" },
      "Design ",
      element("input", {
        type: "number",
        id: "design-id",
        min: 0,
        onchange: find,
        oninput: (event) => event.target.setCustomValidity(""),
      }),
    ),
  );
}

function drawCard() {
  const row = chosen.row;
  const card = document.getElementById("chosen");
  if (row === null) return card.replaceChildren();
  const lines = designTip(row);
  for (const [name, word] of [
    ["rel_runtime", "runtime, inflexible = 1"],
    ["rel_energy", "energy, inflexible = 1"],
    ["rel_area", "area, inflexible = 1"],
  ]) {
    if (designs.get(name, row) !== null) lines.push([word, plain(designs.get(name, row), 4)]);
  }
  if (designs.get("flexibility_area_from", row))
    lines.push(["area of flexibility from", designs.get("flexibility_area_from", row)]);
  if (designs.get("w_f", row) !== null)
    axisWords.forEach((name, i) =>
      lines.push([`of the layers' ${name} it can use`, percent(designs.get(`w_f_${"tops"[i]}`, row))]),
    );
  if (designs.get("status", row) !== "solved")
    lines.push(["status", `${designs.get("status", row)}: ${designs.get("reason", row)}`]);
  card.replaceChildren(
    element("h3", {}, `Design ${designs.get("design_id", row)}`),
    element(
      "dl",
      {},
      ...lines.slice(1).flatMap(([what, value]) => [element("dt", {}, what), element("dd", {}, value)]),
    ),
    element("button", { type: "button", class: "more", onclick: () => addToCompare(row) }, "Compare it"),
    " ",
    element("a", { href: "#design", class: "more" }, "Its layers and mappings ↓"),
  );
}

/** Sums by level and tensor over some layers, repetitions included. */
function byLevel(layers, valueOf, withCompute) {
  const sums = new Map();
  const add = (level, tensor, value) => {
    if (value > 0) sums.set(JSON.stringify([level, tensor]), (sums.get(JSON.stringify([level, tensor])) ?? 0) + value);
  };
  for (const layer of layers) {
    for (const memory of layer.memories) {
      for (const tensor of memory.tensors) add(memory.level, tensor.tensor, layer.count * valueOf(tensor));
      if (withCompute) add(memory.level, "leakage", layer.count * (memory.leakage ?? 0));
    }
    if (!withCompute) continue;
    const inMemories = layer.memories.reduce(
      (sum, m) => sum + (m.leakage ?? 0) + m.tensors.reduce((s, t) => s + t.energy, 0),
      0,
    );
    add(
      layer.mapping[layer.mapping.length - 1].level,
      "compute",
      Math.max(0, layer.count * (layer.energy - inMemories)),
    );
  }
  return [...sums].map(([key, value]) => ({ level: JSON.parse(key)[0], tensor: JSON.parse(key)[1], value }));
}

function tensorColours(tensors) {
  const { tensor_colours: named, colours } = report.measures;
  return tensors.map((t, i) => (Object.hasOwn(named, t) ? named[t] : colours[i % 5]));
}

async function drawStacked(id, layers, valueOf, title, unit, scale, withCompute) {
  const rows = byLevel(layers, valueOf, withCompute);
  const tensors = [...new Set(rows.map((r) => r.tensor))];
  const total = rows.reduce((sum, r) => sum + r.value, 0);
  const tallest = [...groupBy(rows, (r) => r.level).values()].map((of) => of.reduce((sum, r) => sum + r.value, 0));
  const axis = axisOf({ title, unit: unit === "J" ? unit : "", scale, format: ".3~s" }, tallest);
  await draw(
    id,
    "stacked",
    {
      width: plotWidth(id, 104, 130),
      x_title: axis.title,
      x_format: axis.format,
      tensors,
      colours: tensorColours(tensors),
    },
    rows.map((r) => ({ ...r, value: r.value * axis.scale, order: tensors.indexOf(r.tensor) })),
    {
      tip: (d) =>
        d.tensor === undefined
          ? null
          : [
              ["memory", d.level],
              ["tensor", d.tensor],
              [
                unit === "J" ? "energy" : "words",
                unit === "J" ? si((d.value / axis.scale) * scale, "J", 5) : plain(d.value, 7),
              ],
              ["share", percent(d.value / axis.scale / total)],
            ],
    },
  );
}

function boundColours(layers) {
  const bounds = [...new Set(layers.map((l) => l.boundBy))].sort((a, b) =>
    a === "compute" ? -1 : b === "compute" ? 1 : a < b ? -1 : 1,
  );
  return { bounds, colours: bounds.map((_, i) => report.measures.colours[i % 8]) };
}

/** A memory whose reads and writes share one bus. */
const hasBus = (layer) => (layer?.memories[0]?.busCycles ?? 0) > 0;

/** Points of layers, the compute roof, and a slanted roof where the outermost memory limits reading or its bus. */
function rooflineRows(layers, units) {
  const words = (t) => (hasBus(layers[0]) ? t.read + t.written : t.read);
  const moved = (layer) => layer.memories[0].tensors.reduce((sum, t) => sum + words(t), 0);
  const points = layers
    .filter((l) => moved(l) > 0)
    .map((l) => ({
      kind: "layer",
      name: l.name,
      x: l.macs / moved(l),
      y: l.macs / l.cycles,
      bound_by: l.boundBy,
      chosen: l === layers.chosen,
      index: l.index,
    }));
  if (!points.length) return { rows: [], bandwidth: null, domain: [1, 2] };
  // A port's cycles are its words over its bandwidth, so the layers tell the bandwidth.
  let bandwidth = null;
  for (const layer of layers) {
    const cycles = (hasBus(layer) ? layer.memories[0].busCycles : layer.memories[0].readCycles) ?? 0;
    if (cycles > 0) bandwidth = Math.max(bandwidth ?? 0, moved(layer) / cycles);
  }
  const low = Math.min(...points.map((p) => p.x)),
    high = Math.max(...points.map((p) => p.x));
  const left = Math.min(low / 2, bandwidth ? units / bandwidth / 4 : Infinity),
    right = Math.max(high * 2, bandwidth ? (units / bandwidth) * 4 : 0);
  const ridge = bandwidth ? units / bandwidth : left;
  const roof = (name, x, y, labelled) => ({ kind: "roof", name, x, y, labelled, bound_by: "" });
  const rows = [
    ...points,
    roof(`${plain(units)} MAC units`, Math.max(left, ridge), units, false),
    roof(`${plain(units)} MAC units`, right, units, true),
  ];
  const slope = `${plain(bandwidth ?? 0, 3)} words ${hasBus(layers[0]) ? "moved" : "read"} per cycle`;
  if (bandwidth) rows.push(roof(slope, left, left * bandwidth, false), roof(slope, ridge, units, false));
  return { rows, bandwidth, domain: [rows.reduce((low, r) => Math.min(low, r.y), units) / 2, units * 1.6] };
}

async function drawDesign() {
  const row = insideRow();
  const note = document.getElementById("design-note"),
    charts = document.getElementById("design-charts");
  document.getElementById("design-name").textContent =
    row === null
      ? ""
      : `${designs.get("design_id", row)} on ${workloadName(designs.get("workload", row))}: ${designWords(row)
          .map(([what, value]) => `${what} ${value}`)
          .join(", ")}`;
  charts.hidden = row === null || !details?.has(row);
  document.getElementById("design-controls").hidden = charts.hidden;
  if (row === null) {
    note.textContent = "Choose a design in the frontier.";
    return;
  }
  if (!details) {
    note.textContent = "Unpacking the layers …";
    return;
  }
  if (!details.has(row)) {
    note.textContent =
      "This file does not hold the layers of this design: " +
      `it holds those of ${report.details.designs} of ${designs.stored} rows, frontiers first. ` +
      "`pliant report --layers N` includes more; all of them are in the dataset.";
    return;
  }
  const all = details.layersOf(row).map((layer, index) => ({ ...layer, index }));
  const layers = all.filter((l) => l.solved);
  note.textContent =
    all.length > layers.length
      ? `${all.length - layers.length} of ${all.length} layers have no mapping; the table says why.`
      : "";
  chosen.layer = all[chosen.layer] ? chosen.layer : null;
  chosen.layer ??= layers.length
    ? layers.reduce((a, b) => (a.count * a.energy >= b.count * b.energy ? a : b)).index
    : 0;
  drawDesignControls(all);
  drawLayerTable(all, row);
  drawMapping(all[chosen.layer], row);
  const shown = chosen.scope === "all" ? layers : layers.filter((l) => l.index === chosen.layer);
  drawFlow(shown);
  await drawResidency(row, layers);
  await drawTimeline(layers, row);
  await drawAreas(row);
  await drawStacked("chart-energy", shown, (t) => t.energy, "energy", "J", 1e-12, true);
  await drawStacked(
    "chart-traffic",
    shown,
    (t) => t.read + t.written,
    "words read and written",
    "words",
    1,
    false,
  );
  await drawBounds(all, layers, row);
}

function drawDesignControls(all) {
  const again = (key) => (value) => {
    chosen[key] = value;
    drawDesign();
  };
  const controls = [
    choice(
      "Energy and traffic of",
      "design-scope",
      [
        ["all", "the whole workload"],
        ["one", "the chosen layer"],
      ],
      chosen.scope,
      again("scope"),
    ),
    choice(
      "Layer",
      "design-layer",
      all.map((l) => [String(l.index), l.name]),
      String(chosen.layer),
      (value) => chooseLayer(Number(value)),
    ),
  ];
  if (isTogether(chosen.row))
    controls.unshift(
      choice(
        "Network",
        "design-workload",
        workloadNames().map((w) => [w, w]),
        chosen.workload,
        (value) => {
          chosen.workload = value;
          chosen.layer = null;
          drawDesign();
          drawVenn();
        },
      ),
    );
  document.getElementById("design-controls").replaceChildren(...controls);
}

/** Time of a layer for people: seconds where the design has a clock. */
function layerTime(cycles, row) {
  const clock = designs.get("clock_hz", row);
  return clock ? si(cycles / clock, "s") : `${plain(cycles, 7)} cycles`;
}

/** Utilization of every layer and the roofline. */
async function drawBounds(all, layers, row) {
  const bound = boundColours(layers);
  const click = (d) => d.index !== undefined && chooseLayer(d.index);
  const layerTip = (l) => [
    ["layer", l.name],
    ["utilization", percent(l.utilization)],
    ["bound by", l.boundBy],
    ["time", layerTime(l.cycles, row)],
    ["energy", si(l.energy * 1e-12, "J")],
    ["repeated", `${l.count} ×`],
  ];
  await draw(
    "chart-utilization",
    "utilization",
    { width: plotWidth("chart-utilization", 150, 120), step: layers.length > 40 ? 11 : 15, ...bound },
    layers.map((l) => ({
      layer: `${l.index + 1} ${l.name}`,
      utilization: l.utilization,
      bound_by: l.boundBy,
      index: l.index,
      chosen: l.index === chosen.layer,
    })),
    { tip: (d) => (d.index === undefined ? null : layerTip(all[d.index])), click },
  );
  layers.chosen = all[chosen.layer];
  const { rows, bandwidth, domain } = rooflineRows(layers, designs.get("compute_units", row));
  const memory = layers[0]?.memories[0]?.level ?? "",
    moved = hasBus(layers[0]) ? "moved at" : "read from";
  document.getElementById("roofline-caption").textContent = bandwidth
    ? ""
    : `${memory} has no limit of bandwidth in this design, so there is only the roof of the MAC units.`;
  await draw(
    "chart-roofline",
    "roofline",
    { width: plotWidth("chart-roofline", 60, 120, 160), memory, moved, y_domain: domain, ...bound },
    rows,
    {
      tip: (d) =>
        d.index === undefined
          ? null
          : [
              ...layerTip(all[d.index]),
              [`MACs per word ${moved} ${memory}`, plain(d.x, 4)],
              ["MACs per cycle", plain(d.y, 4)],
            ],
      click,
    },
  );
}

function chooseLayer(index) {
  chosen.layer = index;
  drawDesign();
}

function drawLayerTable(all, row) {
  const header = [
    { title: "layer" },
    { title: "shape" },
    { title: "×", number: true, meaning: "repetitions" },
    { title: "MACs", number: true },
    { title: "energy", number: true },
    { title: "time", number: true },
    { title: "utilization", number: true },
    { title: "bound by" },
    { title: "proof" },
  ];
  const rows = all.map((l) => ({
    "aria-current": l.index === chosen.layer,
    cells: [
      element(
        "button",
        { type: "button", class: "link", "data-layer": l.index, onclick: () => chooseLayer(l.index) },
        l.name,
      ),
      l.dims.map((d) => `${d.dim}${d.bound}`).join(" "),
      plain(l.count),
      si(l.macs, "", 4),
      l.solved ? si(l.energy * 1e-12, "J", 5) : "–",
      l.solved ? layerTime(l.cycles, row) : "–",
      l.solved ? percent(l.utilization, 4) : "–",
      l.solved ? l.boundBy : "–",
      l.solved ? (l.certified ? "optimal" : `gap ${percent(l.gap)}`) : l.reason,
    ],
  }));
  wholeTable(document.getElementById("layers"), header, rows);
}
