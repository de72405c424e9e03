// SPDX-License-Identifier: Apache-2.0
// The best mapping of a layer, drawn: the loop nest with tile sizes, the array, how full the memories are.

/** The tile of every level, outermost first: dim -> values of it, loops of the level and inside of it. */
function tilesOf(layer) {
  const sizes = new Map(layer.dims.map((d) => [d.dim, d.bound]));
  const tile = new Map();
  const tiles = [];
  for (const level of [...layer.mapping].reverse()) {
    for (const { dim, bound } of [...level.temporal, ...level.rows, ...level.cols])
      tile.set(dim, Math.min(sizes.get(dim) ?? Infinity, (tile.get(dim) ?? 1) * bound));
    tiles.unshift(new Map(tile));
  }
  return tiles;
}
function tileText(tile, layer) {
  return layer.dims
    .filter(({ dim }) => (tile.get(dim) ?? 1) > 1)
    .map(({ dim }) => `${dim}${tile.get(dim)}`)
    .join(" ");
}

/** The loops, outermost first, one colour for each level. */
function loopNest(layer) {
  let depth = 0;
  const tiles = tilesOf(layer);
  const blocks = layer.mapping.map((level, i) => {
    const loop = (words, { dim, bound }, side) =>
      element(
        "li",
        { style: `--depth:${depth++}` },
        element("i", {}, words),
        " ",
        element("b", {}, dim),
        ` in 0 … ${bound - 1}`,
        side ? element("span", { class: "quiet" }, `  ${side}`) : null,
      );
    const memory = layer.memories.find((m) => m.level === level.level);
    const padded = level.padded.length
      ? `; padded to ${level.padded.map((p) => `${p.dim} ${p.bound}`).join(", ")}`
      : "";
    const tile = memory ? `; tile ${tileText(tiles[i], layer) || "one word of each"}` : "";
    const keeps = level.keeps.length ? `keeps ${level.keeps.join(", ")}${tile}${padded}` : "";
    const items = [
      ...level.temporal.map((l) => loop("for", l)),
      ...level.rows.map((l) => loop("parallel", l, "rows")),
      ...level.cols.map((l) => loop("parallel", l, "columns")),
    ];
    const last = i === layer.mapping.length - 1;
    if (last) items.push(element("li", { style: `--depth:${depth}` }, element("i", {}, "multiply-accumulate")));
    return element(
      "div",
      { class: "level", style: `--level:${onThisPage(report.measures.colours[i % 8])}` },
      element("p", {}, element("b", {}, level.level), element("span", { class: "quiet tile" }, ` ${keeps}`)),
      items.length ? element("ol", { class: "mono" }, ...items) : null,
    );
  });
  return element("div", { class: "nest" }, ...blocks);
}

function proofOf(layer) {
  const large = (layer.covered ?? "").length > 15;
  const covered = large ? `10^${layer.covered.length - 1}` : Number(layer.covered).toLocaleString("en-US");
  return layer.certified
    ? `Proven optimal${layer.covered ? ` among ${covered} mappings` : ""}.`
    : `Not proven optimal: lower bound ${plain(layer.lower, 5)}, value ${plain(layer.value, 5)}, ` +
        `gap ${percent(layer.gap)} (ended by ${layer.ended}).`;
}

