// SPDX-License-Identifier: Apache-2.0
// What the array's shape, the buffers and the number of MAC units do.

const hardware = { metric: null, flexionAxis: "t", against: null, others: "best" };

/** The best value among rows, and the row that has it. */
function bestOf(rows, m) {
  return rows.reduce((best, row) => {
    const value = designs.get(m.name, row);
    if (value === null) return best;
    return best === null || (m.more_is_better ? value > best.value : value < best.value) ? { row, value } : best;
  }, null);
}

/** Numbers that vary in the sweep, capacities first: what a line can be drawn against. */
function sizeColumns() {
  const numbers = report.varied.filter((name) => designs.distinct(name).every((v) => typeof v === "number"));
  const isSize = (name) => name.endsWith("_words") || inBytes(name);
  return [...numbers.filter(isSize), ...numbers.filter((name) => !isSize(name))];
}
/** In KiB where the column is in bytes. */
function sizeAxis(name) {
  return inBytes(name)
    ? { scale: 1 / 1024, title: `${columnTitle(name)} (KiB)` }
    : { scale: 1, title: columnTitle(name) };
}

/** Rows that are like the chosen design in everything that varies, but for `column`. */
function likeChosen(rows, column) {
  const others = report.varied.filter((name) => name !== column);
  return rows.filter((row) => others.every((name) => designs.get(name, row) === designs.get(name, chosen.row)));
}

/** A measure at the head of a title. */
function inWords(m) {
  const title = titleOf(m.name);
  const words = `${title[0].toUpperCase()}${title.slice(1)}`;
  return m.factor ? `${words} as a factor of each network's best` : words;
}

function arrayRows(rows, m, scale) {
  const cells = [
    ...groupBy(rows, (row) => JSON.stringify([designs.get("array_rows", row), designs.get("array_cols", row)])),
  ].flatMap(([key, group]) => {
    const best = bestOf(group, m);
    if (!best) return [];
    const [r, c] = JSON.parse(key);
    const value = best.value * scale;
    return [
      {
        rows: r,
        cols: c,
        value,
        row: best.row,
        text:
          m.name === "utilization" && !m.factor
            ? percent(best.value)
            : Number(value.toPrecision(3)) < 10000
              ? plain(value, 3)
              : si(value, "", 3),
      },
    ];
  });
  return cells;
}

/** The best design of every group at every size: a line for each group. */
function scalingRows(rows, column, m, colour, flexion) {
  return [
    ...groupBy(
      rows.filter((row) => designs.get(column, row) > 0),
      (row) => JSON.stringify([colour.of(row), designs.get(column, row)]),
    ),
  ]
    .flatMap(([key, of]) => {
      const best = bestOf(of, m);
      if (!best) return [];
      const [group, x] = JSON.parse(key);
      return [
        {
          group,
          x,
          value: best.value * m.scale,
          w_f: designs.get(flexion, best.row),
          row: best.row,
        },
      ];
    })
    .sort((a, b) => colour.domain.indexOf(a.group) - colour.domain.indexOf(b.group) || a.x - b.x);
}

