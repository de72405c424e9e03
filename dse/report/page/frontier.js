// SPDX-License-Identifier: Apache-2.0
// Which designs are worth a second look: those that no other beats on both axes.

const frontier = { x: "area_um2", y: null, xLog: true, yLog: true, colour: null };

/** Points {row, x, y} that no other dominates, by ascending x; of equal ones the first. Signs: 1 = less is better. */
function nonDominated(points, xSign, ySign) {
  const order = [...points].sort((a, b) => xSign * (a.x - b.x) || ySign * (a.y - b.y) || a.row - b.row);
  const kept = [];
  let best = Infinity;
  for (const point of order) {
    if (ySign * point.y < best) {
      kept.push(point);
      best = ySign * point.y;
    }
  }
  return kept;
}

/** The point farthest from the line between the ends, both axes scaled to 0..1, as `pliant pareto` has it. */
function kneeOf(points) {
  if (points.length < 3) return points[0];
  const range = (key) => {
    const values = points.map((p) => p[key]);
    const low = Math.min(...values),
      high = Math.max(...values);
    return (v) => (high > low ? (v - low) / (high - low) : 0);
  };
  const sx = range("x"),
    sy = range("y");
  return points.reduce((best, p) => (sx(p.x) + sy(p.y) < sx(best.x) + sy(best.y) ? p : best), points[0]);
}

/** Frontier points with room for a label, from the best y on; those left out would lie on others. */
function labelledPoints(points, kept, xLog, yLog, wide, high, textOf) {
  const place = (key, log, size) => {
    const value = (p) => (log ? Math.log(p[key]) : p[key]);
    const low = points.reduce((a, p) => Math.min(a, value(p)), Infinity),
      top = points.reduce((a, p) => Math.max(a, value(p)), -Infinity);
    return (p) => (top > low ? ((value(p) - low) / (top - low)) * size : 0);
  };
  const x = place("x", xLog, wide),
    y = place("y", yLog, high);
  // A label stands to the right of its point; none may reach into another, nor out of the chart.
  const placed = [];
  for (const p of [...kept].reverse()) {
    const long = 6.4 * textOf(p).length + 12;
    const clear = placed.every(
      (q) => x(p) + long < x(q) || x(q) + 6.4 * textOf(q).length + 12 < x(p) || Math.abs(y(p) - y(q)) > 13,
    );
    if (clear && x(p) + long < wide + 60) placed.push(p);
  }
  return new Set(placed.map((p) => p.row));
}

function frontierPoints() {
  const points = [];
  for (const row of filtered()) {
    const x = designs.get(frontier.x, row),
      y = designs.get(frontier.y, row);
    if (x !== null && y !== null && x !== undefined && y !== undefined) points.push({ row, x, y });
  }
  const sign = (name) => (metric(name).more_is_better ? -1 : 1);
  const kept = nonDominated(points, sign(frontier.x), sign(frontier.y)),
    ascending = metric(frontier.x).more_is_better ? [...kept].reverse() : kept;
  return { points, kept, ascending, knee: kneeOf(ascending) ?? null };
}

/** What the recommendation looks for besides less of what stands across. */
const goalName = () => frontier.y ?? edpName();

function drawFrontierControls() {
  const there = report.measures.metrics
    .filter((m) => designs.has(m.name) && designs.distinct(m.name).length > 0)
    .map((m) => [m.name, metricTitle(m)]);
  frontier.y ??= edpName();
  const set = (key) => (value) => {
    frontier[key] = value;
    if (key === "x" || key === "y") return redraw();
    drawFrontier();
  };
  frontier.colour ??= colouringChoices()[0][0];
  document
    .getElementById("frontier-controls")
    .replaceChildren(
      choice("Across", "axis-x", there, frontier.x, set("x")),
      toggle("log", "log-x", frontier.xLog, set("xLog")),
      choice("Up", "axis-y", there, frontier.y, set("y")),
      toggle("log", "log-y", frontier.yLog, set("yLog")),
      choice("Colour", "colour", colouringChoices(), frontier.colour, set("colour")),
    );
}

