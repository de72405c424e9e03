// SPDX-License-Identifier: Apache-2.0
// What the array's shape, the buffers and the number of MAC units do.

const hardware = { metric: "runtime_cycles", flexionAxis: "t" };

/** The best value among rows, and the row that has it. */
function bestOf(rows, m) {
  return rows.reduce((best, row) => {
    const value = designs.get(m.name, row);
    if (value === null) return best;
    return best === null || (m.more_is_better ? value > best.value : value < best.value) ? { row, value } : best;
  }, null);
}

/** A capacity that varies, in words; else all on-chip memory. */
function bufferColumn() {
  const capacities = report.varied.filter((name) => name.endsWith("_capacity_words"));
  return capacities.length === 1
    ? { name: capacities[0], title: columnTitle(capacities[0]) }
    : { name: "buffer_kib", title: "on-chip memory (KiB)" };
}

function arrayRows(rows, m) {
  const cells = [
    ...groupBy(rows, (row) => JSON.stringify([designs.get("array_rows", row), designs.get("array_cols", row)])),
  ].flatMap(([key, group]) => {
    const best = bestOf(group, m);
    if (!best) return [];
    const [r, c] = JSON.parse(key);
    const value = best.value * m.scale;
    return [
      {
        rows: r,
        cols: c,
        value,
        row: best.row,
        text: m.name === "utilization" ? percent(best.value) : si(value, "", 3),
      },
    ];
  });
  return cells;
}

/** The best design of every class at every size: a line for each class. */
function scalingRows(rows, column, m, colour, flexion) {
  return [
    ...groupBy(
      rows.filter((row) => designs.get(column, row) > 0),
      (row) => JSON.stringify([designs.get("label", row), designs.get(column, row)]),
    ),
  ]
    .flatMap(([key, group]) => {
      const best = bestOf(group, m);
      if (!best) return [];
      const [label, x] = JSON.parse(key);
      return [
        {
          label,
          x,
          value: best.value * m.scale,
          w_f: designs.get(flexion, best.row),
          group: colour.of(best.row),
          row: best.row,
        },
      ];
    })
    .sort((a, b) => labelOrder(a.label, b.label) || a.x - b.x);
}

function drawHardwareControls() {
  const names = ["runtime_cycles", "energy_pj", "edp_pj_cycles", "utilization", "area_um2"].map((name) => [
    name,
    metric(name).title,
  ]);
  const set = (key) => (value) => {
    hardware[key] = value;
    drawHardware();
  };
  document.getElementById("hardware-controls").replaceChildren(
    choice("Measure", "hardware-metric", names, hardware.metric, set("metric")),
    choice(
      "Workload flexion of",
      "hardware-axis",
      [
        ["t", "T tiles"],
        ["o", "O orders"],
        ["p", "P parallel dims"],
        ["s", "S shape"],
      ],
      hardware.flexionAxis,
      set("flexionAxis"),
    ),
  );
}

async function drawHardware() {
  const m = metric(hardware.metric);
  const rows = filtered();
  const note = document.getElementById("hardware-note");
  note.textContent =
    `On ${shortName(filters.workload)}, the best of the designs that the filters leave: ` +
    "choose classes, an array or a buffer above to narrow them.";
  const cells = arrayRows(rows, m);
  const blues = report.measures.blues;
  const log = !m.more_is_better && cells.every((c) => c.value > 0);
  const many = cells.length > 120;
  document.getElementById("array-title").textContent = `Best ${m.title} of every array`;
  const tallest = new Set(cells.map((c) => c.rows)).size,
    widest = new Set(cells.map((c) => c.cols)).size;
  document.getElementById("chart-array").closest("figure").hidden = cells.length === 1;
  if (cells.length !== 1)
    await draw(
      "chart-array",
      "array",
      {
        width: Math.max(160, Math.min(widthOf("chart-array") - 170, 150 * widest)),
        height: Math.min(420, Math.max(130, 62 * tallest)),
        value_title: metricTitle(m),
        scale: {
          ...tightScale(log),
          padding: undefined,
          range: m.more_is_better ? [...blues].reverse() : blues,
          interpolate: "lab",
        },
        format: m.format,
      },
      markDark(cells, !m.more_is_better, log).map((c) => (many ? { ...c, text: "" } : c)),
      {
        tip: (d) => (d.row === undefined ? null : designTip(d.row)),
        click: (d) => d.row !== undefined && choose(d.row),
      },
    );

  const colour = colouring(filters.labels.size <= 8 ? "label" : "axes");
  const flexion = `w_f_${hardware.flexionAxis}`;
  const lines = async (chart, title, column, words) => {
    const points = scalingRows(rows, column, m, colour, flexion);
    const sizes = new Set(points.map((p) => p.x)).size;
    document.getElementById(title).textContent =
      `${m.title[0].toUpperCase()}${m.title.slice(1)} and workload flexion against ${words}`;
    document.getElementById(chart).closest("figure").hidden = sizes < 2;
    if (sizes < 2) return;
    const values = points.map((p) => p.value);
    const wideRange = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 20;
    await draw(
      chart,
      "scaling",
      {
        width: Math.max(200, widthOf(chart) - 190),
        x_title: words,
        y_title: metricTitle(m),
        axis: hardware.flexionAxis.toUpperCase(),
        y_scale: wideRange ? { type: "log", nice: true } : { type: "linear", zero: true, nice: true },
        y_format: m.format,
        ...colourValues(colour),
      },
      points,
      {
        tip: (d) =>
          d.row === undefined
            ? null
            : [...designTip(d.row), [`W-F of ${hardware.flexionAxis.toUpperCase()}`, plain(d.w_f, 4)]],
        click: (d) => d.row !== undefined && choose(d.row),
      },
    );
  };
  const buffer = bufferColumn();
  await lines("chart-buffer", "buffer-title", buffer.name, buffer.title);
  await lines("chart-units", "units-title", "compute_units", "MAC units");
}
