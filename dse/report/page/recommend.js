// SPDX-License-Identifier: Apache-2.0
// Which design to build, and why, in words: the knee, the steps beside it, what flexibility pays for, what limits it.

/** The knee of the frontier with its neighbours, as rows; null where the filters leave nothing. */
function recommended() {
  const { points, kept, ascending, knee } = frontierPoints();
  if (!kept.length) return null;
  const at = ascending.indexOf(knee);
  // Neighbours that differ by next to nothing are no step.
  const apart = (key) => (p) => Math.abs(p[key] / knee[key] - 1) >= leastStep;
  const before = ascending.slice(0, at).reverse(),
    after = ascending.slice(at + 1),
    first = after.find(apart("y"));
  return {
    points,
    kept: ascending,
    knee,
    down: before.find(apart("x")) ?? null,
    up: after.findLast((p) => first && p.x <= first.x * (1 + leastStep)) ?? null,
    near: [...before, ...after].filter((p) => !apart("x")(p) && !apart("y")(p)),
  };
}
const leastStep = 0.02;

/** "+12 % area", "the same EDP" */
function changeOf(name, from, to) {
  return `${change(from, to)} ${titleOf(name)}`;
}

const titleOf = (name) => rawMetric(name).title;

function factorWords(ratio) {
  const words = { 2: "twice", 3: "three times", 4: "four times", 8: "eight times", 0.5: "half", 0.25: "a quarter of" };
  return words[ratio] ?? null;
}

/** What tells one design from another: ["twice the columns (16 to 32)", "parallel dims free"]. */
function differences(from, to) {
  const words = [];
  const bits = (row) => String(designs.get("class", row) ?? "");
  const label = (row) => String(designs.get("label", row));
  const number = (name, column, shownAs) => {
    const a = designs.get(column, from),
      b = designs.get(column, to);
    if (a === b || a === null || b === null) return;
    const factor = typeof a === "number" && typeof b === "number" ? factorWords(b / a) : null;
    words.push(
      factor ? `${factor} the ${name} (${shownAs(a)} to ${shownAs(b)})` : `${name} ${shownAs(a)} to ${shownAs(b)}`,
    );
  };
  number("rows", "array_rows", plain);
  number("columns", "array_cols", plain);
  for (const column of filterColumns())
    if (column !== "array") number(columnTitle(column), column, (v) => columnValue(column, v));
  if (label(from) === bits(from) && label(to) === bits(to)) {
    const turned = (on) => axisWords.filter((_, i) => bits(from)[i] !== bits(to)[i] && (bits(to)[i] === "1") === on);
    if (turned(true).length) words.push(`${listed(turned(true))} free`);
    if (turned(false).length) words.push(`${listed(turned(false))} fixed`);
  } else if (label(from) !== label(to)) words.push(`flexibility ${label(from)} to ${label(to)}`);
  return words;
}

function designLink(row) {
  return element(
    "button",
    { type: "button", class: "link", "data-row": row, onclick: () => choose(row, true) },
    `design ${designs.get("design_id", row)}`,
  );
}

function stepItem(words, from, to) {
  const why = differences(from.row, to.row);
  return element(
    "li",
    {},
    `${words}, `,
    designLink(to.row),
    ": ",
    element("b", {}, `${changeOf(frontier.x, from.x, to.x)}, ${changeOf(frontier.y, from.y, to.y)}`),
    why.length ? `; from ${why.join(", ")}.` : ".",
  );
}

/** Designs of the frontier that are as good as the knee: a choice of taste. */
function nearItem(near) {
  const links = near
    .slice(0, 5)
    .flatMap((p, i) => [i ? ", " : "", designLink(p.row), ` (${designs.get("label", p.row)})`]);
  return element(
    "li",
    {},
    `Within ${percent(leastStep)} of it in both: `,
    ...links,
    near.length > 5 ? " and others." : ".",
  );
}

/** "192 designs"; of a design search all of its space, most of which was never mapped. */
function amongWords(points) {
  const all = report.space ? report.provenance.designs_raw : null;
  if (!(all > points.length)) return `${plain(points.length)} designs`;
  // What was closed is worse in the goals of the search, and in nothing else.
  const names = [...new Set(space.goals.map((goal) => goal.m.name))],
    inGoals = [frontier.x, frontier.y].every((name) => names.includes(name));
  const within = report.provenance.over_limit ? " within the limits" : "";
  return (
    `${plain(all)} designs (${plain(points.length)} mapped${within}, ` +
    `the others proven worse by their bounds${inGoals ? "" : `, in ${listed(names.map(titleOf))} only`})`
  );
}

