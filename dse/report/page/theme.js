// SPDX-License-Identifier: Apache-2.0
// Light and dark: the reader's system decides until the button is used.

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const theme = { wish: null };

function isDark() {
  return theme.wish === null ? dark.matches : theme.wish === "dark";
}
function palette() {
  return report.measures[isDark() ? "dark" : "light"];
}
function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
}
/** The charts' theme in the colours of the page. */
function chartConfig() {
  const { ink, quiet, paper, grid } = palette();
  const config = structuredClone(report.theme);
  config.background = "transparent";
  config.padding = 2;
  for (const part of ["axis", "legend", "header", "title"]) {
    Object.assign(config[part], { labelColor: ink, titleColor: ink, color: ink });
  }
  Object.assign(config.axis, { gridColor: grid, domainColor: quiet, tickColor: quiet, labelColor: quiet });
  config.view = { ...config.view, fill: paper };
  if (isNarrow())
    Object.assign(config.legend, {
      orient: "bottom",
      columns: 2,
      labelLimit: 130,
      gradientLength: 240,
      layout: { bottom: { direction: "vertical" } },
    });
  return config;
}

/** Dark blue and green do not show on a dark page. */
function onThisPage(colour) {
  return isDark() ? (report.measures.on_dark[colour] ?? colour) : colour;
}
