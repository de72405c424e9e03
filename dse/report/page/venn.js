// SPDX-License-Identifier: Apache-2.0
// The sets of flexion as circles whose areas are in proportion to the numbers of choices. The circles come from
// dse/report/venn.cpp.

function shape(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const smallest = 2.2; // radius in pixels of a set that would be too small to see

function vennPanel(panel, title, unit, id) {
  const [c, a, w, aw, , hf, wf, cr, wx, wr, ax, ar] = panel;
  const width = 240,
    height = 190;
  const left = Math.min(-cr, wx - wr, ax - ar),
    right = Math.max(cr, wx + wr, ax + ar),
    tall = Math.max(cr, wr, ar);
  const scale = Math.min((width - 16) / (right - left), (height - 16) / (2 * tall));
  const at = (x) => width / 2 + scale * (x - (left + right) / 2);
  const r = (radius) => Math.max(smallest, radius * scale).toFixed(2);
  const circle = (x, radius, cls, extra = {}) =>
    shape("circle", { cx: at(x).toFixed(2), cy: height / 2, r: r(radius), class: cls, ...extra });
  const clip = shape("clipPath", { id }, shape("circle", { cx: at(wx).toFixed(2), cy: height / 2, r: r(wr) }));
  const both = circle(ax, ar, "set-both");
  both.setAttribute("clip-path", `url(#${id})`);
  const svg = shape(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `${title}: C ${plain(c, 4)}, W ${plain(w, 4)}, A ${plain(a, 4)}, A and W ${plain(aw, 4)}`,
    },
    shape("defs", {}, clip),
    circle(0, cr, "set-c"),
    circle(wx, wr, "set-w"),
    circle(ax, ar, "set-a"),
    both,
    circle(0, cr, "ring-c"),
    circle(wx, wr, "ring-w"),
  );
  const line = (cls, words, value) => [
    element("dt", {}, element("span", { class: `swatch ${cls}` }), words),
    element("dd", {}, plain(value, 4)),
  ];
  const tiny = ar * scale < smallest ? element("p", { class: "quiet" }, "A is drawn larger than it is.") : null;
  return element(
    "figure",
    { class: "venn-panel" },
    element("h4", {}, title),
    svg,
    element(
      "dl",
      {},
      ...line("c", `C, the hardware's ${unit}`, c),
      ...line("w", "W, the workload's", w),
      ...line("a", "A, this design's", a),
      ...line("both", "A and W, usable", aw),
    ),
    element(
      "p",
      { class: "flexions" },
      element("b", {}, `H-F ${plain(hf, 3)}`),
      element("b", {}, `W-F ${plain(wf, 3)}`),
    ),
    tiny,
  );
}

function drawVenn() {
  const place = document.getElementById("venn"),
    note = document.getElementById("venn-note");
  const row = insideRow(),
    of = row === null ? null : report.venn.of[row];
  if (!of || of.every((i) => i < 0)) {
    note.textContent = "This dataset has no flexion of the chosen design (`flexion: false` in the sweep's file).";
    return place.replaceChildren();
  }
  note.textContent =
    `Design ${designs.get("design_id", row)} (${designs.get("label", row)}) ` +
    `on ${shortName(designs.get("workload", row))}. C: what the resources allow; A: what this design can do; ` +
    "W: what the layers have; means over the layers. " +
    "Hardware flexion H-F is the mean of |A| / |C|: how much of what its resources allow the design can do. " +
    "Workload flexion W-F is the mean of |A and W| / |W|: how much of what the layers offer it can use.";
  const titles = ["T tile sizes", "O loop orders", "P parallel dims", "S array shapes"],
    units = ["tiles", "orders", "pairs of dims", "shapes"];
  place.replaceChildren(
    ...of.flatMap((panel, i) =>
      panel < 0 ? [] : [vennPanel(report.venn.panels[panel], titles[i], units[i], `clip-${i}`)],
    ),
  );
}