function kneeWords({ points, kept, knee }) {
  const x = titleOf(frontier.x),
    y = titleOf(frontier.y);
  if (kept.length === 1)
    return `Of ${amongWords(points)} it is the best in ${x} and in ${y} at once; there is nothing to weigh.`;
  const first = kept[0],
    last = kept[kept.length - 1];
  const ends =
    `Of ${amongWords(points)}, ${kept.length} are beaten by no other in both ${x} and ${y}: from design ` +
    `${designs.get("design_id", first.row)} (${shown(frontier.x, first.x)}, ${shown(frontier.y, first.y)}) to design ` +
    `${designs.get("design_id", last.row)} (${shown(frontier.x, last.x)}, ${shown(frontier.y, last.y)}). `;
  if (kept.length === 2) return `${ends}Between two there is no knee; this is the one with less ${x}.`;
  const way = (key) => Math.abs(knee[key] - first[key]) / Math.abs(last[key] - first[key]);
  return (
    ends +
    `This is the knee: it has ${percent(way("y"), 2)} of all the ${y} there is to gain between them, for ` +
    `${percent(way("x"), 2)} of the ${x} there is to pay. Before it, ${x} buys more; after it, less.`
  );
}

/** What flexibility does on the hardware of a design: the classes that are equal in everything else. */
function flexibilityTable(row) {
  const key = (r) => JSON.stringify([designs.get("workload", r), ...report.varied.map((c) => designs.get(c, r))]);
  const here = key(row),
    own = String(designs.get("class", row) ?? "");
  if (String(designs.get("label", row)) !== own) return null;
  const byClass = new Map();
  for (let r = 0; r < designs.rows; r++)
    if (designs.get("label", r) === designs.get("class", r) && key(r) === here) byClass.set(designs.get("class", r), r);
  const value = (bits, name) => (byClass.has(bits) ? designs.get(name, byClass.get(bits)) : null);
  const compare = (from, to) => {
    const words = [frontier.y, "area_um2"].map((name) => {
      const a = value(from, name),
        b = value(to, name);
      return a > 0 && b > 0 ? changeOf(name, a, b) : null;
    });
    return words.every((w) => w !== null) ? words.join(", ") : null;
  };
  const flip = (bits, i, to) => bits.slice(0, i) + to + bits.slice(i + 1);
  const rows = axisWords.flatMap((name, i) => {
    const alone = compare("0000", flip("0000", i, "1")),
      has = own[i] === "1",
      turned = has ? compare(flip(own, i, "0"), own) : compare(own, flip(own, i, "1"));
    if (!alone && !turned) return [];
    const verdict = has ? "free in this design" : "fixed in this design";
    return [
      {
        cells: [
          `${"TOPS"[i]} ${name}`,
          verdict,
          alone ?? "–",
          turned ? `${has ? "it brings" : "it would bring"} ${turned}` : "–",
        ],
      },
    ];
  });
  if (!rows.length) return null;
  const whole = own === "0000" ? null : compare("0000", own);
  const header = [{ title: "axis" }, { title: "here" }, { title: "free alone" }, { title: "on top of the others" }];
  const words = whole
    ? `Against the inflexible design (0000) on the same hardware, ${freeAxes(own)}: ${whole}.`
    : own === "0000"
      ? "Nothing is free in this design; the table says what each axis would bring."
      : "";
  return [
    element("h3", {}, "What flexibility pays for"),
    element("p", {}, words),
    element("div", { class: "scroll" }, table(header, rows)),
  ];
}

const operatorsName = "operators without MACs";

/** What the figures of a row are made of: steps of a network, or layers by themselves; and energy by level. */
function partsOf(row) {
  const network = residencyOf(row);
  if (network)
    return {
      parts: network.steps.map((s) => ({ name: s.node, time: s.cycles, boundBy: s.boundBy || operatorsName })),
      levels: network.levels,
    };
  const layers = details.layersOf(row).filter((l) => l.solved);
  return {
    parts: layers.map((l) => ({ name: l.name, time: l.count * l.cycles, boundBy: l.boundBy })),
    levels: byLevel(layers, (t) => t.energy, true).map((e) => [e.level, e.value]),
  };
}

