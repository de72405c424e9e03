// SPDX-License-Identifier: Apache-2.0
// The space behind the frontier of a design search: what became of the designs that were never mapped, what bought each
// step along the frontier, what guesses lose, and what the designs of a closed box lose at least.

const space = { boxes: null, goals: [] };

/** "goal2_edp_pj_cycles_of_resnet50": the measure, and on which workload. */
function goalOf(column) {
  const [, name] = /^goal\d+_(.*)$/.exec(column);
  const m = report.measures.metrics.find((one) => name === one.name || name.startsWith(`${one.name}_of_`));
  const on = name.length > m.name.length ? ` on ${name.slice(m.name.length + "_of_".length)}` : "";
  return { column, m: { ...m, title: m.title + on } };
}

/** Mapped designs that no other beats in all goals, by the first goal; of equal ones the first. */
function spaceFrontier() {
  const all = [],
    known = new Set();
  for (let box = 0; box < space.boxes.rows; box++) {
    if (space.boxes.get("closed_by", box) !== "opened") continue;
    const values = space.goals.map((goal) => space.boxes.get(goal.column, box));
    const id = space.boxes.get("design_id", box);
    const missing = values.some((v) => v === null) || rowOn(id, filters.workload) === undefined;
    if (missing || known.has(String(values))) continue;
    known.add(String(values));
    all.push({ id, values });
  }
  const beats = (a, b) => a.values.every((v, k) => v <= b.values[k]) && a.values.some((v, k) => v < b.values[k]);
  return all.filter((one) => !all.some((other) => beats(other, one))).sort((a, b) => a.values[0] - b.values[0]);
}

/** What differs between two designs, in words. */
function boughtBy(from, to) {
  const a = rowOn(from, filters.workload),
    b = rowOn(to, filters.workload);
  const words = [];
  for (const column of ["label", ...filterColumns().filter((name) => name !== "label")]) {
    const before = designs.get(column, a),
      after = designs.get(column, b);
    if (before === after) continue;
    const title = column === "label" ? "class" : columnTitle(column);
    words.push(`${title} ${columnValue(column, before)} → ${columnValue(column, after)}`);
  }
  return words.join(", ") || "nothing that varies";
}

function drawSteps(kept) {
  const cell = (g, i, k) => {
    const value = shown(g.m.name, kept[k].values[i], g.m);
    return k === 0 ? value : `${value} (${change(kept[k - 1].values[i], kept[k].values[i])})`;
  };
  wholeTable(
    document.getElementById("space-steps"),
    [
      { title: "Design", number: true },
      ...space.goals.map((g) => ({ title: `${g.m.title} (step)`, number: true })),
      { title: "What bought the step" },
    ],
    kept.map((one, k) => ({
      cells: [
        String(one.id),
        ...space.goals.map((g, i) => cell(g, i, k)),
        k === 0 ? "the least there is" : boughtBy(kept[k - 1].id, one.id),
      ],
    })),
  );
}

/** What every design of a box loses at least against the one that beats the box. */
function drawClosedBoxes() {
  const valueOf = new Map();
  for (let box = 0; box < space.boxes.rows; box++)
    if (space.boxes.get("closed_by", box) === "opened")
      valueOf.set(
        space.boxes.get("design_id", box),
        space.goals.map((g) => space.boxes.get(g.column, box)),
      );
  const rows = [];
  for (let box = 0; box < space.boxes.rows; box++) {
    const by = space.boxes.get("beaten_by", box);
    const best = by === null ? null : valueOf.get(by);
    if (!best || space.boxes.get("design_id", box) !== null) continue;
    const loses = space.goals.map((g, k) => `${g.m.title} ${change(best[k], space.boxes.get(g.column, box))}`);
    rows.push({
      cells: [
        plain(space.boxes.get("designs", box)),
        String(space.boxes.get("ranges", box) ?? ""),
        String(by),
        loses.join(", "),
      ],
    });
  }
  wholeTable(
    document.getElementById("space-boxes"),
    [
      { title: "Designs", number: true },
      { title: "Everything with" },
      { title: "is beaten by design", number: true },
      { title: "and against it has at least" },
    ],
    rows,
  );
}

/** What guesses lose: by goal, against the best of the frontier that is nowhere worse in the others. */
function drawGuesses(kept) {
  const guesses = JSON.parse(designOption("design_guesses") ?? "[]");
  document.getElementById("space-guesses-heading").hidden = !guesses.length;
  const best = (one, k) =>
    kept
      .filter((other) => other.values.every((v, j) => j === k || v <= one.values[j] * (1 + 1e-9)))
      .reduce((least, other) => (least === null || other.values[k] < least.values[k] ? other : least), null);
  const lost = (one, k) => {
    const better = best(one, k);
    return better === null || better.values[k] >= one.values[k] * (1 - 1e-9)
      ? "nothing"
      : `${change(better.values[k], one.values[k])} against design ${better.id}`;
  };
  wholeTable(
    document.getElementById("space-guesses"),
    [
      { title: "Guess" },
      { title: "Design", number: true },
      ...space.goals.map((g) => ({ title: g.m.title, number: true })),
      ...space.goals.map((g) => ({ title: `loses in ${g.m.title}` })),
    ],
    guesses.map((one) => ({
      cells: [
        one.guess,
        String(one.design),
        ...space.goals.map((g, k) => shown(g.m.name, one.values[k], g.m)),
        ...space.goals.map((_, k) => lost(one, k)),
      ],
    })),
  );
}

