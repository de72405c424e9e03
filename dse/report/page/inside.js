// SPDX-License-Identifier: Apache-2.0
// Inside one design: when its layers run, what its area is made of, where energy flows, and how a layer is mapped.

/** Layers one after the other: width is time, colour what bounds it; below, energy as the area under the power. */
async function drawTimeline(layers, row) {
  const clock = designs.get("clock_hz", row);
  const time = axisOf({ title: "time", unit: clock ? "s" : "", scale: clock ? 1 / clock : 1, format: ".3~s" }, [
    layers.reduce((sum, l) => sum + l.count * l.cycles, 0),
  ]);
  const power = clock ? { unit: "W", scale: 1e-12 * clock } : { unit: "", scale: 1 };
  const levels = layers.length ? layers[0].mapping.map((m) => m.level) : [];
  const rows = [];
  let from = 0,
    highest = 0;
  for (const layer of layers) {
    const to = from + layer.count * layer.cycles;
    const common = { from: from * time.scale, to: to * time.scale, index: layer.index, layer: layer.name };
    rows.push({ ...common, part: "time", bound_by: layer.boundBy });
    let low = 0;
    for (const { level, value } of sumByLevel([layer])) {
      const high = low + (value / (to - from)) * power.scale;
      rows.push({ ...common, part: "energy", level, low, high, energy: value });
      low = high;
    }
    highest = Math.max(highest, low);
    from = to;
  }
  const axis = axisOf({ title: "power", unit: power.unit, scale: 1, format: ".3~s" }, [highest]);
  for (const r of rows)
    if (r.part === "energy") Object.assign(r, { low: r.low * axis.scale, high: r.high * axis.scale });
  const used = levels.filter((level) => rows.some((r) => r.level === level));
  await draw(
    "chart-timeline",
    "timeline",
    {
      width: plotWidth("chart-timeline", 60, 140, 160),
      end: from * time.scale,
      x_title: clock ? time.title : "time (cycles)",
      x_format: time.format,
      y_title: clock ? axis.title : "power (pJ per cycle)",
      y_format: axis.format,
      levels: used,
      level_colours: used.map((level) => report.measures.colours[levels.indexOf(level) % 8]),
      ...boundColours(layers),
    },
    rows,
    {
      tip: (d) =>
        d.index === undefined
          ? null
          : [
              ["layer", d.layer],
              ["time", layerTime((d.to - d.from) / time.scale, row)],
              ...(d.part === "time"
                ? [["bound by", d.bound_by]]
                : [
                    ["level", d.level],
                    ["energy", si(d.energy * 1e-12, "J")],
                  ]),
            ],
      click: (d) => d.index !== undefined && chooseLayer(d.index),
    },
  );
}

/** Energy of every level over some layers, repetitions and leakage included: [{level, value}] in the levels' order. */
function sumByLevel(layers) {
  const sums = new Map();
  for (const { level, value } of byLevel(layers, (t) => t.energy, true))
    sums.set(level, (sums.get(level) ?? 0) + value);
  return [...sums].map(([level, value]) => ({ level, value }));
}

/** What a design's area is made of: [[component, um2], ...]. */
function areaParts(row) {
  const real = isTogether(row) ? together.parts.get(row)[0] : row;
  const kind = report.areas.of[real];
  return kind >= 0 ? report.areas.kinds[kind] : [];
}

/** In mm², or µm² where that would be too small to read. */
function areaText(um2, digits = 3) {
  return um2 >= 1e4 || um2 === 0 ? `${plain(um2 * 1e-6, digits)} mm²` : `${plain(um2, digits)} µm²`;
}

async function drawAreas(row) {
  const total = designs.get("area_um2", row),
    largest = areaParts(row).reduce((most, [, area]) => Math.max(most, area), 0),
    wide = plotWidth("chart-area", 172, 50);
  await draw(
    "chart-area",
    "bars",
    {
      width: wide,
      x_title: "area (mm²)",
      x_format: ".3~g",
      x_end: largest * 1e-6 * (1 + 130 / wide),
    },
    areaParts(row).map(([name, area]) => ({
      name: componentName(name),
      value: area * 1e-6,
      text: `${areaText(area)}, ${percent(area / total, 2)}`,
    })),
  );
}
/** "flexibility P" is "flexibility: parallel dims". */
function componentName(name) {
  const axis = /^flexibility ([TOPS])$/.exec(name)?.[1];
  return axis ? `${isNarrow() ? "flex" : "flexibility"}: ${axisWords["TOPS".indexOf(axis)]}` : name;
}