/** Whose power it is: the chip's, and that of the memory beside it. */
function powerWords(row) {
  const [watts, chip, beside, leaks] = ["power_w", "chip_power_w", "off_chip_power_w", "leakage_power_w"].map((name) =>
    designs.has(name) ? designs.get(name, row) : null,
  );
  if (!(watts > 0) || chip === null) return "";
  const words = [`${si(chip, "W", 3)} of the chip`, `${si(beside, "W", 3)} of memory beside it`];
  return ` Power: ${listed(words)}; ${si(leaks, "W", 3)} of it leaks.`;
}

/** Where time and energy of a design go on one workload. */
function limitsOf(row) {
  if (!details) return "Unpacking the layers …";
  if (!details.has(row)) return "This file does not hold the layers of this design (`pliant report --layers N`).";
  const { parts, levels } = partsOf(row);
  const sumBy = (items, keyOf, valueOf) =>
    [...groupBy(items, keyOf)]
      .map(([k, of]) => [k, of.reduce((s, item) => s + valueOf(item), 0)])
      .sort((a, b) => b[1] - a[1]);
  const timeBy = (key) =>
    sumBy(
      parts,
      (part) => part[key],
      (part) => part.time,
    );
  const bounds = timeBy("boundBy"),
    longest = timeBy("name").slice(0, 3),
    spent = sumBy(
      levels,
      ([level]) => level,
      ([, pj]) => pj,
    );
  const sumOf = (sums) => sums.reduce((sum, [, v]) => sum + v, 0),
    time = sumOf(bounds),
    energy = sumOf(spent);
  // What helps one part of the time does nothing for the others, so every part has its own remedy.
  const remedyOf = ([bound, v]) =>
    bound === "compute"
      ? `more MAC units, or a better use of them, shorten at most the ${percent(v / time, 2)} that compute bounds`
      : bound === operatorsName
        ? `faster memories under the operators shorten at most the ${percent(v / time, 2)} that these take`
        : `a faster ${bound} shortens at most the ${percent(v / time, 2)} that it bounds`;
  const worthIt = bounds.filter(([, v]) => v / time >= 0.05).slice(0, 3);
  const remedies = listed(worthIt.map(remedyOf)).replace(/^./, (c) => c.toUpperCase());
  const remedy = `${remedies}${worthIt.length === 1 ? "; little else is left to gain" : ""}.`;
  const inTime = bounds.slice(0, 3).map(([bound, v]) => `${percent(v / time, 2)} of the time is bound by ${bound}`),
    layerWords = longest.map(([name, v]) => `${shortName(name)} (${percent(v / time, 2)})`);
  return (
    `On ${workloadName(designs.get("workload", row))}, ${listed(inTime)}. ` +
    `${remedy} Longest: ${listed(layerWords)} of the time. ` +
    `Energy: ${listed(spent.slice(0, 3).map(([level, v]) => `${level} ${percent(v / energy, 2)}`))}.${powerWords(row)}`
  );
}

/** The figures of a design on every workload that is looked at. */
function figureLines(row) {
  const rows = isTogether(row) ? together.parts.get(row) : [row];
  return rows.map((r) => {
    const names = [...inSeconds().slice(0, 3), "energy_pj", edpName()];
    if (!inSeconds().length) names.unshift("runtime_cycles");
    const values = names
      .map((name) => [rawMetric(name).title, shown(name, designs.get(name, r), rawMetric(name))])
      .map(([title, value]) => `${title} ${value}`);
    return element("li", {}, element("b", {}, `${workloadName(designs.get("workload", r))}: `), values.join(", "));
  });
}

/** Numbers of the sweep whose least or largest value the design has: [title, value, "least" or "most"]. */
function endsOfAxes(row) {
  return (report.provenance.axes ?? []).flatMap(([, column, , first, last]) => {
    const value = designs.get(column, row);
    if (typeof value !== "number") return [];
    // A sweep has a row for every value; of a design search only the dataset's manifest may know the ends.
    const tried = first === undefined && !report.space ? designs.distinct(column) : [first, last];
    const least = Math.min(...tried),
      most = Math.max(...tried);
    if (!(least < most)) return [];
    if (value !== least && value !== most) return [];
    return [[columnTitle(column), columnValue(column, value), value === least ? "least" : "most"]];
  });
}

