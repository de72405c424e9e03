// SPDX-License-Identifier: Apache-2.0
// Of language models that are served: what a user sees against what the machine gives, and what a token costs. Every
// batch is a workload of its own, so this view shows all of them, whatever the filter of workloads says.

/** What the names of workloads begin with alike, whole words of them: the rest tells batches apart. */
function commonStart(names) {
  let start = names.length > 1 ? names[0] : "";
  for (const name of names) while (!name.startsWith(start)) start = start.slice(0, -1);
  return start.slice(0, start.lastIndexOf("_") + 1);
}

function servedRows() {
  if (!designs.has("ttft_s")) return [];
  return filtered({ workload: false })
    .filter((row) => designs.get("tpot_s", row) > 0)
    .map((row) => ({
      row,
      design: designs.get("design_id", row),
      workload: designs.get("workload", row),
      label: designs.get("label", row),
      user: 1 / designs.get("tpot_s", row),
      tokens: designs.get("served_tokens_per_s", row),
      joule: designs.get("tokens_per_j", row),
      ttft: designs.get("ttft_s", row),
      gap: designs.get("serving_gap", row),
    }));
}

async function drawServing() {
  const all = servedRows();
  const start = commonStart([...new Set(all.map((one) => one.workload))]);
  // A line joins the batches of a design, and of one way to divide the model among chips.
  const rows = thinned(
    all.map((one) => ({
      ...one,
      load: one.workload.slice(start.length),
      sequences: Number(/_batch(\d+)/.exec(one.workload)?.[1] ?? 1),
      way: one.workload.replace(/_batch\d+/, ""),
    })),
  );
  const section = document.getElementById("serving");
  section.hidden = rows.length === 0;
  if (section.hidden) return;
  const widest = rows.reduce((most, one) => Math.max(most, one.gap), 0);
  document.getElementById("serving-note").textContent =
    `${start ? `${start.slice(0, -1)}: ` : ""}${rows.length} points, one for each design and batch; a line joins the ` +
    `batches of a design. Times (or energies, where those are the objective) are within ${percent(widest)} of what ` +
    "is proven to be the least.";
  const figures = (one) => [
    ["design", `${one.design}, ${one.label}`],
    ["served", shortName(one.workload)],
    ["time to first token", shown("ttft_s", one.ttft)],
    ["tokens/s a user", plain(one.user, 4)],
    ["tokens/s", plain(one.tokens, 4)],
    ["tokens/J", plain(one.joule, 4)],
  ];
  const tip = (one) => (one.line ? null : figures(one));
  const click = (one) => choose(one.row);
  const values = (x, xTitle, y, yTitle, id) => ({
    width: plotWidth(id, 70, 150),
    x,
    x_title: xTitle,
    y,
    y_title: yTitle,
    x_scale: tightScale(true),
    y_scale: tightScale(true),
    colours: report.measures.colours,
  });
  await draw(
    "chart-serving-users",
    "serving",
    values("user", "tokens per second a user", "tokens", "tokens per second", "chart-serving-users"),
    rows,
    { tip, click },
  );
  await draw(
    "chart-serving-joules",
    "serving",
    values("tokens", "tokens per second", "joule", "tokens per joule", "chart-serving-joules"),
    rows,
    { tip, click },
  );
}