async function drawFrontier() {
  const { points, kept, knee } = frontierPoints();
  const mx = metric(frontier.x),
    my = metric(frontier.y);
  const colour = colouring(frontier.colour);
  const on = new Set(kept.map((p) => p.row));
  const positive = (key) => points.every((p) => p[key] > 0);
  const xLog = frontier.xLog && positive("x"),
    yLog = frontier.yLog && positive("y");
  const wide = plotWidth("chart-frontier", 70, 120, 230),
    high = Math.min(460, Math.max(320, wide * 0.62));
  const xAxis = axisOf(
      mx,
      points.map((p) => p.x),
    ),
    yAxis = axisOf(
      my,
      points.map((p) => p.y),
    );
  const twins = groupBy(points, (p) => `${p.x} ${p.y}`);
  const same = (row) => twins.get(`${designs.get(frontier.x, row)} ${designs.get(frontier.y, row)}`) ?? [];
  const labelOf = (p) => {
    const labels = [...new Set(same(p.row).map((twin) => pointLabel(twin.row)))];
    return labels.length > 1 ? `${labels[0]} +${labels.length - 1}` : (labels[0] ?? pointLabel(p.row));
  };
  const labelled = labelledPoints(points, kept, xLog, yLog, wide, high, labelOf);
  const equal = kept.some((p) => labelled.has(p.row) && labelOf(p).includes(" +"));
  const rows = points.map(({ row, x, y }) => ({
    row,
    x: x * xAxis.scale,
    y: y * yAxis.scale,
    group: colour.of(row),
    frontier: on.has(row),
    chosen: row === chosen.row,
    label: labelled.has(row) ? labelOf({ row }) : "",
  }));
  const shownRows = thinned(rows, (r) => r.frontier || r.chosen);
  const left =
    shownRows.length < rows.length ? ` Of the dominated designs only ${plain(shownRows.length)} are drawn.` : "";
  document.getElementById("frontier-caption").textContent = points.length
    ? `${points.length} designs on ${workloadName(filters.workload)}; ${kept.length} ` +
      `that no other beats on both axes ` +
      `are drawn in full, the others dimmed. Point at a design to read it, click to open it.` +
      `${equal ? " “+1” after a class: one more class lies at the same place." : ""}${left}`
    : "";
  drawFrontierList(kept, knee);
  await draw(
    "chart-frontier",
    "frontier",
    {
      width: wide,
      height: high,
      x_title: xAxis.title,
      y_title: yAxis.title,
      x_format: xAxis.format,
      y_format: yAxis.format,
      x_scale: tightScale(xLog),
      y_scale: tightScale(yLog),
      ...colourValues(colour),
    },
    shownRows,
    {
      tip: (datum) => (datum.row === undefined ? null : [...designTip(datum.row), ...alsoHere(datum.row, same)]),
      click: (datum) => datum.row !== undefined && choose(datum.row),
      description: `${my.title} against ${mx.title} of ${points.length} designs; the list below holds the frontier`,
    },
  );
}

/** Designs with the same values lie under each other: the tip names the others. */
function alsoHere(row, same) {
  const others = same(row).filter((p) => p.row !== row);
  if (!others.length) return [];
  const names = others.slice(0, 4).map((p) => `${designs.get("design_id", p.row)} (${designs.get("label", p.row)})`);
  return [["also here", `${names.join(", ")}${others.length > 4 ? `, ${others.length - 4} more` : ""}`]];
}

function drawFrontierList(kept, best) {
  const columns = [...new Set(["area_um2", frontier.x, frontier.y, ...figures()])];
  const words = kept.length ? designWords(kept[0].row).map(([what]) => what) : [];
  const header = [
    { title: "design" },
    ...words.map((title) => ({ title, mono: title === "class" })),
    ...columns.map((name) => ({ title: metric(name).title, number: true })),
  ];
  const knee = kept.length >= 3 ? best.row : null;
  const rows = kept.map(({ row }) => ({
    "data-row": row,
    "aria-current": row === chosen.row,
    cells: [
      element(
        "button",
        { type: "button", class: "link", "data-row": row, onclick: () => choose(row, true) },
        `${designs.get("design_id", row)}${row === knee ? " (knee)" : ""}`,
      ),
      ...designWords(row).map(([, value]) => value),
      ...columns.map((name) => shown(name, designs.get(name, row))),
    ],
  }));
  document.getElementById("frontier-list-title").textContent = `The frontier's ${kept.length} designs`;
  wholeTable(document.getElementById("frontier-list"), header, rows);
}
