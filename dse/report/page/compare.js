// SPDX-License-Identifier: Apache-2.0
// Two to four designs side by side: figures, area, energy, time, layers, mappings.

const compare = { ids: null, layer: 0, measure: "time", workload: null };
const mostCompared = 4;

/** Begins with the recommended design and its neighbours on the frontier. */
function comparedIds() {
  if (compare.ids) return compare.ids;
  const found = recommended();
  if (!found) return [];
  const rows = [found.down, found.knee, found.up].filter((p) => p !== null).map((p) => p.row);
  return rows.map((row) => designs.get("design_id", row));
}
function addToCompare(row) {
  const id = designs.get("design_id", row);
  const others = comparedIds().filter((other) => other !== id);
  compare.ids = [...others.slice(-(mostCompared - 1)), id];
  drawCompare();
  document.getElementById("compare").scrollIntoView();
}

/** Of several networks the one on which the designs differ most in what the recommendation looks for. */
function comparedWorkload() {
  if (!isTogether()) return filters.workload;
  if (compare.workload) return compare.workload;
  const spread = (workload) => {
    const values = comparedIds()
      .map((id) => rowOn(id, workload))
      .map((row) => (row === undefined ? null : designs.get(goalName(), row)))
      .filter((v) => v > 0);
    return values.length > 1 ? Math.max(...values) / Math.min(...values) : 0;
  };
  return workloadNames().reduce((most, w) => (spread(w) > spread(most) ? w : most), workloadNames()[0]);
}
function comparedRows() {
  const workload = comparedWorkload();
  return comparedIds()
    .map((id) => rowOn(id, workload))
    .filter((row) => row !== undefined);
}

function drawCompareControls(rows) {
  const remove = (row) =>
    element(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-label": `Leave design ${designs.get("design_id", row)} out`,
        onclick: () => {
          compare.ids = comparedIds().filter((id) => id !== designs.get("design_id", row));
          drawCompare();
        },
      },
      `${designs.get("design_id", row)} ✕`,
    );
  const add = (event) => {
    const id = Number(event.target.value);
    const row = rowOn(id, designs.get("workload", rows[0] ?? insideRow()));
    if (row === undefined) {
      event.target.setCustomValidity(`There is no design ${event.target.value} here.`);
      return event.target.reportValidity();
    }
    compare.ids = [
      ...comparedIds()
        .filter((other) => other !== id)
        .slice(-(mostCompared - 1)),
      id,
    ];
    drawCompare();
  };
  document.getElementById("compare-controls").replaceChildren(
    element("span", { class: "quiet" }, "Designs "),
    ...rows.map(remove),
    ...(isTogether()
      ? [
          choice(
            "layers, energy and time on",
            "compare-workload",
            workloadNames().map((w) => [w, workloadName(w)]),
            comparedWorkload(),
            (value) => {
              compare.workload = value;
              drawCompare();
            },
          ),
        ]
      : []),
    element(
      "label",
      { for: "compare-id" },
      "add design ",
      element("input", {
        type: "number",
        id: "compare-id",
        min: 0,
        onchange: add,
        oninput: (event) => event.target.setCustomValidity(""),
      }),
    ),
  );
}

const designName = (row) => `design ${designs.get("design_id", row)}`;

/** Figures, one column for each design; the best of a line is bold. */
function comparedFigures(rows) {
  const words = designWords(rows[0]).map(([what], i) => ({
    cells: [what, ...rows.map((row) => designWords(row)[i][1])],
  }));
  const names = [
    ...new Set([
      "area_um2",
      "latency_s",
      "runtime_cycles",
      "energy_pj",
      "power_w",
      "tops_per_w",
      edpName(),
      "utilization",
      "flexibility_area_um2",
    ]),
  ].filter((name) => rows.some((row) => designs.get(name, row) !== null && designs.get(name, row) !== undefined));
  const line = (name, m, title, of) => {
    const values = of.map((row) => (row === undefined ? null : designs.get(name, row)));
    const there = values.filter((v) => v !== null && v !== undefined);
    if (!there.length) return [];
    const best = there.reduce((a, b) => (m.more_is_better ? Math.max(a, b) : Math.min(a, b)));
    return [
      {
        "data-measure": name,
        cells: [title, ...values.map((v) => element(v === best ? "b" : "span", {}, shown(name, v, m)))],
      },
    ];
  };
  const on = (row, workload) => rowOn(designs.get("design_id", row), workload);
  const numbers = isTogether()
    ? [
        ...names.filter(describesHardware).flatMap((name) => line(name, rawMetric(name), titleOf(name), rows)),
        ...line(
          goalName(),
          metric(goalName()),
          metric(goalName()).title,
          rows.map((row) => on(row, together.workload)),
        ),
        ...workloadNames().flatMap((w) =>
          names
            .filter((name) => !describesHardware(name) && (name !== "runtime_cycles" || !inSeconds().length))
            .flatMap((name) =>
              line(
                name,
                rawMetric(name),
                `${titleOf(name)}, ${workloadName(w)}`,
                rows.map((row) => on(row, w)),
              ),
            ),
        ),
      ]
    : names.flatMap((name) => line(name, rawMetric(name), titleOf(name), rows));
  const header = [{ title: "" }, ...rows.map((row) => ({ title: designName(row), number: true }))];
  return table(header, [...words, ...numbers]);
}