/** The words of every tensor go through the memories that keep it: [{tensor, from, to, value}], energy in pJ. */
function energyFlows(layers) {
  const sums = new Map();
  for (const layer of layers) {
    const compute = layer.mapping[layer.mapping.length - 1].level;
    const stops = new Map(); // tensor -> the memories it passes, outermost first
    for (const memory of layer.memories)
      for (const t of memory.tensors) {
        if (!stops.has(t.tensor)) stops.set(t.tensor, []);
        stops.get(t.tensor).push({ level: memory.level, energy: layer.count * t.energy });
      }
    for (const [tensor, path] of stops)
      path.forEach(({ level, energy }, i) => {
        const key = JSON.stringify([tensor, level, path[i + 1]?.level ?? compute]);
        sums.set(key, (sums.get(key) ?? 0) + energy);
      });
  }
  return [...sums].map(([key, value]) => {
    const [tensor, from, to] = JSON.parse(key);
    return { tensor, from, to, value };
  });
}

/** Places the memories from left to right, as high as the more of what comes and what goes. */
function flowNodes(layers, flows, width, height) {
  const names = layers[0].mapping.map((m) => m.level),
    energies = new Map(sumByLevel(layers).map(({ level, value }) => [level, value]));
  const there = names.filter((n) => energies.get(n) > 0 || flows.some((f) => f.from === n || f.to === n));
  const sum = (list) => list.reduce((total, f) => total + f.value, 0);
  const nodes = there.map((name, i) => {
    const own = energies.get(name) ?? 0;
    const most = Math.max(own, sum(flows.filter((f) => f.from === name)), sum(flows.filter((f) => f.to === name)));
    return { name, own, most, x: there.length > 1 ? (i * (width - 120)) / (there.length - 1) : 0, out: 0, in: 0 };
  });
  const tallest = nodes.reduce((most, node) => Math.max(most, node.most), 0);
  const scale = (height - 74) / (tallest || 1);
  for (const node of nodes) {
    node.high = Math.max(2, node.most * scale);
    node.y = 62 + (height - 74 - node.high) / 2;
  }
  return { nodes, scale };
}

/** Energy flow: a band leaves the memory that spends its energy and ends where the tensor goes next. */
function drawFlow(layers) {
  const place = document.getElementById("flow"),
    key = document.getElementById("flow-key");
  const width = Math.max(300, Math.min(1000, widthOf("flow"))),
    height = 300;
  const flows = layers.length ? energyFlows(layers).filter((f) => f.value > 0) : [];
  if (!flows.length) {
    key.replaceChildren();
    return place.replaceChildren(element("p", { class: "empty" }, "No energy is known by memory."));
  }
  const { nodes, scale } = flowNodes(layers, flows, width, height);
  const crowded = nodes.length > 1 && (width - 120) / (nodes.length - 1) < 118;
  const total = layers.reduce((sum, l) => sum + l.count * l.energy, 0);
  const tensors = [...new Set(flows.map((f) => f.tensor))],
    colours = tensorColours(tensors).map(onThisPage);
  const node = (name) => nodes.find((n) => n.name === name);
  const bands = flows.map((f) => {
    const from = node(f.from),
      to = node(f.to),
      thick = f.value * scale,
      drawn = Math.max(0.75, thick);
    const y0 = from.y + from.out,
      y1 = to.y + to.in;
    from.out += thick;
    to.in += thick;
    const x0 = from.x + 64,
      x1 = to.x + 50,
      middle = (x0 + x1) / 2;
    const title = shape("title", {}, `${f.tensor}, ${f.from} to ${f.to}: ${si(f.value * 1e-12, "J")}`);
    return shape(
      "path",
      {
        // An area between two curves: a thick line would bend beyond its ends.
        d:
          `M${x0},${y0} C${middle},${y0} ${middle},${y1} ${x1},${y1} v${drawn} ` +
          `C${middle},${y1 + drawn} ${middle},${y0 + drawn} ${x0},${y0 + drawn} Z`,
        fill: colours[tensors.indexOf(f.tensor)],
        "fill-opacity": 0.55,
        class: "band",
        "data-energy": f.value,
      },
      title,
    );
  });
  const boxes = nodes.flatMap((n, i) => [
    shape("rect", { x: n.x + 50, y: n.y, width: 14, height: n.high.toFixed(2), rx: 2, class: "node" }),
    // Names that would touch stand on two lines, by turns.
    shape("text", { x: n.x + 57, y: crowded && i % 2 ? 42 : 14, class: "node-name" }, n.name),
    shape(
      "text",
      { x: n.x + 57, y: crowded && i % 2 ? 56 : 28, class: "node-value" },
      crowded ? percent(n.own / total, 2) : `${si(n.own * 1e-12, "J", 3)}, ${percent(n.own / total, 2)}`,
    ),
  ]);
  const words = nodes.map((n) => `${n.name} ${percent(n.own / total, 2)}`).join(", ");
  place.replaceChildren(
    shape(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Energy by level: ${words}` },
      ...bands,
      ...boxes,
    ),
  );
  key.replaceChildren(...tensors.flatMap((t, i) => swatch(colours[i], t)));
}
function swatch(colour, words) {
  return [element("span", { class: "swatch", style: `background:${colour}` }), `${words}  `];
}
