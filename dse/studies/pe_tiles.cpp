// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/pe_tiles.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/input/source_text.h"
#include "dse/studies/study_csv.h"

namespace pliant {
namespace {

constexpr std::string_view kLetters = "KCYXRS";
constexpr std::size_t kK = 0, kC = 1, kY = 2, kX = 3, kR = 4, kS = 5;
constexpr Count kAllPes = 1024;

Count whole(const StudyCsvRow& row, std::size_t field) {
  const Count value = std::atoll(row.text(field).c_str());
  if (value < 1) row.fail(field, "not a size", "1 or more");
  return value;
}

std::size_t dim_of(const StudyCsvRow& row, std::size_t field) {
  const std::size_t at = row.text(field).size() == 1 ? kLetters.find(row.text(field)) : std::string_view::npos;
  if (at == std::string_view::npos) row.fail(field, "not a dim", "K, C, Y, X, R or S");
  return at;
}

}  // namespace

Count fullest_unit(Count size, Count tile, Count units) {
  tile = std::min(tile, size);
  return size / (tile * units) * tile + std::min(tile, size % (tile * units));
}

double cycles_of(const std::array<Count, 6>& size, const PeTiles& tiles, bool depthwise) {
  const auto stands = [&](std::size_t dim) { return depthwise && dim == kK ? kC : dim; };
  const std::size_t clusters_over = stands(tiles.clusters_over), pes_over = stands(tiles.pes_over);
  double product = 1;
  for (std::size_t d = 0; d < size.size(); ++d) {
    const Count clusters = clusters_over == d ? tiles.clusters : 1, outer = std::min(tiles.outer[d], size[d]);
    const auto inside = [&](Count extent) {
      return pes_over == d ? fullest_unit(extent, tiles.inner[d], tiles.pes) : extent;
    };
    const Count steps = size[d] / (outer * clusters), rest = size[d] % (outer * clusters);
    product *= static_cast<double>(steps * inside(outer) + (rest > 0 ? inside(std::min(outer, rest)) : 0));
  }
  return product;
}

double macs_of(const std::array<Count, 6>& size) {
  double product = 1;
  for (const Count one : size) product *= static_cast<double>(one);
  return product;
}

std::vector<GammaRun> read_gamma_runs(const Library& library) {
  const std::filesystem::path file = library.configs() / "studies" / "gamma_runs.csv";
  std::vector<GammaRun> runs;
  for (const StudyCsvRow& row : read_study_csv(
           read_source(file), file.string(),
           {"layer",   "operation",     "K",        "C",       "Y",       "X",       "R",       "S",       "reported",
            "closed",  "clusters_over", "pes_over", "cluster", "outer_K", "outer_C", "outer_Y", "outer_X", "outer_R",
            "outer_S", "inner_K",       "inner_C",  "inner_Y", "inner_X", "inner_R", "inner_S"})) {
    GammaRun run;
    run.layer = row.text(0);
    run.depthwise = row.text(1) == "depthwise";
    for (std::size_t d = 0; d < 6; ++d) {
      run.inputs[d] = whole(row, 2 + d);
      run.mapping.outer[d] = whole(row, 13 + d);
      run.mapping.inner[d] = whole(row, 19 + d);
    }
    run.outputs = run.inputs;
    run.outputs[kY] -= run.inputs[kR] - 1;
    run.outputs[kX] -= run.inputs[kS] - 1;
    run.reported = static_cast<double>(whole(row, 8));
    run.closed = row.text(9).empty() ? 0 : static_cast<double>(whole(row, 9));
    run.mapping.clusters_over = dim_of(row, 10);
    run.mapping.pes_over = dim_of(row, 11);
    run.mapping.pes = whole(row, 12);
    run.mapping.clusters = kAllPes / run.mapping.pes;
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace pliant
