// SPDX-License-Identifier: Apache-2.0
// A chart as it stands, for papers and slides: picture, specification, points.

function save(name, type, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function csvOf(rows) {
  const columns = Object.keys(rows[0]);
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return (
    [columns, ...rows.map((row) => columns.map((column) => row[column]))]
      .map((line) => line.map(cell).join(","))
      .join("\n") + "\n"
  );
}

/** Buttons below a chart. */
function offerFiles(place, name, spec, rows, view) {
  const figure = place.closest("figure");
  const file = place.id.replace("chart-", "");
  const buttons = [
    ["SVG", async () => save(`${file}.svg`, "image/svg+xml", await view.toSVG())],
    ["CSV", () => save(`${file}.csv`, "text/csv", csvOf(rows))],
    [
      "Vega-Lite",
      () =>
        save(
          `${file}.vl.json`,
          "application/json",
          JSON.stringify(
            { ...spec, config: isDark() ? { ...chartConfig(), background: palette().paper } : report.theme },
            null,
            1,
          ),
        ),
    ],
  ].map(([words, make]) =>
    element(
      "button",
      { type: "button", class: "link", "data-save": words, onclick: make, "aria-label": `Save this chart as ${words}` },
      words,
    ),
  );
  figure.querySelector(".save")?.remove();
  figure.append(element("p", { class: "save quiet" }, "Save: ", ...buttons));
}