const designOption = (name) => report.provenance.options?.find(([key]) => key === name)?.[1];

const boxKinds = [
  ["beaten", "beaten, not mapped"],
  ["limits", "breaks a limit"],
  ["opened", "mapped"],
];

/** A search proves its frontier in its own goals, so the page opens on these; area stands across. */
function openOnGoals() {
  if (report.space === null) return;
  space.boxes = new Designs(report.space);
  space.goals = [...space.boxes.columns.keys()].filter((name) => /^goal\d+_/.test(name)).map(goalOf);
  const names = [...new Set(space.goals.map((goal) => goal.m.name))]
    .filter((name) => designs.has(name))
    .sort((a, b) => (b === "area_um2") - (a === "area_um2"));
  if (names.length > 1) [frontier.x, frontier.y] = names;
  else if (names.length && names[0] !== frontier.x) frontier.y = names[0];
}

async function drawSpace() {
  document.getElementById("space").hidden = report.space === null;
  document.querySelector('nav a[href="#space"]').hidden = report.space === null;
  if (report.space === null) return;
  const kept = spaceFrontier();
  let all = 0,
    mapped = 0;
  for (let box = 0; box < space.boxes.rows; box++) {
    all += space.boxes.get("designs", box);
    if (space.boxes.get("closed_by", box) === "opened") mapped++;
  }
  const gap = designOption("design_gap") ?? "0";
  document.getElementById("space-note").textContent =
    `${plain(all)} designs, of which ${plain(mapped)} were mapped and ${plain(kept.length)} are on the frontier. ` +
    "The others are in closed boxes: a dot stands at the bounds that every design of its box is above" +
    (Number(gap) > 0 ? `, and is closed where a design found is worse by at most ${percent(Number(gap))}.` : ".") +
    (report.space.left_out ? ` ${plain(report.space.left_out)} small boxes are not drawn.` : "");
  const figure = document.getElementById("chart-space").closest("figure");
  figure.hidden = space.goals.length < 2;
  drawSteps(kept);
  drawGuesses(kept);
  drawClosedBoxes();
  if (space.goals.length < 2) return;
  const [gx, gy] = space.goals;
  const on = new Set(kept.map((one) => one.id));
  const points = [];
  for (let box = 0; box < space.boxes.rows; box++) {
    const [x, y] = [gx, gy].map((g) => space.boxes.get(g.column, box));
    const by = space.boxes.get("closed_by", box),
      id = space.boxes.get("design_id", box);
    const kind = boxKinds.find(([name]) => name === by)?.[1];
    if (!(x > 0 && y > 0) || !kind) continue;
    const row = by === "opened" ? rowOn(id, filters.workload) : undefined;
    const frontier = by === "opened" && on.has(id);
    points.push({ x, y, kind, row, designs: space.boxes.get("designs", box), frontier, box });
  }
  const xAxis = axisOf(gx.m, points.map((p) => p.x)),
    yAxis = axisOf(gy.m, points.map((p) => p.y));
  const kinds = boxKinds.map(([, words]) => words).filter((words) => points.some((p) => p.kind === words));
  await draw(
    "chart-space",
    "space",
    {
      width: plotWidth("chart-space", 80, 180, 230),
      x_title: xAxis.title,
      y_title: yAxis.title,
      x_format: xAxis.format,
      y_format: yAxis.format,
      x_scale: tightScale(true),
      y_scale: tightScale(true),
      kinds,
      colours: kinds.map((words) => report.measures.colours[boxKinds.findIndex(([, w]) => w === words)]),
    },
    points.map((p) => ({ ...p, x: p.x * xAxis.scale, y: p.y * yAxis.scale })),
    {
      tip: (d) =>
        d.box === undefined
          ? null
          : [
              ["designs", plain(d.designs)],
              ["with", String(space.boxes.get("ranges", d.box) ?? "")],
              [gx.m.title + (d.designs > 1 ? " at least" : ""), shown(gx.m.name, d.x / xAxis.scale, gx.m)],
              [gy.m.title + (d.designs > 1 ? " at least" : ""), shown(gy.m.name, d.y / yAxis.scale, gy.m)],
            ],
      click: (d) => d.row !== undefined && choose(d.row),
      description: `Bounds of ${points.length} boxes of designs and the proven frontier`,
    },
  );
}
