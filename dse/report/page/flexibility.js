// SPDX-License-Identifier: Apache-2.0
// What flexibility buys and costs, against the inflexible design that is equal in everything else.

const flexibility = { metric: null, flexion: "w_f" };
const relatives = [
  ["rel_runtime", "runtime"],
  ["rel_energy", "energy"],
  ["rel_edp", "EDP"],
];
const flexionChoices = [
  ["w_f", "W-F, all axes"],
  ["w_f_t", "W-F of T"],
  ["w_f_o", "W-F of O"],
  ["w_f_p", "W-F of P"],
  ["w_f_s", "W-F of S"],
  ["h_f", "H-F, all axes"],
  ["h_f_t", "H-F of T"],
  ["h_f_o", "H-F of O"],
  ["h_f_p", "H-F of P"],
  ["h_f_s", "H-F of S"],
];

/** "1010 tiles, dims": room for a few letters only. */
function shortClass(label) {
  const bits = /(\d{4})/.exec(label)?.[1];
  if (!bits || isNarrow()) return label;
  const names = ["tiles", "orders", "dims", "shape"].filter((_, i) => bits[i] === "1");
  return `${label} ${names.length === 0 ? "nothing free" : names.length === 4 ? "all free" : names.join(", ")}`;
}

/** Geometric means of a relative column over the rows of a label and workload: [{label, workload, value}]. */
function meansByClass(rows, column) {
  const known = rows.filter((row) => designs.get(column, row) > 0);
  const groups = groupBy(known, (row) => JSON.stringify([designs.get("label", row), designs.get("workload", row)]));
  const workloads = workloadNames();
  return [...groups]
    .map(([key, group]) => {
      const [label, workload] = JSON.parse(key);
      return {
        label,
        words: shortClass(label),
        workload,
        value: geometricMean(group.map((row) => designs.get(column, row))),
      };
    })
    .sort((a, b) => labelOrder(a.label, b.label) || workloads.indexOf(a.workload) - workloads.indexOf(b.workload));
}

/** Dark enough for white text: the lower half of the scale. */
function markDark(rows, isLow = true, log = true) {
  const scale = (v) => (log ? Math.log(v) : v);
  const values = rows.map((r) => scale(r.value));
  const middle = (Math.min(...values) + Math.max(...values)) / 2;
  return rows.map((r) => ({
    ...r,
    dark: Math.max(...values) > Math.min(...values) && (isLow ? scale(r.value) < middle : scale(r.value) > middle),
  }));
}

/** Bars by workload and axis; `wide` pixels decide whether there is room for their values. */
function isolationRows(means, wide) {
  const names = {
    1000: "T tiles",
    "0100": "O orders",
    "0010": "P parallel dims",
    "0001": "S shape",
    1111: "all four",
  };
  const axesInOrder = ["1000", "0100", "0010", "0001", "1111"];
  const rows = means
    .flatMap(({ label, workload, value }) => {
      const bits = /(\d{4})/.exec(label)?.[1];
      if (!(bits in names)) return [];
      const partial = label.startsWith("Part");
      return [
        {
          workload,
          axis: names[bits],
          bar: `${axesInOrder.indexOf(bits)} ${partial ? 0 : 1} ${label}`,
          value,
          partial,
          label,
        },
      ];
    })
    .sort((a, b) => (a.bar < b.bar ? -1 : a.bar > b.bar ? 1 : 0));
  const bars = new Set(rows.map((r) => r.bar)).size * new Set(rows.map((r) => r.workload)).size;
  return rows.map((r) => ({ ...r, text: wide / bars > 32 ? r.value.toFixed(2) : "" }));
}

function overheadRows(rows, means) {
  const gains = groupBy(means, (m) => m.label);
  return [...gains]
    .map(([label, group]) => {
      const areas = rows
        .filter((row) => designs.get("label", row) === label && designs.get("rel_area", row) > 0)
        .map((row) => designs.get("rel_area", row));
      return {
        label,
        words: shortClass(label),
        gain: 1 / geometricMean(group.map((m) => m.value)),
        area_percent: areas.length ? 100 * (geometricMean(areas) - 1) : 0,
      };
    })
    .filter(({ label }) => label !== "0000")
    .sort((a, b) => labelOrder(a.label, b.label));
}

/** Bars begin at 0 and leave room for their numbers. */
function barEnds(rows, half) {
  const end = (key) => Math.max(...rows.map((r) => r[key]), 0) * (1 + 44 / half) || 1;
  return {
    area_start: Math.min(...rows.map((r) => r.area_percent), 0),
    area_end: end("area_percent"),
    gain_end: end("gain"),
  };
}

function drawFlexibilityControls() {
  const relativeTo = { energy_pj: "rel_energy", runtime_cycles: "rel_runtime", latency_s: "rel_runtime" };
  flexibility.metric ??= relativeTo[goalName()] ?? "rel_edp";
  const set = (key) => (value) => {
    flexibility[key] = value;
    drawFlexibility();
  };
  document.getElementById("flexibility-controls").replaceChildren(
    choice("Measure", "flexibility-metric", relatives, flexibility.metric, set("metric")),
    choice(
      "Flexion",
      "flexibility-flexion",
      flexionChoices.filter(([name]) => designs.distinct(name).length),
      flexibility.flexion,
      set("flexion"),
    ),
  );
}

