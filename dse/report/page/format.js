// SPDX-License-Identifier: Apache-2.0
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

const prefixes = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
  [1e-12, "p"],
];

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
  return Math.abs(shown) >= 1e9 || (Math.abs(shown) < 1e-3 && shown !== 0)
    ? shown.toExponential().replace("e+", "e")
    : String(shown);
}

function percent(value, digits = 3) {
  return value === null || value === undefined ? "–" : `${Number((100 * value).toPrecision(digits))} %`;
}

/** What can stand on an axis: charts/measures.json. */
function metric(name) {
  return report.measures.metrics.find((m) => m.name === name);
}
/** A value of a metric for people, with its unit. */
function shown(name, value) {
  if (value === null || value === undefined) return "–";
  const m = metric(name);
  if (m.unit === "J") return si(value * m.scale, "J", 5);
  if (name === "utilization") return percent(value, 4);
  return `${plain(value * m.scale, name === "runtime_cycles" ? 7 : 5)} ${m.unit}`.trim();
}
function metricTitle(m) {
  return m.unit ? `${m.title} (${m.unit})` : m.title;
}

/** Names may be of any length; headings are not. */
function shortName(text, most = 48) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Rows of cells as a table; a cell is a text, a node, or {value, number: true}. */
function table(header, rows, attributes = {}) {
  const head = header.map((h) =>
    element("th", { scope: "col", class: h.number ? "number" : "", title: h.meaning }, h.title),
  );
  const body = rows.map(({ cells, ...rest }) =>
    element(
      "tr",
      rest,
      ...cells.map((cell, i) =>
        element("td", { class: header[i].number ? "number" : header[i].mono ? "mono" : "" }, cell),
      ),
    ),
  );
  return element("table", attributes, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

/** A labelled choice. `options`: [value, words]. */
function choice(label, id, options, value, changed) {
  const select = element(
    "select",
    { id, onchange: (event) => changed(event.target.value) },
    ...options.map(([v, words]) => element("option", { value: v, selected: v === value }, words)),
  );
  return element("label", { for: id }, `${label} `, select);
}
function toggle(label, id, value, changed) {
  return element(
    "label",
    { for: id, class: "toggle" },
    element("input", { type: "checkbox", id, checked: value, onchange: (event) => changed(event.target.checked) }),
    ` ${label}`,
  );
}
