// SPDX-License-Identifier: Apache-2.0
// Draws a shipped specification with the points it is given.

const drawn = new Map(); // id -> {finalize, rows}

/** `{{key}}` in the specification's texts becomes the value; as shipped_spec() in chart.cpp. */
function fillIn(node, values) {
  if (typeof node === "string") {
    if (node.startsWith("#")) return onThisPage(node);
    const whole = /^\{\{(\w+)\}\}$/.exec(node);
    if (whole && whole[1] in values)
      return typeof values[whole[1]] === "string" ? values[whole[1]] : fillIn(values[whole[1]], {});
    return node.replace(/\{\{(\w+)\}\}/g, (mark, key) => (key in values ? values[key] : mark));
  }
  if (Array.isArray(node)) return node.map((child) => fillIn(child, values));
  if (node && typeof node === "object")
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, fillIn(child, values)]));
  return node;
}

function widthOf(id) {
  return document.getElementById(id).clientWidth;
}

/** On a phone legends stand below the charts. */
const isNarrow = () => document.documentElement.clientWidth <= 560;
/** Room for the points of a chart: what labels (`beside`) and a legend leave. */
function plotWidth(id, beside, legend, least = 120) {
  return Math.max(least, widthOf(id) - beside - (isNarrow() ? 12 : legend));
}

/**
 * `tip(datum)` gives lines [what, value] of what the pointer is on; `click(datum)` is called when it is pressed there.
 * A second call while the first is still drawing wins.
 */
async function draw(id, name, values, rows, { tip, click, description } = {}) {
  const place = document.getElementById(id);
  const { ink, paper, accent } = palette();
  const ticket = Symbol(id);
  drawn.get(id)?.finalize?.();
  drawn.set(id, { ticket, rows });
  if (!rows.length) {
    place.replaceChildren(element("p", { class: "empty" }, "No design with these filters has such a value."));
    return;
  }
  const spec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description: description ?? place.closest("figure").querySelector("h3")?.textContent ?? name,
    ...fillIn(report.specs[name], { ink, paper, accent, legend_side: isNarrow() ? "bottom" : "right", ...values }),
    autosize: { type: "pad", contains: "padding" },
    data: { values: rows },
  };
  const holder = element("div", {});
  const result = await window.vegaEmbed(holder, spec, {
    ast: true,
    actions: false,
    renderer: rows.length > 1500 ? "canvas" : "svg",
    config: chartConfig(),
    tooltip: () => {},
    logLevel: 1,
  });
  if (drawn.get(id).ticket !== ticket) return result.finalize();
  place.replaceChildren(holder);
  drawn.set(id, { ticket, rows, finalize: () => result.finalize(), view: result.view });
  place.dataset.points = rows.length;
  offerFiles(place, name, spec, rows, result.view);
  if (tip) {
    result.view.addEventListener("pointermove", (event, item) => showTip(event, item?.datum ? tip(item.datum) : null));
    result.view.addEventListener("pointerout", () => showTip(null, null));
  }
  if (click) {
    result.view.addEventListener("click", (event, item) => item?.datum && click(item.datum));
  }
}

function showTip(event, lines) {
  const box = document.getElementById("tip");
  box.hidden = !lines;
  if (!lines) return;
  box.replaceChildren(
    ...lines.map(([what, value]) => element("div", {}, element("span", {}, what), element("b", {}, value))),
  );
  const right = event.clientX + 18 + box.offsetWidth > window.innerWidth;
  const below = event.clientY + 18 + box.offsetHeight > window.innerHeight;
  box.style.left = `${Math.max(4, right ? event.clientX - box.offsetWidth - 14 : event.clientX + 18)}px`;
  box.style.top = `${Math.max(4, below ? event.clientY - box.offsetHeight - 14 : event.clientY + 18)}px`;
}

/** A Vega-Lite scale that shows the points and no more. */
function tightScale(log, extra = {}) {
  return log
    ? { type: "log", nice: false, padding: 14, ...extra }
    : { type: "linear", zero: false, nice: false, padding: 14, ...extra };
}

const mostPoints = 20000; // drawing more takes seconds and shows no more

/** Every nth of what may be left out, so that at most `mostPoints` are drawn; all of what `keep` says. */
function thinned(rows, keep = () => false) {
  const step = Math.ceil(rows.length / mostPoints);
  return step > 1 ? rows.filter((row, i) => i % step === 0 || keep(row)) : rows;
}

function geometricMean(values) {
  return Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);
}
function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const k = key(item);
    if (!groups.has(k)) groups.set(k, []);
    groups.get(k).push(item);
  }
  return groups;
}