function drawHardwareControls() {
  const clocked = designs.distinct("latency_s").length > 0;
  const times = clocked ? ["latency_s", "power_w", "tops_per_w"] : ["runtime_cycles"];
  const names = [...times, "energy_pj", edpName(), "utilization", "area_um2"].map((name) => [name, titleOf(name)]);
  hardware.metric ??= names.some(([name]) => name === goalName()) ? goalName() : names[0][0];
  const sizes = sizeColumns();
  hardware.against ??= sizes[0] ?? null;
  const set = (key) => (value) => {
    hardware[key] = value;
    drawHardware();
  };
  document.getElementById("hardware-controls").replaceChildren(
    choice("Measure", "hardware-metric", names, hardware.metric, set("metric")),
    ...(sizes.length
      ? [
          choice(
            "against",
            "hardware-against",
            sizes.map((n) => [n, columnTitle(n)]),
            hardware.against,
            set("against"),
          ),
        ]
      : []),
    choice(
      "other axes",
      "hardware-others",
      [
        ["best", "the best for each"],
        ["fixed", "as in the chosen design"],
      ],
      hardware.others,
      set("others"),
    ),
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
    `On ${workloadName(filters.workload)}, the best of the designs that the filters leave: ` +
    "choose classes, an array or a buffer above to narrow them.";
  const axis = axisOf(
    m,
    rows.map((row) => designs.get(m.name, row)).filter((v) => v !== null),
  );
  const cells = arrayRows(rows, m, axis.scale);
  const blues = report.measures.blues;
  const log = !m.more_is_better && cells.every((c) => c.value > 0);
  const many = cells.length > 120;
  document.getElementById("array-title").textContent = `${inWords(m)} of every array, the best there is`;
  const tallest = new Set(cells.map((c) => c.rows)).size,
    widest = new Set(cells.map((c) => c.cols)).size;
  document.getElementById("chart-array").closest("figure").hidden = cells.length === 1;
  if (cells.length !== 1)
    await draw(
      "chart-array",
      "array",
      {
        width: Math.min(plotWidth("chart-array", 60, 110), 150 * widest),
        height: Math.min(420, Math.max(130, 62 * tallest)),
        value_title: axis.title,
        scale: {
          ...tightScale(log),
          padding: undefined,
          range: m.more_is_better ? [...blues].reverse() : blues,
          interpolate: "lab",
        },
        format: axis.format,
      },
      markDark(cells, !m.more_is_better, log).map((c) => (many ? { ...c, text: "" } : c)),
      {
        tip: (d) => (d.row === undefined ? null : designTip(d.row)),
        click: (d) => d.row !== undefined && choose(d.row),
      },
    );

  const sizes = hardware.against;
  await drawScaling("chart-buffer", "buffer-title", sizes ?? "buffer_kib", sizes ? sizeAxis(sizes) : null, m, rows);
  await drawScaling("chart-units", "units-title", "compute_units", { scale: 1, title: "MAC units" }, m, rows);
}

/** Lines against a size. The first group's line is the broadest, so that equal lines show as stripes. */
async function drawScaling(chart, title, column, x, m, all) {
  const figure = document.getElementById(chart).closest("figure");
  figure.hidden = x === null;
  if (x === null) return;
  const colour = colouring(filters.labels.size <= 8 ? "label" : "axes");
  const fixed = hardware.others === "fixed" && chosen.row !== null && column !== "compute_units";
  const rows = fixed ? likeChosen(all, column) : all;
  const found = scalingRows(rows, column, m, colour, `w_f_${hardware.flexionAxis}`);
  const sizes = new Set(found.map((p) => p.x)).size;
  document.getElementById(title).textContent =
    `${inWords(m)} and workload flexion against ${x.title}, ` +
    (fixed ? "all else as in the chosen design" : "the best of what else varies");
  figure.hidden = sizes < 2;
  if (sizes < 2) return;
  const axis = axisOf(
    m,
    found.map((p) => p.value / m.scale),
  );
  const broad = (group) => 2 + 2 * (colour.domain.length - 1 - colour.domain.indexOf(group));
  const points = found.map((p) => ({
    ...p,
    x: p.x * x.scale,
    value: (p.value / m.scale) * axis.scale,
    broad: broad(p.group),
  }));
  const values = points.map((p) => p.value);
  const wideRange = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 20;
  await draw(
    chart,
    "scaling",
    {
      width: plotWidth(chart, 70, 120, 140),
      x_title: x.title,
      x_values: [...new Set(points.map((p) => p.x))],
      y_title: axis.title,
      axis: hardware.flexionAxis.toUpperCase(),
      y_scale: wideRange ? { type: "log", nice: true } : { type: "linear", zero: true, nice: true },
      y_format: axis.format,
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
}
