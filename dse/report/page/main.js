// SPDX-License-Identifier: Apache-2.0
// From the data in this file to the page.

let report = null;
let designs = null;

function drawHeader() {
  const p = report.provenance,
    c = report.certificates;
  document.getElementById("name").textContent = p.sweep ?? "Dataset";
  const workloads = workloadNames();
  document.getElementById("summary").textContent =
    `${workloads.length} workload${workloads.length > 1 ? "s" : ""}: ${workloads
      .slice(0, 8)
      .map((name) => shortName(name))
      .join(", ")}${workloads.length > 8 ? ", …" : ""}`;
  const best = (name) => {
    const values = (designs.columns.get(name) ?? []).filter((v) => v > 0);
    return values.length ? values.reduce((a, b) => Math.min(a, b)) : null;
  };
  const networks = provenNetworks();
  const [what, certified, mapped, gap] = networks.only
    ? ["networks mapped", networks.certified, networks.rows, networks.gap]
    : ["layers mapped", c.certified, c.solved, c.max_gap];
  const tiles = [
    ["designs", plain(designs.distinct("design_id").length)],
    [what, plain(mapped)],
    ["proven optimal", mapped ? percent(certified / mapped) : "–"],
    ["largest gap", percent(gap)],
  ];
  const audited = (p.options ?? []).find(([option]) => option === "audited");
  if (audited) tiles.push(["audit, by code of its own", audited[1]]);
  const gain = best("rel_runtime");
  if (gain !== null) tiles.push(["most that flexibility gains against class 0000", `runtime ÷ ${plain(1 / gain, 3)}`]);
  if (c.layers > c.solved) tiles.push(["layers without a mapping", plain(c.layers - c.solved)]);
  document
    .getElementById("tiles")
    .replaceChildren(
      ...tiles.map(([what, value]) => element("div", {}, element("dt", {}, what), element("dd", {}, value))),
    );
}

/** The knee of the frontier, or any design of the workload. */
function chooseFirst() {
  const all = filtered({ labels: false });
  chosen.row = recommended()?.knee.row ?? all[0] ?? null;
  chosen.layer = null;
  chosen.scope = "all";
}

/** A link to a section must not put its heading under the bar of filters, which stays on top. */
function keepHeadingsVisible() {
  const bar = document.getElementById("filter-box");
  const measure = () => {
    const covers = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
    document.documentElement.style.scrollPaddingTop = `${covers + 12}px`;
  };
  new ResizeObserver(measure).observe(bar);
  window.addEventListener("resize", measure);
  measure();
}

/** How far the page is, and since when. */
function ready(state) {
  document.documentElement.dataset.ready = state;
  performance.mark(state);
}

async function redraw() {
  if (chosen.row !== null) chosen.row = rowOn(designs.get("design_id", chosen.row), filters.workload) ?? null;
  drawTogetherControls(redraw);
  drawFrontierControls();
  if (chosen.row === null) chooseFirst();
  await drawRecommendation();
  drawCard();
  await drawFrontier();
  ready("frontier");
  drawLosses();
  await drawSpace();
  drawVenn();
  await drawDesign();
  await drawCompare();
  await drawFlexibility();
  await drawHardware();
  await drawServing();
  ready("all");
}

async function start() {
  if (typeof DecompressionStream === "undefined")
    throw new Error(
      "this browser is too old: it cannot unpack the data (Chrome 111, Firefox 113, Safari 16.4 or newer can)",
    );
  report = await unpack("data-designs");
  designs = new Designs(report.designs);
  addTogether();
  openOnGoals();
  applyTheme();
  drawHeader();
  drawFilters(redraw);
  document.getElementById("filter-box").open = !isNarrow();
  keepHeadingsVisible();
  drawFlexibilityControls();
  drawHardwareControls();
  drawDesignNumber();
  drawProvenance();
  document
    .querySelectorAll("form")
    .forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
  const themed = (wish) => {
    theme.wish = wish;
    applyTheme();
    return redraw();
  };
  document.getElementById("theme").addEventListener("click", () => themed(isDark() ? "light" : "dark"));
  dark.addEventListener("change", () => theme.wish === null && themed(null));
  document.getElementById("print").addEventListener("click", async () => {
    const before = theme.wish;
    await themed("light");
    window.print();
    await themed(before);
  });
  let waiting = 0,
    wide = document.documentElement.clientWidth;
  window.addEventListener("resize", () => {
    if (document.documentElement.clientWidth === wide) return;
    wide = document.documentElement.clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 200);
  });
  await redraw();
  details = new Details(await unpack("data-details"));
  await drawRecommendation();
  await drawDesign();
  await drawCompare();
  ready("details");
}

start().catch((problem) => {
  const place = document.getElementById("failure");
  place.hidden = false;
  place.textContent = `The report cannot be shown: ${problem.message}`;
  console.error(problem);
});
