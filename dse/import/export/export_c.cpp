// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/input/source_text.h"
#include "dse/import/export/export.h"

namespace pliant {
namespace {

/// Writes the nest outermost first. A loop's variable counts tiles; a dim's index is the sum of variable * tile.
class CWriter {
 public:
  explicit CWriter(const MappedLayer& mapped) : mapped_(mapped), terms_(mapped.layer.dims.size()) {
    tiles_.assign(mapped.layer.dims.size(), 1);
    for (const LevelMapping& level : mapped.mapping.levels) {
      for (const Loop& loop : level.temporal) tile(loop.dim) *= loop.bound;
      for (const SpatialLoop& loop : level.spatial) tile(loop.dim) *= loop.bound;
    }
  }

  std::string write() {
    const Layer& layer = mapped_.layer;
    text_ = fmt::format("// {} on {}\n", layer.name, mapped_.accelerator.name);
    for (std::size_t k = 0; k < mapped_.accelerator.levels.size(); ++k) {
      const Level& level = mapped_.accelerator.levels[k];
      const LevelMapping& own = mapped_.mapping.levels[k];
      if (level.is_memory()) {
        std::vector<std::string> kept;
        for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
          if ((own.keeps >> x & 1U) != 0) kept.push_back(layer.tensors[x].name);
        }
        line(fmt::format("// {} keeps {}", level.name, kept.empty() ? "nothing" : join(kept)));
      }
      for (const Loop& loop : own.temporal) open(loop.dim, loop.bound, "");
      for (const SpatialLoop& loop : own.spatial) {
        open(loop.dim, loop.bound,
             fmt::format("  // parallel: {} of {}", loop.side == Side::kRows ? "rows" : "columns", level.name));
      }
    }
    body();
    return text_;
  }

 private:
  Count& tile(int dim) { return tiles_[static_cast<std::size_t>(dim)]; }
  void line(const std::string& text) { text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + text + "\n"; }

  void open(int dim, Count bound, const std::string& remark) {
    if (bound == 1) return;
    tile(dim) /= bound;
    std::vector<std::string>& terms = terms_[static_cast<std::size_t>(dim)];
    const std::string name = fmt::format("{}{}", mapped_.layer.dims[static_cast<std::size_t>(dim)].name, terms.size());
    line(fmt::format("for (long {0} = 0; {0} < {1}; ++{0}){2}", name, bound, remark));
    terms.push_back(tile(dim) == 1 ? name : fmt::format("{} * {}", name, tile(dim)));
    ++depth_;
  }

  /// The indices, a guard for dims whose last tiles are short, and the multiply-accumulate.
  void body() {
    const Layer& layer = mapped_.layer;
    line("{");
    ++depth_;
    std::vector<std::string> guards;
    for (std::size_t d = 0; d < layer.dims.size(); ++d) {
      const Dim& dim = layer.dims[d];
      line(fmt::format("const long {} = {};", dim.name, terms_[d].empty() ? "0" : join(terms_[d], " + ")));
      if (covered(d) > dim.size) guards.push_back(fmt::format("{} < {}", dim.name, dim.size));
    }
    std::vector<std::string> factors;
    for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
      if (!layer.tensors[x].is_output()) factors.push_back(element(layer.tensors[x]));
    }
    const std::string guard = guards.empty() ? "" : fmt::format("if ({}) ", join(guards, " && "));
    line(fmt::format("{}{} += {};", guard, element(layer.tensors[static_cast<std::size_t>(layer.output())]),
                     join(factors, " * ")));
    --depth_;
    line("}");
  }

  Count covered(std::size_t d) const {
    Count product = 1;
    for (const LevelMapping& level : mapped_.mapping.levels) {
      for (const Loop& loop : level.temporal) product *= loop.dim == static_cast<int>(d) ? loop.bound : 1;
      for (const SpatialLoop& loop : level.spatial) product *= loop.dim == static_cast<int>(d) ? loop.bound : 1;
    }
    return product;
  }

  std::string element(const Tensor& tensor) const {
    std::string text = tensor.name;
    for (const Rank& rank : tensor.ranks) {
      std::vector<std::string> terms;
      for (const Term& term : rank.terms) {
        const std::string& name = mapped_.layer.dims[static_cast<std::size_t>(term.dim)].name;
        terms.push_back(term.coefficient == 1 ? name : fmt::format("{} * {}", term.coefficient, name));
      }
      text += fmt::format("[{}]", join(terms, " + "));
    }
    return text;
  }

  const MappedLayer& mapped_;
  std::vector<Count> tiles_;                     ///< by dim: the tile inside the loops written so far
  std::vector<std::vector<std::string>> terms_;  ///< by dim: what its index is the sum of
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::vector<WrittenFile> export_c(const MappedLayer& mapped) { return {{"mapping.c", CWriter(mapped).write()}}; }

}  // namespace pliant
