// SPDX-License-Identifier: Apache-2.0
// What is looked at: a workload, some classes, and one value or any of everything that varies.

const filters = { workload: null, labels: new Set(), values: new Map(), columns: null };

/** Columns that tell designs apart besides their flexibility: the array, and what the array does not decide. */
function filterColumns() {
  if (filters.columns) return filters.columns;
  const columns = designs.distinct("array").length > 1 ? ["array"] : [];
  for (const name of report.varied) {
    const seen = new Map();
    let decided = true;
    for (let row = 0; row < designs.rows && decided; row++) {
      const array = designs.get("array", row),
        value = designs.get(name, row);
      if (array === null) continue; // a design that contradicts itself
      if (!seen.has(array)) seen.set(array, value);
      decided = seen.get(array) === value;
    }
    if (!decided || !columns.length) columns.push(name);
  }
  filters.columns = columns;
  return columns;
}

/** set_Buffer_capacity_words is Buffer.capacity (words). */
function columnTitle(name) {
  const axis = (report.provenance.axes ?? []).find(([, column]) => column === name);
  if (!axis) return name;
  return name.endsWith("_words") ? `${axis[0]} (words)` : axis[0];
}

function labelOrder(a, b) {
  const axes = (label) => /(\d{4})/.exec(label)?.[1] ?? "";
  const count = (label) => [...axes(label)].filter((c) => c === "1").length;
  return count(a) - count(b) || (axes(b) < axes(a) ? -1 : axes(b) > axes(a) ? 1 : 0) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Rows that the filters leave; `workload: false` and such leave one filter out. */
function filtered({ workload = true, labels = true } = {}) {
  const rows = [];
  for (let row = 0; row < designs.rows; row++) {
    if (workload && designs.get("workload", row) !== filters.workload) continue;
    if (labels && !filters.labels.has(designs.get("label", row))) continue;
    let fits = true;
    for (const [column, value] of filters.values) fits = fits && String(designs.get(column, row)) === value;
    if (fits) rows.push(row);
  }
  return rows;
}

function drawFilters(changed) {
  const place = document.getElementById("filters");
  const workloads = designs.distinct("workload");
  filters.workload ??= workloads[0];
  const labels = designs.distinct("label").sort(labelOrder);
  if (!filters.labels.size) labels.forEach((label) => filters.labels.add(label));
  const parts = [
    choice(
      "Workload",
      "filter-workload",
      workloads.map((w) => [w, w]),
      filters.workload,
      (value) => {
        filters.workload = value;
        changed();
      },
    ),
  ];
  for (const column of filterColumns()) {
    const options = [
      ["", "any"],
      ...designs.distinct(column).map((v) => [String(v), typeof v === "number" ? plain(v) : String(v)]),
    ];
    parts.push(
      choice(columnTitle(column), `filter-${column}`, options, filters.values.get(column) ?? "", (value) => {
        if (value) filters.values.set(column, value);
        else filters.values.delete(column);
        changed();
      }),
    );
  }
  if (labels.length > 1) {
    const chips = labels.map((label) =>
      element(
        "button",
        {
          type: "button",
          class: "chip mono",
          "data-label": label,
          "aria-pressed": String(filters.labels.has(label)),
          title: flexibleAxes(label),
          onclick: (event) => {
            const on = !filters.labels.has(label);
            if (on) filters.labels.add(label);
            else filters.labels.delete(label);
            event.currentTarget.setAttribute("aria-pressed", String(on));
            changed();
          },
        },
        label,
      ),
    );
    const all = (on) => () => {
      filters.labels = new Set(on ? labels : []);
      chips.forEach((chip) => chip.setAttribute("aria-pressed", String(on)));
      changed();
    };
    parts.push(
      element(
        "fieldset",
        { class: "chips" },
        element("legend", {}, "Flexibility T O P S"),
        ...chips,
        element("button", { type: "button", id: "labels-all", onclick: all(true) }, "all"),
        element("button", { type: "button", id: "labels-none", onclick: all(false) }, "none"),
      ),
    );
  }
  place.replaceChildren(...parts);
}

/** "1011" is "tiles, parallel dims, shape". */
function flexibleAxes(label) {
  const bits = /(\d{4})/.exec(label)?.[1];
  if (!bits) return label;
  const names = ["tiles", "orders", "parallel dims", "shape"].filter((_, i) => bits[i] === "1");
  return names.length ? `flexible: ${names.join(", ")}` : "nothing flexible";
}

/** How rows are coloured: {title, of(row), domain, range, shapes}. */
function colouring(by) {
  if (by === "axes") {
    const there = designs.distinct("axes");
    return {
      title: "flexible axes",
      of: (row) => String(designs.get("axes", row)),
      domain: there.map(String),
      range: there.map((n) => report.measures.axes_colours[n]),
      shapes: there.map((n) => report.measures.shapes[n]),
    };
  }
  if (/^bit\d$/.test(by)) {
    const i = Number(by[3]);
    return {
      title: ["T tile sizes", "O loop orders", "P parallel dims", "S array shape"][i],
      domain: ["fixed", "flexible"],
      range: ["#8c8c8c", "#0072B2"],
      shapes: report.measures.shapes.slice(0, 2),
      of: (row) => (String(designs.get("class", row) ?? "")[i] === "1" ? "flexible" : "fixed"),
    };
  }
  const domain =
    by === "label"
      ? designs
          .distinct("label")
          .filter((label) => filters.labels.has(label))
          .sort(labelOrder)
      : designs.distinct(by).map(String);
  return {
    title: by === "label" ? "class" : columnTitle(by),
    of: (row) => String(designs.get(by, row)),
    domain,
    range: domain.map((_, i) => report.measures.colours[i % 8]),
    shapes: domain.map((_, i) => report.measures.shapes[i % 8]),
  };
}
function colouringChoices() {
  const options = designs.distinct("axes").length > 1 ? [["axes", "number of flexible axes"]] : [];
  const few = (column) => designs.distinct(column).length > 1 && designs.distinct(column).length <= 8;
  if (few("label")) options.unshift(["label", "class"]);
  const varies = (i) => new Set(designs.distinct("class").map((bits) => bits[i])).size > 1;
  ["T", "O", "P", "S"].forEach((axis, i) => varies(i) && options.push([`bit${i}`, `${axis} flexible or not`]));
  // Last the array: where classes are the same it labels the points already.
  for (const column of filterColumns()
    .filter((c) => c !== "array")
    .concat("array"))
    if (few(column)) options.push([column, columnTitle(column)]);
  return options.length ? options : [["axes", "number of flexible axes"]];
}
function colourValues(c) {
  return { group_title: c.title, group_domain: c.domain, group_range: c.range, group_shapes: c.shapes };
}

/** What stands beside a point: the class where classes differ, else the array. */
function pointLabel(row) {
  return String(designs.distinct("label").length > 1 ? designs.get("label", row) : (designs.get("array", row) ?? ""));
}

/** The design in a few words: class, array, and what else varies. */
function designWords(row) {
  const words = [["class", String(designs.get("label", row))]];
  if (designs.get("array", row) !== null) words.push(["array", String(designs.get("array", row))]);
  for (const column of filterColumns())
    if (column !== "array") words.push([columnTitle(column), plain(designs.get(column, row))]);
  return words;
}
/** Columns of seconds and watts; none when no design has a clock. */
function inSeconds() {
  const names = ["latency_s", "power_w", "tops_per_w", "inferences_per_s", "tokens_per_s"];
  return names.filter((name) => designs.has(name) && designs.distinct(name).length > 0);
}

function designTip(row) {
  const lines = [
    ["design", String(designs.get("design_id", row))],
    ["workload", String(designs.get("workload", row))],
    ...designWords(row),
  ];
  for (const name of ["area_um2", "energy_pj", "runtime_cycles", ...inSeconds(), "edp_pj_cycles", "utilization"]) {
    const value = designs.get(name, row);
    if (value !== null && value !== undefined) lines.push([metric(name).title, shown(name, value)]);
  }
  if (designs.get("certified", row) !== null)
    lines.push([
      "proven optimal",
      designs.get("certified", row) ? "every layer" : `gap up to ${percent(designs.get("max_gap", row))}`,
    ]);
  return lines;
}
