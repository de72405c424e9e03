// SPDX-License-Identifier: Apache-2.0
#include "dse/report/venn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dse/report/markup.h"

namespace pliant {

namespace {

// Okabe and Ito's colours: told apart by colour-blind readers and in print.
constexpr const char* kBlue = "#0072B2";
constexpr const char* kOrange = "#E69F00";
constexpr const char* kGreen = "#009E73";
constexpr const char* kRed = "#D55E00";
constexpr const char* kLetters = "#222222";
constexpr const char* kGrey = "#666666";

constexpr double kPanel = 250, kGap = 24, kMargin = 28, kHead = 92, kDrawing = 214, kLegend = 128;
constexpr double kSmallest = 2.2;  ///< radius of a set that would be too small to see

double radius_of(double area) { return std::sqrt(area / std::numbers::pi); }

/// The distance at which two circles have that area in common.
double distance_for(double radius_1, double radius_2, double area) {
  double near = std::abs(radius_1 - radius_2), far = radius_1 + radius_2;
  for (int i = 0; i < 80; ++i) {
    const double middle = (near + far) / 2;
    (overlap_area(radius_1, radius_2, middle) > area ? near : far) = middle;
  }
  return (near + far) / 2;
}

/// 720, 30.5, 1.79e14.
std::string readable(double value) {
  if (value >= 1e7) {
    const int exponent = static_cast<int>(std::floor(std::log10(value)));
    return fmt::format("{:.2f}&#215;10<tspan dy=\"-4\" font-size=\"9\">{}</tspan>", value / std::pow(10, exponent),
                       exponent);
  }
  if (std::abs(value - std::round(value)) < 1e-6 || value >= 1000) {
    std::string digits = fmt::format("{:.0f}", value);
    for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3)
      digits.insert(static_cast<std::size_t>(i), "&#8201;");
    return digits;
  }
  return fmt::format("{:.1f}", value);
}

std::string share(double value) {
  if (value == 1) return "1";
  if (value >= 0.0005) return fmt::format("{:.4f}", value);
  return fmt::format("{:.1e}", value);
}

std::string circle(double x, double y, double r, const std::string& style) {
  return fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" {}/>\n", x, y, r, style);
}

std::string text(double x, double y, const std::string& style, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, words);
}

struct Extent {
  double left, right, tallest;
};

Extent extent_of(const VennCircles& circles) {
  Extent extent{1e300, -1e300, 0};
  for (const auto& one : {circles.c, circles.a, circles.w}) {
    extent.left = std::min(extent.left, one.x - one.radius);
    extent.right = std::max(extent.right, one.x + one.radius);
    extent.tallest = std::max(extent.tallest, one.radius);
  }
  return extent;
}

std::string draw_panel(const VennPanel& panel, double left, double scale, std::size_t number) {
  const VennCircles circles = venn_circles(panel);
  const Extent extent = extent_of(circles);
  const double y = kHead + kDrawing / 2;
  const double centre = left + kPanel / 2 - scale * (extent.left + extent.right) / 2;
  const auto at = [&](const VennCircles::Circle& one) { return centre + scale * one.x; };
  const auto size = [&](const VennCircles::Circle& one) { return scale * one.radius; };
  const bool tiny = size(circles.a) < kSmallest;
  const double a_radius = std::max(size(circles.a), kSmallest);
  const double w_radius = std::max(size(circles.w), kSmallest);
  const double c_radius = std::max(size(circles.c), kSmallest);

  std::string svg =
      fmt::format("<g>\n<clipPath id=\"w{}\">{}</clipPath>\n", number,
                  fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\"/>", at(circles.w), y, w_radius));
  svg += text(left + kPanel / 2, kHead - 14, fmt::format("class=\"name\" fill=\"{}\"", kLetters),
              markup_text(panel.title));
  svg += circle(at(circles.c), y, c_radius, fmt::format("fill=\"{0}\" fill-opacity=\"0.14\"", kBlue));
  svg += circle(at(circles.w), y, w_radius, fmt::format("fill=\"{0}\" fill-opacity=\"0.30\"", kOrange));
  svg += circle(at(circles.a), y, a_radius, fmt::format("fill=\"{0}\" fill-opacity=\"0.55\"", kGreen));
  svg += circle(at(circles.a), y, a_radius, fmt::format("fill=\"{0}\" clip-path=\"url(#w{1})\"", kRed, number));
  svg += circle(at(circles.c), y, c_radius, fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"", kBlue));
  svg += circle(at(circles.w), y, w_radius,
                fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-dasharray=\"6 3\"", kOrange));
  if (!tiny)
    svg += circle(at(circles.a), y, a_radius, fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.4\"", kGreen));

  const double top = kHead + kDrawing + 16;
  struct Row {
    const char *colour, *opacity, *label;
    double value;
  };
  const Row rows[] = {{kBlue, "0.30", "C, the class", panel.c},
                      {kOrange, "0.55", "W, the workload", panel.w},
                      {kGreen, "0.80", "A, this design", panel.a},
                      {kRed, "1", "A &#8745; W, feasible", panel.a_and_w}};
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const double line = top + 18 * static_cast<double>(i);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" rx=\"2\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
        left + 22, line - 9.5, rows[i].colour, rows[i].opacity);
    svg += text(left + 40, line, fmt::format("class=\"key\" fill=\"{}\"", kLetters), rows[i].label);
    svg += text(left + kPanel - 22, line, fmt::format("class=\"key\" text-anchor=\"end\" fill=\"{}\"", kLetters),
                readable(rows[i].value));
  }
  const double line = top + 18 * 4 + 8;
  svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#cccccc\"/>\n",
                     left + 22, left + kPanel - 22, line - 15);
  svg += text(left + 22, line + 2, fmt::format("class=\"flexion\" fill=\"{}\"", kLetters), "H-F " + share(panel.h_f));
  svg += text(left + kPanel - 22, line + 2, fmt::format("class=\"flexion\" text-anchor=\"end\" fill=\"{}\"", kLetters),
              "W-F " + share(panel.w_f));
  if (tiny)
    svg += text(left + kPanel / 2, kHead + kDrawing - 4, fmt::format("class=\"note\" fill=\"{}\"", kGrey),
                "A is drawn larger than it is");
  return svg + "</g>\n";
}

}  // namespace

