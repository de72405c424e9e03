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

/** 2 MiB, 1.5 KiB, 96 B */
function bytes(value) {
  for (const [factor, unit] of [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ])
    if (value >= factor) return `${Number((value / factor).toPrecision(4))} ${unit}`;
  return `${plain(value)} B`;
}

/** What can stand on an axis: charts/measures.json. Over all workloads together, results are factors. */
function metric(name) {
  const found = report.measures.metrics.find((m) => m.name === name);
  return isTogether() && together.names.has(name) ? asFactor(found) : found;
}
const takesPrefix = (unit) => ["J", "s", "W", "J × s", "J × cycles"].includes(unit);

/** A value of a metric for people, with its unit. */
function shown(name, value, m = metric(name)) {
  if (value === null || value === undefined) return "–";
  if (m.factor) return `${plain(value, 4)} × best`;
  if (takesPrefix(m.unit)) return si(value * m.scale, m.unit, 4);
  if (name === "utilization") return percent(value, 4);
  if (m.unit === "KiB") return bytes(value * 1024);
  if (m.unit === "mm²") return areaText(value * m.scale * 1e6, 4);
  return `${plain(value * m.scale, name === "runtime_cycles" ? 7 : 4)} ${m.unit}`.trim();
}
function metricTitle(m) {
  return m.unit ? `${m.title} (${m.unit})` : m.title;
}

/** How a metric stands on an axis that shows these values: ms rather than 0.001 s. */
function axisOf(m, values) {
  const top = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0) * m.scale;
  if (!takesPrefix(m.unit) || !(top > 0)) return { title: metricTitle(m), scale: m.scale, format: m.format };
  const [factor, prefix] = prefixes.find(([f]) => top >= f) ?? prefixes[prefixes.length - 1];
  return { title: `${m.title} (${prefix}${m.unit})`, scale: m.scale / factor, format: ".3~g" };
}

/** "+12 %", "-31 %", "3.2 times": from one value to another. */
function change(from, to) {
  const ratio = to / from;
  if (!Number.isFinite(ratio)) return "–";
  if (ratio >= 2.5) return `${plain(ratio, 2)} times`;
  const percents = 100 * (ratio - 1);
  const digits = Math.abs(percents) < 10 ? 1 : 0;
  if (Number(Math.abs(percents).toFixed(digits)) === 0) return "the same";
  return `${percents > 0 ? "+" : "−"}${Math.abs(percents).toFixed(digits)} %`;
}

/** "a, b and c" */
function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
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
        element(
          "td",
          { class: header[i].number ? "number" : header[i].mono ? "mono" : "", "data-title": header[i].title || null },
          cell,
        ),
      ),
    ),
  );
  return element("table", attributes, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

/** A longer table begins with so many rows and a button for the rest; on a phone a row is a card. */
const mostRows = () => (isNarrow() ? 6 : 40);

/** A table that shows all of its rows, or says how many more there are. */
function wholeTable(place, header, rows) {
  const all = (most) => {
    const left = rows.length - most;
    place.replaceChildren(table(header, rows.slice(0, most)));
    if (left > 0)
      place.append(
        element(
          "button",
          { type: "button", class: "link rest", onclick: () => all(rows.length) },
          `Show the other ${plain(left)} of ${plain(rows.length)} rows`,
        ),
      );
  };
  all(mostRows());
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
