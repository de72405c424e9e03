// SPDX-License-Identifier: Apache-2.0
// All workloads together: a design's figure is how far it stays behind each network's best, as a weighted geometric
// mean or in the worst case. Such designs are further rows of the table, so every view can show them.

const together = {
  workload: "\u{E000}together", // no file can name a workload so
  how: "mean",
  weights: new Map(), // workload -> weight, 1 unless the reader says otherwise
  names: new Set(), // columns that are factors in these rows
  parts: new Map(), // further row -> its rows on the workloads
  best: new Map(), // column -> best value of each workload
};

function isTogether(row = null) {
  return row === null ? filters.workload === together.workload : together.parts.has(row);
}
function workloadName(name) {
  return name === together.workload ? "all workloads" : shortName(String(name));
}
/** The dataset's own workloads. */
function workloadNames() {
  return designs.distinct("workload").filter((name) => name !== together.workload);
}
/** A metric's title where rows are factors behind the best; less is better for all of them. */
function asFactor(m) {
  const how = together.how === "mean" ? "mean" : "worst case";
  return {
    ...m,
    factor: true,
    title: `${m.title} ÷ each network's best`,
    long: `${m.title} as a factor of each network's best, ${how} over the networks`,
    unit: "",
    scale: 1,
    format: ".3~g",
    more_is_better: false,
  };
}

/** Columns that say what a design is, not what it does on a workload. */
function describesHardware(name) {
  const words = ["design_id", "flexibility", "class", "factorization", "objective", "mapper", "label", "axes", "array"];
  return words.includes(name) || /^set_|area|^array_|^buffer_|^compute_units$|^clock_hz$|^peak_tops$/.test(name);
}

function addTogether() {
  const workloads = designs.distinct("workload");
  if (workloads.length < 2) return;
  workloads.forEach((w) => together.weights.set(w, 1));
  const rows = Array.from({ length: designs.rows }, (_, row) => row);
  const groups = [...groupBy(rows, (row) => designs.get("design_id", row)).values()].filter(
    (group) => group.length === workloads.length,
  );
  for (const m of report.measures.metrics)
    if (designs.has(m.name) && !describesHardware(m.name) && !/^[hw]_f/.test(m.name)) together.names.add(m.name);
  for (const [name, column] of designs.columns) {
    const of = describesHardware(name)
      ? (group) => column[group[0]]
      : name === "workload"
        ? () => together.workload
        : name === "status" || name === "reason"
          ? (group) => column[group.find((row) => designs.get("status", row) !== "solved") ?? group[0]]
          : name === "certified"
            ? (group) => group.every((row) => column[row])
            : name === "max_gap"
              ? (group) => group.reduce((most, row) => Math.max(most, column[row] ?? 0), 0)
              : () => null;
    designs.columns.set(name, column.concat(groups.map(of)));
  }
  groups.forEach((group, i) => together.parts.set(designs.rows + i, group));
  for (const name of together.names) {
    const better = report.measures.metrics.find((m) => m.name === name).more_is_better ? Math.max : Math.min;
    const values = groupBy(
      rows.filter((row) => designs.get(name, row) > 0),
      (row) => designs.get("workload", row),
    );
    together.best.set(
      name,
      new Map(
        [...values].map(([w, of]) => [w, of.map((row) => designs.get(name, row)).reduce((a, b) => better(a, b))]),
      ),
    );
  }
  designs.rows += groups.length;
  weighTogether();
}

/** How many times worse than the best of its workload a row is; null without a value. */
function factorOf(name, row) {
  const best = together.best.get(name).get(designs.get("workload", row)),
    value = designs.get(name, row);
  if (!(value > 0) || !(best > 0)) return null;
  return report.measures.metrics.find((m) => m.name === name).more_is_better ? best / value : value / best;
}

function meanOf(values) {
  return values.every((v) => typeof v === "number") ? values.reduce((a, b) => a + b, 0) / values.length : null;
}

