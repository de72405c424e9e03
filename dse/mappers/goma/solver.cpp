// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/goma/solver.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/arithmetic.h"
#include "flex/mapspace/factors.h"

namespace pliant {
namespace {

/// What of walking axes and bypass an axis' part of the energy depends on.
struct AxisChoice {
  bool walks_dram = false, walks_sram = false, in_sram = false, in_regfile = false;
  std::size_t index() const { return std::size_t{walks_dram} + 2U * walks_sram + 4U * in_sram + 8U * in_regfile; }
};

struct SramTile {
  Count tile;
  double energy;
};

/// A spatial factor and a register tile of one axis, with all SRAM tiles they allow.
struct AxisOption {
  Count spatial = 1, regfile = 1;
  double least = kInfinity;
  std::vector<SramTile> sram;
};

/// The part of one axis in the closed form: the whole with the other two axes' projections taken out.
double axis_energy(const GomaProblem& problem, std::size_t axis, const AxisChoice& choice, Count spatial, Count regfile,
                   Count sram) {
  GomaMapping m;
  for (std::size_t d = 0; d < 3; ++d)
    for (auto& level : m.tile) level[d] = static_cast<double>(problem.size[d]);
  m.tile[1][axis] = static_cast<double>(sram);
  m.tile[2][axis] = static_cast<double>(spatial * regfile);
  m.tile[3][axis] = static_cast<double>(regfile);
  m.in_sram[axis] = choice.in_sram;
  m.in_regfile[axis] = choice.in_regfile;
  const std::size_t other = (axis + 1) % 3;  // a walking axis elsewhere leaves this axis alone
  m.walking = {static_cast<int>(choice.walks_dram ? axis : other), static_cast<int>(choice.walks_sram ? axis : other)};
  return goma_axis_energy(m, static_cast<int>(axis), problem.energies, as_published(m));
}

class Solver {
 public:
  explicit Solver(const GomaProblem& problem) : problem_(problem) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t bits = 0; bits < 16; ++bits)
        tables_[axis][bits] =
            options_of(axis, {(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, (bits & 8U) != 0});
  }

  std::optional<GomaOptimum> run() {
    best_.energy_pj = kInfinity;
    for (int walking = 0; walking < 9; ++walking)
      for (unsigned bypass = 0; bypass < 64; ++bypass) solve({walking % 3, walking / 3}, bypass);
    if (best_.energy_pj == kInfinity) return std::nullopt;
    return best_;
  }

 private:
  std::vector<AxisOption> options_of(std::size_t axis, const AxisChoice& choice) const {
    std::vector<AxisOption> options;
    const Count size = problem_.size[axis];
    for (const Count spatial : divisors(size)) {
      if (problem_.units % spatial != 0) continue;
      for (const Count regfile : divisors(size / spatial)) {
        AxisOption option{spatial, regfile, kInfinity, {}};
        for (const Count factor : divisors(size / spatial / regfile)) {
          const Count sram = spatial * regfile * factor;
          option.sram.push_back({sram, axis_energy(problem_, axis, choice, spatial, regfile, sram)});
          option.least = std::min(option.least, option.sram.back().energy);
        }
        options.push_back(std::move(option));
      }
    }
    std::ranges::stable_sort(options, {}, &AxisOption::least);
    return options;
  }

  void solve(std::array<int, 2> walking, unsigned bypass) {
    GomaMapping m;
    m.walking = walking;
    std::array<const std::vector<AxisOption>*, 3> options{};
    for (std::size_t d = 0; d < 3; ++d) {
      m.in_sram[d] = (bypass >> d & 1U) != 0;
      m.in_regfile[d] = (bypass >> (d + 3) & 1U) != 0;
      if ((!m.in_sram[d] && !problem_.sram_may_bypass[d]) || (!m.in_regfile[d] && !problem_.regfile_may_bypass[d]))
        return;
      const AxisChoice choice{walking[0] == static_cast<int>(d), walking[1] == static_cast<int>(d), m.in_sram[d],
                              m.in_regfile[d]};
      options[d] = &tables_[d][choice.index()];
      if (options[d]->empty()) return;
    }
    const double macs = static_cast<double>(problem_.size[0]) * static_cast<double>(problem_.size[1]) *
                        static_cast<double>(problem_.size[2]) * problem_.energies.mac;
    const double least_y = options[1]->front().least, least_z = options[2]->front().least;
    for (const AxisOption& x : *options[0]) {
      if (macs + x.least + least_y + least_z >= best_.energy_pj) break;
      for (const AxisOption& y : *options[1]) {
        if (macs + x.least + y.least + least_z >= best_.energy_pj) break;
        if (problem_.units % (x.spatial * y.spatial) != 0) continue;
        for (const AxisOption& z : *options[2]) {
          if (macs + x.least + y.least + z.least >= best_.energy_pj) break;
          if (x.spatial * y.spatial * z.spatial != problem_.units) continue;
          ++best_.combinations;
          if (fits(m.in_regfile, {x.regfile, y.regfile, z.regfile}, problem_.regfile_words))
            choose_sram(m, {&x, &y, &z}, macs);
        }
      }
    }
  }

  /// The projection with normal d covers the tile's other two axes.
  static bool fits(const std::array<bool, 3>& kept, const std::array<Count, 3>& tile, double words) {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d)
      if (kept[d]) sum += static_cast<double>(tile[(d + 1) % 3]) * static_cast<double>(tile[(d + 2) % 3]);
    return sum <= words;
  }

  void choose_sram(const GomaMapping& m, const std::array<const AxisOption*, 3>& axes, double macs) {
    for (const SramTile& x : axes[0]->sram) {
      if (macs + x.energy + axes[1]->least + axes[2]->least >= best_.energy_pj) continue;
      for (const SramTile& y : axes[1]->sram) {
        if (macs + x.energy + y.energy + axes[2]->least >= best_.energy_pj) continue;
        for (const SramTile& z : axes[2]->sram) {
          const double energy = macs + x.energy + y.energy + z.energy;
          if (energy >= best_.energy_pj || !fits(m.in_sram, {x.tile, y.tile, z.tile}, problem_.sram_words)) continue;
          best_.mapping = m;
          best_.energy_pj = energy;
          const std::array<Count, 3> sram{x.tile, y.tile, z.tile};
          for (std::size_t d = 0; d < 3; ++d) {
            best_.mapping.tile[0][d] = static_cast<double>(problem_.size[d]);
            best_.mapping.tile[1][d] = static_cast<double>(sram[d]);
            best_.mapping.tile[2][d] = static_cast<double>(axes[d]->spatial * axes[d]->regfile);
            best_.mapping.tile[3][d] = static_cast<double>(axes[d]->regfile);
          }
        }
      }
    }
  }

  const GomaProblem& problem_;
  std::array<std::array<std::vector<AxisOption>, 16>, 3> tables_;
  GomaOptimum best_;
};

}  // namespace

std::optional<GomaOptimum> solve_goma(const GomaProblem& problem) { return Solver(problem).run(); }

}  // namespace pliant
