// Numbers and elements for people. Every text from the data goes through textContent, so it stays text.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const prefixes = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];

/** 36.88 mJ, 7.051 M */
function si(value, unit = "", digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${unit}`.trim();
  const [factor, prefix] = prefixes.find(([f]) => Math.abs(value) >= f) ?? prefixes[prefixes.length - 1];
  return `${Number((value / factor).toPrecision(digits))} ${prefix}${unit}`.trim();
}

function plain(value, digits = 6) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return value.toLocaleString("en-US");
  const shown = Number(value.toPrecision(digits));
  return Math.abs(shown) >= 1e9 || Math.abs(shown) < 1e-3 && shown !== 0 ? shown.toExponential().replace("e+", "e") : String(shown);
}

function percent(value, digits = 3) {
  return value === null || value === undefined ? "–" : `${Number((100 * value).toPrecision(digits))} %`;
}

/** What can stand on an axis. `show` for people, `axis` a d3 format for values times `scale`; better = 1 when more is better. */
const metrics = [
  { name: "area_um2", title: "area", unit: "mm²", scale: 1e-6, format: ".3~g", show: (v) => `${plain(v / 1e6, 5)} mm²` },
  { name: "edp_pj_cycles", title: "EDP", unit: "pJ × cycles", scale: 1, format: ".2~e", show: (v) => `${plain(v, 5)} pJ × cycles` },
  { name: "energy_pj", title: "energy", unit: "J", scale: 1e-12, format: ".3~s", show: (v) => si(v * 1e-12, "J", 5) },
  { name: "runtime_cycles", title: "runtime", unit: "cycles", scale: 1, format: ".3~s", show: (v) => `${plain(v, 7)} cycles` },
  { name: "sum_layer_edp_pj_cycles", title: "sum of layers' EDP", unit: "pJ × cycles", scale: 1, format: ".2~e", show: (v) => `${plain(v, 5)} pJ × cycles` },
  { name: "utilization", title: "utilization", unit: "", scale: 1, format: ".2~g", better: 1, show: (v) => percent(v) },
  { name: "compute_units", title: "MAC units", unit: "", scale: 1, format: "~s", show: (v) => plain(v) },
  { name: "buffer_kib", title: "on-chip memory", unit: "KiB", scale: 1, format: ".3~s", show: (v) => `${plain(v, 5)} KiB` },
  { name: "flexibility_area_um2", title: "area of flexibility", unit: "µm²", scale: 1, format: ".3~s", show: (v) => `${plain(v, 5)} µm²` },
  { name: "w_f", title: "workload flexion W-F", unit: "", scale: 1, format: "~e", better: 1, show: (v) => plain(v, 4) },
  { name: "h_f", title: "hardware flexion H-F", unit: "", scale: 1, format: "~e", better: 1, show: (v) => plain(v, 4) },
];
function metric(name) {
  return metrics.find((m) => m.name === name);
}
function metricTitle(m) {
  return m.unit ? `${m.title} (${m.unit})` : m.title;
}

/** Rows of cells as a table; a cell is a text, a node, or {value, number: true}. */
function table(header, rows, attributes = {}) {
  const head = header.map((h) => element("th", { scope: "col", class: h.number ? "number" : "", title: h.meaning }, h.title));
  const body = rows.map(({ cells, ...rest }) =>
    element("tr", rest, ...cells.map((cell, i) => element("td", { class: header[i].number ? "number" : header[i].mono ? "mono" : "" }, cell))));
  return element("table", attributes, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

/** A labelled choice. `options`: [value, words]. */
function choice(label, id, options, value, changed) {
  const select = element("select", { id, onchange: (event) => changed(event.target.value) },
    ...options.map(([v, words]) => element("option", { value: v, selected: v === value }, words)));
  return element("label", { for: id }, `${label} `, select);
}
function toggle(label, id, value, changed) {
  return element("label", { for: id, class: "toggle" }, element("input", { type: "checkbox", id, checked: value, onchange: (event) => changed(event.target.checked) }), ` ${label}`);
}
