// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/inflexible_accelerator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dse/results/atomic_file.h"
#include "dse/studies/inflexible_cost.h"

namespace pliant {
namespace {

/// What a dim of the convolution is called in another operation; empty where it has none.
using DimNames = std::array<const char*, 6>;
constexpr DimNames kConv = {"M", "C", "P", "Q", "R", "S"};
constexpr DimNames kGemm = {"N", "K", "M", "", "", ""};  // a convolution with P = M, M = N, C = K
/// A depthwise layer has no M. It is named all the same: a rule without it would count as one that leaves M free.
constexpr DimNames kDepthwise = {"M", "C", "P", "Q", "R", "S"};
constexpr DimNames kPaper = {"K", "C", "Y", "X", "R", "S"};

std::string order_text(const InflexibleDesign& design, const DimNames& names) {
  std::vector<std::string> order;
  for (const int dim : design.order)
    if (const std::string name = names[static_cast<std::size_t>(dim)]; !name.empty()) order.push_back(name);
  return fmt::format("[[{}]]", fmt::join(order, ", "));
}

/// Rules of one operation, `indent` deep. A depthwise layer's C takes the tile and the place of M.
std::string rules(const InflexibleDesign& design, const DimNames& names, bool depthwise, const std::string& indent) {
  const auto size = [&](std::size_t d) -> Count {
    if (!depthwise) return design.tile[d];
    return d == kM ? 1 : design.tile[d == kC ? std::size_t{kM} : d];
  };
  std::vector<std::string> tile;
  for (std::size_t d = 0; d < names.size(); ++d)
    if (const std::string name = names[d]; !name.empty()) tile.push_back(fmt::format("{}: {}", name, size(d)));
  const auto side = [&](std::size_t dim) { return std::string(names[depthwise && dim == kM ? std::size_t{kC} : dim]); };
  const std::string order = order_text(design, names);
  return fmt::format(
      "{0}tiles: {{Buffer: {{fixed: {{{1}}}}}}}\n{0}orders: {{DRAM: {2}, Buffer: {2}}}\n"
      "{0}parallel: {{PEs: {{rows: [{3}], cols: [{4}]}}}}\n",
      indent, fmt::join(tile, ", "), order, side(design.row_dim), side(design.col_dim));
}

}  // namespace

std::filesystem::path write_accelerator(const StudyContext& context, const InflexibleDesign& design,
                                        const std::string& name) {
  const std::filesystem::path file = std::filesystem::absolute(context.folder / (name + ".yaml"));
  const std::string text = fmt::format(
      "# Made by `pliant study`: the best inflexible design found, proven.\ninclude: flexref\nname: {}\n"
      "description: flexref with the baseline {}\nparameters:\n  rows: {}\n  cols: {}\nbaseline:\n{}"
      "  shape: {{PEs: fixed}}\n  gemm:\n{}  depthwise:\n{}",
      name, describe(design), design.rows, design.cols, rules(design, kConv, false, "  "),
      rules(design, kGemm, false, "    "), rules(design, kDepthwise, true, "    "));
  write_atomically(file, text);
  return file;
}

std::string describe(const InflexibleDesign& design) {
  std::string tile;
  for (std::size_t d = 0; d < kPaper.size(); ++d) tile += fmt::format(" {}{}", kPaper[d], design.tile[d]);
  return fmt::format("{} over {} rows and {} over {} columns with tile{}", kPaper[design.row_dim], design.rows,
                     kPaper[design.col_dim], design.cols, tile);
}

}  // namespace pliant