/** Fills the further rows by the weights and the kind of mean. */
function weighTogether() {
  const combine = (rows, valueOf) => {
    const counted = rows.filter((row) => together.weights.get(designs.get("workload", row)) > 0);
    const values = counted.map(valueOf);
    if (!values.length || values.some((v) => !(v > 0))) return null;
    if (together.how === "worst") return values.reduce((a, b) => Math.max(a, b));
    const weights = counted.map((row) => together.weights.get(designs.get("workload", row)));
    const sum = weights.reduce((a, b) => a + b, 0);
    return Math.exp(values.reduce((total, v, i) => total + weights[i] * Math.log(v), 0) / sum);
  };
  for (const [row, parts] of together.parts) {
    for (const name of together.names) designs.columns.get(name)[row] = combine(parts, (part) => factorOf(name, part));
    for (const name of ["rel_runtime", "rel_energy", "rel_edp"])
      if (designs.has(name)) designs.columns.get(name)[row] = combine(parts, (part) => designs.get(name, part));
    for (const name of designs.columns.keys())
      if (/^[hw]_f/.test(name)) designs.columns.get(name)[row] = meanOf(parts.map((part) => designs.get(name, part)));
  }
  designs.known.clear();
}

/** The row of a design on a workload; undefined when there is none. */
function rowOn(design, workload) {
  if (!rowOn.known)
    rowOn.known = new Map(
      Array.from({ length: designs.rows }, (_, row) => [
        JSON.stringify([designs.get("design_id", row), designs.get("workload", row)]),
        row,
      ]),
    );
  return rowOn.known.get(JSON.stringify([design, workload]));
}

function drawTogetherControls(changed) {
  const place = document.getElementById("together-controls");
  place.hidden = !isTogether();
  if (place.hidden) return place.replaceChildren();
  const again = () => {
    weighTogether();
    changed();
  };
  const weight = (workload, i) =>
    element(
      "label",
      { for: `weight-${i}` },
      `${workloadName(workload)} `,
      element("input", {
        type: "number",
        id: `weight-${i}`,
        min: 0,
        step: "any",
        value: together.weights.get(workload),
        onchange: (event) => {
          const value = Number(event.target.value);
          if (!(value >= 0)) return;
          together.weights.set(workload, value);
          again();
        },
      }),
    );
  place.replaceChildren(
    choice(
      "Over the networks",
      "together-how",
      [
        ["mean", "weighted geometric mean"],
        ["worst", "worst case"],
      ],
      together.how,
      (value) => {
        together.how = value;
        again();
      },
    ),
    element(
      "fieldset",
      { class: "chips" },
      element("legend", {}, "Weights"),
      ...[...together.weights.keys()].map(weight),
    ),
  );
}

/** What a design loses on each network against that network's own best, and against the best of no larger area. */
function drawLosses() {
  const place = document.getElementById("losses");
  const workloads = workloadNames();
  place.hidden = workloads.length < 2 || chosen.row === null;
  if (place.hidden) return;
  const id = designs.get("design_id", chosen.row),
    name = frontier.y,
    plainMetric = report.measures.metrics.find((m) => m.name === name);
  const among = filtered({ workload: false });
  const rows = workloads.flatMap((workload) => {
    const row = rowOn(id, workload);
    if (row === undefined) return [];
    const own = among.filter((r) => designs.get("workload", r) === workload);
    const area = designs.get("area_um2", row);
    const value = designs.get(name, row),
      best = bestOf(own, plainMetric),
      within = bestOf(
        own.filter((r) => designs.get("area_um2", r) <= area),
        plainMetric,
      );
    const behind = (other) =>
      value === null || !other
        ? "–"
        : other.row === row
          ? "is the best"
          : `${change(other.value, value)} (design ${designs.get("design_id", other.row)})`;
    return [
      {
        cells: [
          workloadName(workload),
          ...inSeconds()
            .slice(0, 2)
            .concat("energy_pj")
            .map((n) => shown(n, designs.get(n, row), rawMetric(n))),
          shown(name, value, plainMetric),
          best ? shown(name, best.value, plainMetric) : "–",
          behind(best),
          behind(within),
        ],
      },
    ];
  });
  place.querySelector("h3").textContent = `What design ${id} loses on each network`;
  const header = [
    { title: "network" },
    ...inSeconds()
      .slice(0, 2)
      .concat("energy_pj")
      .map((n) => ({ title: rawMetric(n).title, number: true })),
    { title: plainMetric.title, number: true },
    { title: "the network's best", number: true },
    { title: "against it", number: true },
    { title: "against the best of no larger area", number: true },
  ];
  wholeTable(place.querySelector("div"), header, rows);
}
function rawMetric(name) {
  return report.measures.metrics.find((m) => m.name === name);
}