/** A recommendation at the end of an axis says that the sweep is too narrow there. */
function endsItem(row) {
  const ends = endsOfAxes(row);
  if (!ends.length) return null;
  const words = ends.map(([title, value, end]) => `${title} (${value}, the ${end} that was tried)`);
  return element(
    "p",
    { class: "ends" },
    element("b", {}, "Widen "),
    `${listed(words)}: the design stands at the end of ${ends.length > 1 ? "these axes" : "this axis"}, ` +
      `so a better one may lie beyond.`,
  );
}

/** What tells the design from others, and the axes that the mapped designs have in common. */
function wholeDesignWords(row) {
  const common = (report.provenance.axes ?? [])
    .map(([, column]) => column)
    .filter((column) => designs.has(column) && designs.distinct(column).length === 1)
    .map((column) => [columnTitle(column), columnValue(column, designs.get(column, row))]);
  return [...designWords(row), ...common];
}

/** The picture beside the sentence: the frontier, and where on it the design stands. */
async function drawKnee({ points, kept, knee }) {
  const mx = metric(frontier.x),
    my = metric(frontier.y);
  const xAxis = axisOf(
      mx,
      points.map((p) => p.x),
    ),
    yAxis = axisOf(
      my,
      points.map((p) => p.y),
    );
  const on = new Set(kept.map((p) => p.row));
  const rows = thinned(points, (p) => on.has(p.row)).map((p) => ({
    row: p.row,
    x: p.x * xAxis.scale,
    y: p.y * yAxis.scale,
    frontier: on.has(p.row),
    knee: p.row === knee.row,
    label: p.row === knee.row ? `design ${designs.get("design_id", p.row)}` : "",
  }));
  const positive = (key) => points.every((p) => p[key] > 0);
  const wide = plotWidth("chart-knee", 70, 16, 180);
  await draw(
    "chart-knee",
    "knee",
    {
      width: wide,
      height: Math.min(250, Math.max(180, wide * 0.6)),
      x_title: xAxis.title,
      y_title: yAxis.title,
      x_format: xAxis.format,
      y_format: yAxis.format,
      x_scale: tightScale(positive("x")),
      y_scale: tightScale(positive("y")),
    },
    rows,
    {
      tip: (d) => (d.row === undefined ? null : designTip(d.row)),
      click: (d) => d.row !== undefined && choose(d.row),
      description: `${my.title} against ${mx.title}; the recommended design is marked on the frontier`,
    },
  );
}

async function drawRecommendation() {
  const place = document.getElementById("recommendation-body");
  const found = recommended();
  if (!found) {
    place.replaceChildren(
      element(
        "p",
        { class: "empty" },
        `No design with these filters has both ${metric(frontier.x).title} and ${metric(frontier.y).title}.`,
      ),
    );
    return;
  }
  const { knee, down, up, near } = found,
    row = knee.row;
  const words = wholeDesignWords(row)
    .map(([what, value]) => (what === "class" ? `${value}` : `${what} ${value}`))
    .join(", ");
  const steps = [
    up ? stepItem("One step up", knee, up) : null,
    down ? stepItem("One step down", knee, down) : null,
    near.length ? nearItem(near) : null,
  ].filter((item) => item !== null);
  const limits = isTogether(row) ? together.parts.get(row).slice(0, 4) : [row];
  const verdict = element(
    "div",
    {},
    element(
      "p",
      { class: "verdict" },
      "Build ",
      element("b", {}, designLink(row)),
      `: ${words}; ${shown("area_um2", designs.get("area_um2", row))}.`,
    ),
    element("ul", {}, ...figureLines(row)),
    element("p", { id: "mapped-as" }, mappedAsWords(isTogether(row) ? together.parts.get(row) : [row])),
    element("p", {}, kneeWords(found)),
    endsItem(row),
    element("ul", { id: "steps" }, ...steps),
  );
  const picture = element("figure", {}, element("div", { id: "chart-knee", class: "chart" }));
  place.replaceChildren(
    element("div", { class: "verdict-and-picture" }, verdict, picture),
    ...(flexibilityTable(row) ?? []),
    element("h3", {}, "What limits it"),
    ...limits.map((r) => element("p", { class: "limits" }, limitsOf(r))),
  );
  await drawKnee(found);
}