/** The array: which dims run over its rows and columns, and how much of it they fill. */
function arrayDrawing(level, rows, cols) {
  const across = (loops) => loops.reduce((product, l) => product * l.bound, 1);
  const words = (loops) => loops.map((l) => `${l.dim} ${l.bound}`).join(" × ") || "nothing";
  const high = across(level.rows),
    wide = across(level.cols);
  const fits = high <= rows && wide <= cols;
  const tall = fits ? rows : high,
    broad = fits ? cols : wide;
  const scale = 170 / Math.max(tall, broad);
  const w = broad * scale,
    h = tall * scale;
  const x = 46,
    y = 34;
  const lines = [];
  for (let i = 1; i < Math.min(wide, 64); i++) {
    const at = x + (i * wide * scale) / Math.min(wide, 64);
    lines.push(shape("line", { x1: at, x2: at, y1: y, y2: y + high * scale, class: "cell" }));
  }
  for (let i = 1; i < Math.min(high, 64); i++) {
    const at = y + (i * high * scale) / Math.min(high, 64);
    lines.push(shape("line", { x1: x, x2: x + wide * scale, y1: at, y2: at, class: "cell" }));
  }
  const share = (high * wide) / (rows * cols);
  const note = fits
    ? `${high} of ${rows} rows and ${wide} of ${cols} columns are used: ${percent(share)} of the units.`
    : `The ${rows} x ${cols} units are used as ${high} x ${wide}: ${percent(share)} of them.`;
  return element(
    "figure",
    { class: "array-drawing" },
    element("h4", {}, level.level),
    shape(
      "svg",
      {
        viewBox: `0 0 ${Math.max(220, x + w + 8)} ${y + h + 8}`,
        width: Math.max(220, x + w + 8),
        height: y + h + 8,
        role: "img",
        "aria-label":
          `${level.level}: over the rows ${words(level.rows)}, ` + `over the columns ${words(level.cols)}. ${note}`,
      },
      shape("rect", { x, y, width: w, height: h, class: "units" }),
      shape("rect", { x, y, width: wide * scale, height: high * scale, class: "used" }),
      ...lines,
      shape("text", { x, y: y - 10, class: "side" }, `columns: ${words(level.cols)}`),
      shape("text", { x: -y, y: x - 12, transform: "rotate(-90)", class: "side end" }, `rows: ${words(level.rows)}`),
    ),
    element("figcaption", { class: "quiet" }, note),
  );
}

/** Levels that are neither a memory nor the compute units: the arrays, outermost first, with their sizes if known. */
function arraysOf(layer, row) {
  const memories = new Set(layer.memories.map((m) => m.level));
  const fanouts = layer.mapping.slice(0, -1).filter((level) => !memories.has(level.level));
  // Of several arrays only the products are known.
  const sizes = fanouts.length === 1 ? [designs.get("array_rows", row), designs.get("array_cols", row)] : null;
  return fanouts.map((level) => {
    const across = (loops) => loops.reduce((product, l) => product * l.bound, 1);
    return arrayDrawing(level, sizes?.[0] ?? across(level.rows), sizes?.[1] ?? across(level.cols));
  });
}

/** One bar for each bounded memory. */
function fillBars(layer) {
  const bars = layer.memories
    .filter((m) => m.capacity)
    .map((m) => {
      const share = m.used / m.capacity,
        words = `${percent(share)} of ${plain(m.capacity)} words`;
      return element(
        "div",
        { class: "fill" },
        element("span", {}, m.level),
        element(
          "span",
          { class: "trough", role: "img", "aria-label": `${m.level} is filled to ${words}` },
          element("span", { class: "full", style: `width:${Math.min(100, 100 * share).toFixed(1)}%` }),
        ),
        element("span", { class: "quiet" }, `${words}${m.instances > 1 ? `, each of ${plain(m.instances)}` : ""}`),
      );
    });
  return bars.length ? [element("h4", {}, "How full the memories are"), ...bars] : [];
}

function drawMapping(layer, row) {
  const place = document.getElementById("mapping"),
    title = document.getElementById("mapping-title");
  title.textContent = layer.solved
    ? `Best mapping of ${shortName(layer.name)}`
    : `${shortName(layer.name)} has no mapping`;
  if (!layer.solved) return place.replaceChildren(element("p", { class: "quiet" }, layer.reason));
  const shape = layer.dims.map((d) => `${d.dim}${d.bound}`).join(" ");
  place.replaceChildren(
    element("p", { class: "quiet" }, `${shape}. ${proofOf(layer)}`),
    element(
      "div",
      { class: "mapped" },
      loopNest(layer),
      element("div", {}, ...arraysOf(layer, row), ...fillBars(layer)),
    ),
  );
}