async function drawFlexibility() {
  const word = relatives.find(([name]) => name === flexibility.metric)[1];
  const rows = filtered({ workload: false });
  const means = meansByClass(rows, flexibility.metric);
  const note = document.getElementById("flexibility-note");
  const charts = document.getElementById("flexibility-charts");
  charts.hidden = !means.length;
  if (!means.length) {
    note.textContent =
      "This needs the inflexible design (class 0000) beside the others: " +
      '`flexibility: all-16` in the sweep\'s file, or a list with "0000".';
    return;
  }
  const compared = rows.filter((row) => designs.get(flexibility.metric, row) > 0);
  const hardware = new Set(compared.map((row) => JSON.stringify(report.varied.map((c) => designs.get(c, row))))).size;
  note.textContent =
    `Every design is divided by the inflexible one (class 0000) that is equal in everything else; below 1 is better. ` +
    (hardware > 1
      ? `Geometric means over ${hardware} pieces of hardware; choose an array and a buffer above to look at one.`
      : "");
  const objectives = new Set(compared.map((row) => designs.get("objective", row)));
  const goal = { rel_runtime: "runtime", rel_energy: "energy", rel_edp: "edp" }[flexibility.metric];
  if (!objectives.has(goal) || objectives.size > 1)
    note.textContent += ` Mappings were chosen for ${[...objectives].join(", ")}, so ${word} alone may also rise.`;
  const workloads = new Set(means.map((m) => m.workload)).size;
  const angle = workloads > 4 || (isNarrow() && workloads > 1) ? -40 : 0;
  document.getElementById("classes-title").textContent =
    `${word[0].toUpperCase()}${word.slice(1)} of every class on every workload, inflexible = 1`;
  const wide = widthOf("chart-classes");
  await draw(
    "chart-classes",
    "classes",
    {
      width: Math.max(90, Math.min(wide - (isNarrow() ? 80 : 270), 130 * workloads)),
      x_angle: angle,
      y_title: "class T O P S",
      value_title: ["relative", word],
      format: ".2f",
    },
    markDark(means),
    {
      tip: (d) =>
        d.label === undefined
          ? null
          : [
              ["class", classWords(d.label)],
              ["workload", d.workload],
              [`relative ${word}`, plain(d.value, 4)],
            ],
    },
  );
  const half = Math.max(56, (widthOf("chart-overhead") - (isNarrow() ? 76 : 210)) / 2),
    overhead = overheadRows(rows, means);
  await draw(
    "chart-overhead",
    "overhead",
    { half, gain_title: `${word} divided by (×)`, ...barEnds(overhead, half) },
    overhead,
    {
      tip: (d) =>
        d.label === undefined
          ? null
          : [
              ["class", classWords(d.label)],
              ["area added", `${plain(d.area_percent, 4)} %`],
              ["gain", `${plain(d.gain, 4)} ×`],
            ],
    },
  );
  const isolationWide = plotWidth("chart-isolation", 60, 130, 200),
    isolation = isolationRows(means, isolationWide);
  document.getElementById("isolation-caption").textContent = isolation.some((r) => r.partial)
    ? "Paler bars: partial flexibility."
    : "";
  await draw(
    "chart-isolation",
    "isolation",
    { width: isolationWide, x_angle: angle, y_title: `${word}, inflexible = 1` },
    isolation,
    {
      tip: (d) =>
        d.axis === undefined
          ? null
          : [
              ["flexible", d.axis],
              ["class", d.label],
              ["workload", d.workload],
              [`relative ${word}`, plain(d.value, 4)],
            ],
    },
  );

  const flexionName = flexionChoices.find(([name]) => name === flexibility.flexion)[1];
  document.getElementById("flexion-title").textContent = `Flexion against ${word} on ${workloadName(filters.workload)}`;
  const colour = colouring("axes");
  const points = filtered()
    .filter((row) => designs.get(flexibility.flexion, row) > 0 && designs.get(flexibility.metric, row) > 0)
    .map((row) => ({
      row,
      x: designs.get(flexibility.flexion, row),
      y: designs.get(flexibility.metric, row),
      group: colour.of(row),
    }));
  await draw(
    "chart-flexion",
    "flexion",
    {
      width: plotWidth("chart-flexion", 60, 130, 200),
      x_title: flexionName,
      y_title: `${word}, inflexible = 1`,
      ...colourValues(colour),
    },
    thinned(points),
    {
      tip: (d) =>
        d.row === undefined
          ? null
          : [...designTip(d.row), [flexionName, plain(d.x, 4)], [`relative ${word}`, plain(d.y, 4)]],
      click: (d) => d.row !== undefined && choose(d.row),
    },
  );
}
