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

/** Sizes in bytes, where the sweep's file gives them a unit. */
function inBytes(name) {
  return (report.provenance.axes ?? []).some(([, column, unit]) => column === name && unit === "B");
}
/** A value of such a column for people: 2 MiB rather than 2097152. */
function columnValue(name, value) {
  if (typeof value !== "number") return String(value);
  if (inBytes(name)) return bytes(value);
  if (name.endsWith("_words") && value >= 1024 && value % 1024 === 0) return `${plain(value / 1024)} Ki`;
  return plain(value);
}

/** Rows that the filters leave; `workload: false` takes those of every workload, `labels: false` of every class. */
function filtered({ workload = true, labels = true } = {}) {
  const rows = [];
  for (let row = 0; row < designs.rows; row++) {
    if (workload ? designs.get("workload", row) !== filters.workload : isTogether(row)) continue;
    if (labels && !filters.labels.has(designs.get("label", row))) continue;
    let fits = true;
    for (const [column, value] of filters.values) fits = fits && String(designs.get(column, row)) === value;
    if (fits) rows.push(row);
  }
  return rows;
}

function drawFilters(changed) {
  const place = document.getElementById("filters");
  const workloads = workloadNames();
  const options = workloads.map((w) => [w, w]);
  if (together.parts.size) options.unshift([together.workload, `all ${workloads.length} together`]);
  filters.workload ??= options[0][0];
  const labels = designs.distinct("label").sort(labelOrder);
  if (!filters.labels.size) labels.forEach((label) => filters.labels.add(label));
  const parts = [
    choice("Workload", "filter-workload", options, filters.workload, (value) => {
      filters.workload = value;
      changed();
    }),
  ];
  for (const column of filterColumns()) {
    const values = [["", "any"], ...designs.distinct(column).map((v) => [String(v), columnValue(column, v)])];
    parts.push(
      choice(columnTitle(column), `filter-${column}`, values, filters.values.get(column) ?? "", (value) => {
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
          title: freeAxes(label),
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
        element("legend", {}, "Free: T tiles, O orders, P parallel dims, S shape"),
        ...chips,
        element("button", { type: "button", id: "labels-all", onclick: all(true) }, "all"),
        element("button", { type: "button", id: "labels-none", onclick: all(false) }, "none"),
      ),
    );
  }
  place.replaceChildren(...parts);
}

const axisWords = ["tiles", "orders", "parallel dims", "shape"];

/** "1011" is "tiles, parallel dims and shape free". */
function freeAxes(label) {
  const bits = /(\d{4})/.exec(label)?.[1];
  if (!bits) return "";
  const names = axisWords.filter((_, i) => bits[i] === "1");
  if (names.length === 4 && label.includes("+F")) return "everything free, tiles between layers too";
  if (label.includes("+F")) names.push("tiles between layers");
  if (!names.length) return "nothing free";
  return `${names.length === 4 ? "everything" : listed(names)} ${label.startsWith("Part") ? "partly free" : "free"}`;
}
/** "1010: tiles and parallel dims free" */
function classWords(label) {
  return freeAxes(label) ? `${label}: ${freeAxes(label)}` : label;
}

/** How rows are coloured: {title, of(row), domain, range, shapes}. */
function colouring(by) {
  if (by === "axes") {
    const there = designs.distinct("axes");
    return {
      title: "free axes",
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
      domain: ["fixed", "free"],
      range: ["#8c8c8c", "#0072B2"],
      shapes: report.measures.shapes.slice(0, 2),
      of: (row) => (String(designs.get("class", row) ?? "")[i] === "1" ? "free" : "fixed"),
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
  const options = designs.distinct("axes").length > 1 ? [["axes", "number of free axes"]] : [];
  const few = (column) => designs.distinct(column).length > 1 && designs.distinct(column).length <= 8;
  if (few("label")) options.unshift(["label", "class"]);
  const varies = (i) => new Set(designs.distinct("class").map((bits) => bits[i])).size > 1;
  ["T", "O", "P", "S"].forEach((axis, i) => varies(i) && options.push([`bit${i}`, `${axis} free or not`]));
  // Last the array: where classes are the same it labels the points already.
  for (const column of filterColumns()
    .filter((c) => c !== "array")
    .concat("array"))
    if (few(column)) options.push([column, columnTitle(column)]);
  return options.length ? options : [["axes", "number of free axes"]];
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
  const words = [["class", classWords(String(designs.get("label", row)))]];
  if (designs.get("array", row) !== null) words.push(["array", String(designs.get("array", row))]);
  for (const column of filterColumns())
    if (column !== "array") words.push([columnTitle(column), columnValue(column, designs.get(column, row))]);
  return words;
}
/** Columns of seconds and watts; none when no design has a clock. */
function inSeconds() {
  const names = ["latency_s", "power_w", "tops_per_w", "inferences_per_s", "tokens_per_s"];
  return names.filter((name) => designs.has(name) && designs.distinct(name).length > 0);
}

/** What is told of a design: seconds and watts where there is a clock, else cycles. */
function figures() {
  const inTime = inSeconds();
  const times = inTime.length ? inTime : ["runtime_cycles"];
  const utilization = isTogether() ? [] : ["utilization"];
  return ["area_um2", ...(isTogether() ? times.slice(0, 1) : times), "energy_pj", edpName(), ...utilization];
}
/** As the commands write it; in seconds only where designs have different clocks, since cycles would mislead there. */
function edpName() {
  return designs.distinct("clock_hz").length > 1 && designs.distinct("edp_js").length > 0 ? "edp_js" : "edp_pj_cycles";
}

function designTip(row) {
  const workload = designs.get("workload", row);
  const lines = [
    ["design", String(designs.get("design_id", row))],
    ["workload", isTogether(row) ? workloadName(workload) : String(workload)],
    ...designWords(row),
  ];
  for (const name of figures()) {
    const value = designs.get(name, row);
    const m = isTogether(row) && together.names.has(name) ? asFactor(rawMetric(name)) : rawMetric(name);
    if (value !== null && value !== undefined) lines.push([m.title, shown(name, value, m)]);
  }
  if (designs.get("certified", row) !== null)
    lines.push([
      "proven optimal",
      !designs.get("certified", row)
        ? `gap up to ${percent(designs.get("max_gap", row))}`
        : designs.get("mapped_as", row) === "network"
          ? "the network"
          : "every layer",
    ]);
  return lines;
}