async function comparedStack(id, parts, title, unit, scale) {
  const names = [...new Set(parts.map((p) => p.tensor))];
  const totals = [...groupBy(parts, (p) => p.level).values()].map((of) => of.reduce((sum, p) => sum + p.value, 0));
  const axis = axisOf({ title, unit, scale, format: ".3~g" }, totals);
  const whole = (d) => parts.filter((p) => p.level === d.level).reduce((sum, p) => sum + p.value, 0);
  await draw(
    id,
    "stacked",
    {
      width: plotWidth(id, 100, 150),
      x_title: axis.title,
      x_format: axis.format,
      tensors: names,
      colours: names.map((_, i) => report.measures.colours[i % 8]),
    },
    parts.map((p) => ({ ...p, value: p.value * axis.scale, order: names.indexOf(p.tensor) })),
    {
      tip: (d) =>
        d.tensor === undefined
          ? null
          : [
              ["", d.level],
              [d.tensor, unit === "mm²" ? areaText(d.value / axis.scale) : si((d.value / axis.scale) * scale, unit)],
              ["share", percent(d.value / axis.scale / whole(d))],
            ],
    },
  );
}

async function drawCompare() {
  const rows = comparedRows();
  drawCompareControls(rows);
  const place = document.getElementById("compare-body");
  place.hidden = !rows.length;
  if (!rows.length) return;
  document.getElementById("compare-note").textContent =
    (isTogether()
      ? `Figures of all networks; charts of ${workloadName(designs.get("workload", rows[0]))}` +
        `${compare.workload ? "" : `, on which these designs differ most in ${titleOf(goalName())}`}. `
      : `On ${workloadName(designs.get("workload", rows[0]))}. `) + `Bold is the best of a line.`;
  document.getElementById("compare-figures").replaceChildren(comparedFigures(rows));
  await comparedStack(
    "chart-compare-area",
    rows.flatMap((row) =>
      areaParts(row).map(([name, value]) => ({ level: designName(row), tensor: componentName(name), value })),
    ),
    "area",
    "mm²",
    1e-6,
  );
  const known = details ? rows.filter((row) => details.has(row)) : [];
  document.getElementById("compare-layers").hidden = !known.length;
  if (!known.length) return;
  document.getElementById("compare-alone").hidden = !known.some((row) => residencyOf(row));
  const clocked = known.every((row) => designs.get("clock_hz", row));
  const timeOf = (cycles, row) => (clocked ? cycles / designs.get("clock_hz", row) : cycles);
  await comparedStack(
    "chart-compare-energy",
    known.flatMap((row) =>
      partsOf(row).levels.map(([level, value]) => ({ level: designName(row), tensor: level, value })),
    ),
    "energy",
    "J",
    1e-12,
  );
  await comparedStack(
    "chart-compare-time",
    known.flatMap((row) =>
      [...groupBy(partsOf(row).parts, (part) => part.boundBy)].map(([bound, of]) => ({
        level: designName(row),
        tensor: bound,
        value: timeOf(
          of.reduce((sum, part) => sum + part.time, 0),
          row,
        ),
      })),
    ),
    clocked ? "time" : "time (cycles)",
    clocked ? "s" : "",
    1,
  );
  await drawCompareLayers(known, timeOf, clocked);
}

/** Bars of every layer, and the mappings of one. */
async function drawCompareLayers(rows, timeOf, clocked) {
  const names = details.layersOf(rows[0]).map((l) => l.name);
  compare.layer = Math.min(compare.layer, names.length - 1);
  const again = (key) => (value) => {
    compare[key] = key === "layer" ? Number(value) : value;
    drawCompare();
  };
  document.getElementById("compare-layer-controls").replaceChildren(
    choice(
      "Layers by",
      "compare-measure",
      [
        ["time", "time"],
        ["energy", "energy"],
      ],
      compare.measure,
      again("measure"),
    ),
    choice(
      "Mappings of",
      "compare-layer",
      names.map((n, i) => [String(i), n]),
      String(compare.layer),
      again("layer"),
    ),
  );
  const value = (l, row) => (compare.measure === "time" ? timeOf(l.count * l.cycles, row) : l.count * l.energy * 1e-12);
  const bars = rows.flatMap((row) =>
    details
      .layersOf(row)
      .flatMap((l, i) =>
        l.solved ? [{ layer: `${i + 1} ${l.name}`, design: designName(row), value: value(l, row), index: i }] : [],
      ),
  );
  const unit = compare.measure === "energy" ? "J" : clocked ? "s" : "";
  const axis = axisOf(
    { title: unit || compare.measure === "energy" ? compare.measure : "time (cycles)", unit, scale: 1, format: ".3~s" },
    bars.map((b) => b.value),
  );
  const designNames = rows.map(designName);
  await draw(
    "chart-compare-layers",
    "layerbars",
    {
      width: plotWidth("chart-compare-layers", 160, 140),
      x_title: axis.title,
      x_format: axis.format,
      step: 7 * rows.length + 5,
      designs: designNames,
      colours: designNames.map((_, i) => report.measures.colours[i % 8]),
    },
    bars.map((b) => ({ ...b, value: b.value * axis.scale })),
    {
      tip: (d) =>
        d.layer === undefined
          ? null
          : [
              ["layer", d.layer],
              ["", d.design],
              [compare.measure, unit ? si(d.value / axis.scale, unit) : `${plain(d.value, 7)} cycles`],
            ],
      click: (d) => d.index !== undefined && again("layer")(d.index),
    },
  );
  const one = (row) => {
    const layer = details.layersOf(row)[compare.layer];
    return element(
      "div",
      {},
      element("h4", {}, designName(row)),
      ...(layer.solved ? [loopNest(layer), ...fillBars(layer)] : [element("p", { class: "quiet" }, layer.reason)]),
    );
  };
  document.getElementById("compare-mappings").replaceChildren(...rows.map(one));
}