double overlap_area(double radius_1, double radius_2, double distance) {
  const double small = std::min(radius_1, radius_2), large = std::max(radius_1, radius_2);
  if (distance >= small + large) return 0;
  if (distance <= large - small) return std::numbers::pi * small * small;
  const double to_chord = (distance * distance + large * large - small * small) / (2 * distance);
  const auto segment = [](double radius, double height) {
    const double cosine = std::clamp(height / radius, -1.0, 1.0);
    return radius * radius * std::acos(cosine) - height * std::sqrt(std::max(0.0, radius * radius - height * height));
  };
  return segment(large, to_chord) + segment(small, distance - to_chord);
}

VennCircles venn_circles(const VennPanel& panel) {
  VennCircles circles;
  circles.c.radius = radius_of(panel.c);
  circles.w.radius = radius_of(panel.w);
  circles.a.radius = std::min(radius_of(panel.a), circles.c.radius);
  // W to the right of C, as far as their common part says.
  circles.w.x = distance_for(circles.c.radius, circles.w.radius, std::min({panel.c_and_w, panel.c, panel.w}));
  // One wholly inside the other need not touch it.
  if (panel.c_and_w >= std::min(panel.c, panel.w) * (1 - 1e-9)) circles.w.x *= 0.8;
  // A within C, between its left and its right edge: the further right, the more of W.
  const double room = circles.c.radius - circles.a.radius;
  const auto common = [&](double x) {
    return overlap_area(circles.a.radius, circles.w.radius, std::abs(circles.w.x - x));
  };
  double left = -room, right = std::min(room, circles.w.x);
  right = std::max(left, right);
  for (int i = 0; i < 80; ++i) {
    const double middle = (left + right) / 2;
    (common(middle) < panel.a_and_w * (1 - 1e-9) ? left : right) = middle;
  }
  circles.a.x = right;
  // Where all of A is feasible, it has room to spare: in the middle of it.
  const double within = circles.w.radius - circles.a.radius;
  const double from = std::max(-room, circles.w.x - within), to = std::min(room, circles.w.x + within);
  if (panel.a_and_w >= panel.a * (1 - 1e-6) && within >= 0 && from <= to) circles.a.x = (from + to) / 2;
  return circles;
}

std::string venn_svg(const std::string& title, const std::string& unit, const std::vector<VennPanel>& panels) {
  const auto count = static_cast<double>(panels.size());
  const double width = 2 * kMargin + count * kPanel + (count - 1) * kGap;
  const double height = kHead + kDrawing + kLegend;
  double scale = 1e300;
  for (const VennPanel& panel : panels) {
    const Extent extent = extent_of(venn_circles(panel));
    scale = std::min({scale, (kPanel - 16) / (extent.right - extent.left), (kDrawing - 16) / (2 * extent.tallest)});
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\" aria-label=\"{2}\">\n"
      "<style>text{{font-family:Helvetica,Arial,sans-serif;font-size:12.5px}} .title{{font-size:16px;font-weight:600}} "
      ".sub{{font-size:12px}} .name{{font-size:13.5px;font-weight:600;text-anchor:middle}} "
      ".flexion{{font-size:13.5px;font-weight:600}} "
      ".note{{font-size:11px;font-style:italic;text-anchor:middle}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height, markup_text(title));
  svg += text(kMargin + 4, 28, fmt::format("class=\"title\" fill=\"{}\"", kLetters), markup_text(title));
  svg += text(kMargin + 4, 46, fmt::format("class=\"sub\" fill=\"{}\"", kGrey),
              fmt::format("All panels at one scale; areas are numbers of {}.", unit));
  for (std::size_t i = 0; i < panels.size(); ++i)
    svg += draw_panel(panels[i], kMargin + static_cast<double>(i) * (kPanel + kGap), scale, i);
  return svg + "</svg>\n";
}

}  // namespace pliant
