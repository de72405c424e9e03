// SPDX-License-Identifier: Apache-2.0
// Where the numbers come from and how much of them is proven.

/** Rows whose figures are of whole networks, and how many of them are proven; rows of layers are counted by layer. */
function provenNetworks() {
  const all = [...Array(designs.stored).keys()],
    isKnown = (row) => (designs.get("certified", row) ?? null) !== null;
  const networks = all.filter((row) => designs.get("mapped_as", row) === "network" && isKnown(row));
  return {
    rows: networks.length,
    certified: networks.filter((row) => designs.get("certified", row)).length,
    gap: networks.reduce((most, row) => Math.max(most, designs.get("max_gap", row) ?? 0), 0),
    only: networks.length > 0 && all.every((row) => designs.get("mapped_as", row) === "network" || !isKnown(row)),
  };
}

function drawProvenance() {
  const p = report.provenance,
    c = report.certificates,
    networks = provenNetworks();
  const shareOf = (certified, all, what) =>
    all ? `${percent(certified / all)} (${plain(certified)} of ${plain(all)} ${what})` : "";
  const pairs = (rows) =>
    element(
      "table",
      { class: "pairs" },
      element(
        "tbody",
        {},
        ...rows
          .filter(([, v]) => v !== null && v !== undefined && v !== "")
          .map(([k, v]) => element("tr", {}, element("th", { scope: "row" }, k), element("td", {}, v))),
      ),
    );
  const parts = [
    element("h3", {}, "Certificates"),
    pairs([
      ["networks proven optimal", shareOf(networks.certified, networks.rows, "networks on a design")],
      ["their largest gap", networks.rows ? percent(networks.gap) : ""],
      [
        networks.only ? "their layers by themselves" : "layers proven optimal",
        shareOf(c.certified, c.solved, "layers that have a mapping") || "–",
      ],
      ["largest gap of a layer", c.max_gap > 0 ? `${percent(c.max_gap)} at ${c.max_gap_at}` : "0"],
      [
        "searches of layers ended by",
        Object.entries(c.ended_by)
          .map(([how, n]) => `${how || "?"}: ${plain(n)}`)
          .join(", "),
      ],
      [
        "layers by status",
        Object.entries(c.by_status)
          .map(([how, n]) => `${how}: ${plain(n)}`)
          .join(", "),
      ],
    ]),
  ];
  if (c.reasons.length) {
    parts.push(
      element("h3", {}, "Layers without a mapping"),
      element(
        "div",
        { class: "scroll" },
        table(
          [{ title: "status" }, { title: "why" }, { title: "layers", number: true }, { title: "for example" }],
          c.reasons.map((r) => ({ cells: [r.status, r.reason, plain(r.layers), r.example] })),
        ),
      ),
    );
    if (c.more_reasons)
      parts.push(
        element("p", { class: "quiet" }, "There are more reasons; the dataset's `reason` column has them all."),
      );
  }
  parts.push(
    element("h3", {}, "Sweep"),
    pairs([
      ["name", p.sweep],
      ["sha256", p.sweep_sha256],
      ["started", p.start],
      ["ended", p.end || (p.sweep ? "not ended when this report was made" : "")],
      [
        "designs",
        p.designs === undefined
          ? ""
          : `${plain(p.designs)} of ${plain(p.designs_raw)} in the full product of the axes meet the constraints`,
      ],
      ["varied", (p.axes ?? []).map(([key]) => key).join(", ")],
      ...(p.options ?? []).filter(([key]) => key !== "design_guesses"),
    ]),
  );
  if (p.inputs?.length) {
    parts.push(
      element("h3", {}, "Inputs"),
      element(
        "div",
        { class: "scroll" },
        table(
          [{ title: "what" }, { title: "name" }, { title: "sha256", mono: true }],
          p.inputs.map((cells) => ({ cells })),
        ),
      ),
    );
  }
  if (p.versions?.length) parts.push(element("h3", {}, "Versions"), pairs([...p.versions, ["report by", p.report_by]]));
  const left = [];
  if (p.parts_missing)
    left.push(`${p.parts_missing} of ${p.parts} parts of the dataset were not there: the sweep had not ended.`);
  if (p.over_limit)
    left.push(
      `${plain(p.over_limit)} rows whose results break a constraint of the sweep are left out; the dataset has them.`,
    );
  p.damaged.forEach((what) => left.push(`Left out as damaged: ${what}`));
  left.push(
    report.details.designs < designs.stored
      ? `Mappings and costs of layers are here for ${plain(report.details.designs)} of ${plain(designs.stored)} rows ` +
          `(${plain(report.details.layer_rows)} layers), those on frontiers first. ` +
          "The others are in the dataset; --layers N includes more."
      : `Mappings and costs of all ${plain(report.details.layer_rows)} layers of all designs are here.`,
  );
  left.push("Numbers are rounded to seven digits; the Parquet files have them all.");
  parts.push(
    element("h3", {}, "What this file holds"),
    element("ul", { id: "left-out" }, ...left.map((words) => element("li", {}, words))),
  );
  document.getElementById("provenance-body").replaceChildren(...parts);
}
