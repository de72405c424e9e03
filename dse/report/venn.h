// SPDX-License-Identifier: Apache-2.0
// The sets of a flexion to scale: areas are in proportion to the numbers of choices.
#pragma once

#include <string>
#include <vector>

namespace pliant {

/// One drawing of C (what the resources allow), A (what the design can do) and W (what the layer has).
struct VennPanel {
  std::string title;  ///< "PartFlex-0100"
  double c = 1, a = 1, w = 1, a_and_w = 1, c_and_w = 1;
  double h_f = 1, w_f = 1;
};

/// Where the circles lie, in units of one panel's width; exposed for tests. A lies within C.
struct VennCircles {
  struct Circle {
    double x = 0, radius = 0;  ///< all centres are on one horizontal line
  };
  Circle c, a, w;
};
VennCircles venn_circles(const VennPanel& panel);
/// Area that two circles have in common, centres `distance` apart.
double overlap_area(double radius_1, double radius_2, double distance);

/// Panels side by side at one scale, with title and legend: a complete SVG document. `unit` names what is counted.
std::string venn_svg(const std::string& title, const std::string& unit, const std::vector<VennPanel>& panels);

}  // namespace pliant
