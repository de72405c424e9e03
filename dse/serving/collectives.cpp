// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/collectives.h"

#include <algorithm>
#include <cmath>

namespace pliant::serving {

namespace {

/// Sides of a mesh as square as can be.
Count mesh_rows(Count chips) {
  auto rows = static_cast<Count>(std::sqrt(static_cast<double>(chips)));
  while (chips % rows != 0) --rows;
  return rows;
}

/// Links on the way between the two chips that are furthest apart.
double furthest(const Links& links, Count chips) {
  if (links.topology == Links::Topology::kRing) return std::floor(static_cast<double>(chips) / 2);
  if (links.topology == Links::Topology::kSwitch) return 1;
  const Count rows = mesh_rows(chips);
  return static_cast<double>(rows - 1 + chips / rows - 1);
}

/// The share of what a chip sends at once that the chip with the fewest links has: a corner of a mesh has two of four.
double fewest_links(const Links& links, Count chips) {
  if (links.topology != Links::Topology::kMesh) return 1;
  return mesh_rows(chips) == 1 ? 0.25 : 0.5;
}

/// What passes the middle of the chips in one direction at once, in links of one chip's rate.
double middle(const Links& links, Count chips) {
  const double n = static_cast<double>(chips);
  if (links.topology == Links::Topology::kSwitch) return n / 2;
  // A ring's chip has half of its rate to each side, and the middle of a ring is cut twice.
  if (links.topology == Links::Topology::kRing) return 1;
  return static_cast<double>(mesh_rows(chips)) / 4;
}

}  // namespace

Sent collective(const Links& links, Collective what, double bytes, Count chips) {
  if (chips <= 1 || bytes <= 0) return {};
  const double n = static_cast<double>(chips), rate = links.gb_per_s * 1e9, share = (n - 1) / n;
  const double own = rate * fewest_links(links, chips);
  const double away = furthest(links, chips) * links.us * 1e-6;
  Sent sent;
  double moved = 0;  // bytes over links, all chips together
  switch (what) {
    case Collective::kAllReduce:
      // Every chip sends its part of all others' sums, and then its own sum to all others; where the switch adds, every
      // chip sends all it has once.
      sent.seconds = (links.sums ? bytes / own : 2 * bytes * share / own) + 2 * away;
      moved = links.sums ? bytes * n : 2 * bytes * (n - 1);
      break;
    case Collective::kAllGather:
      sent.seconds = bytes * share / own + away;
      moved = bytes * (n - 1);
      break;
    case Collective::kAllToAll: {
      // A quarter of all words crosses the middle in each direction.
      const double across = bytes * n / 4 / (middle(links, chips) * rate);
      sent.seconds = std::max(bytes * share / own, across) + away;
      moved = bytes * (n - 1);
      break;
    }
    case Collective::kSend:
      sent.seconds = bytes / rate + links.us * 1e-6;
      moved = bytes;
      break;
  }
  sent.energy_pj = moved * 8 * links.pj_per_bit;
  return sent;
}

}  // namespace pliant::serving
