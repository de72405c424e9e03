// SPDX-License-Identifier: Apache-2.0
// Runs of a layer cut at indices of its output cost no less together than the run that they make up: every mapping is
// tried of both, on random layers and machines, with operands at home in any memory.
#include "dse/mappers/fusion/uncut_run.h"

#include <gtest/gtest.h>

#include "dse/mappers/fusion/tile_lines.h"
#include "support/draw.h"
#include "support/random_cases.h"

namespace pliant {
namespace {

using tests::Draw;

Count divisor(Count size, Draw& draw) {
  std::vector<Count> all;
  for (Count d = 1; d <= size; ++d)
    if (size % d == 0) all.push_back(d);
  return all[static_cast<std::size_t>(draw.from(0, static_cast<int>(all.size()) - 1))];
}

/// The least energy + slope * cycles of a run, by every mapping; infinity without one.
double least_of(const fusion::RunShape& shape, double slope) {
  static const std::unique_ptr<Mapper> exhaustive = make_mapper("exhaustive");
  const SearchOptions options;
  const NetworkLayer layer{fusion::run_task(shape, residency::Reserved(shape.layer->accelerator.levels.size()))};
  LayerLines lines(*exhaustive, layer, options);
  const LayerLines::Line* line = lines.at(slope);
  if (line == nullptr) return kInfinity;
  const Totals& totals = line->point.totals;
  return std::isinf(slope) ? totals.cycles : totals.energy_pj + slope * totals.cycles;
}

/// A run of the case's layer, cut at some dims, with some operands at home.
fusion::RunShape drawn_run(const Task& task, DimSet dims, Draw& draw) {
  fusion::RunShape shape;
  shape.layer = &task;
  for (std::size_t d = 0; d < task.layer.dims.size(); ++d)
    shape.sizes.push_back((dims >> d & 1U) != 0 ? divisor(task.layer.dims[d].size, draw) : task.layer.dims[d].size);
  for (int x = 0; x < static_cast<int>(task.layer.tensors.size()); ++x) {
    const int home = draw.from(1, static_cast<int>(task.accelerator.levels.size()) - 1);
    const auto role = static_cast<std::size_t>(task.layer.tensors[static_cast<std::size_t>(x)].role);
    if (task.accelerator.levels[static_cast<std::size_t>(home)].is_memory() && draw.chance(0.5) &&
        residency::may_live(task, x, home))
      shape.homes[role] = home;
  }
  return shape;
}

struct ComparedRuns {
  int runs = 0, parts_tie = 0, at_home = 0, broken = 0;
};

/// `reductions`: cut at dims that are no index of the output instead, of which the lemma says nothing.
ComparedRuns compare(int cases, bool reductions) {
  ComparedRuns counts;
  tests::CaseOptions options;
  options.factorizations = {Factorization::kPerfect};
  options.most_mappings = 3000;
  options.infeasible_share = 0;
  options.buses = options.widths = options.finished = options.networks = options.arrays = options.bursts = true;
  for (std::uint64_t seed = 15; counts.runs < cases && seed < 100'000; ++seed) {
    tests::RandomCase one = tests::random_case(seed, options);
    one.task.accelerator.conventions = Conventions::physical();
    one.task.accelerator.levels.front().memory().capacity_words.reset();
    SCOPED_TRACE(one.text);
    Draw draw(seed);
    const DimSet outputs = one.task.layer.coupled(one.task.layer.output());
    const fusion::RunShape part = drawn_run(one.task, reductions ? ~outputs : outputs, draw);
    fusion::RunShape whole = part;
    double parts = 1;
    if (reductions) {
      for (std::size_t d = 0; d < part.sizes.size(); ++d) {
        whole.sizes[d] = one.task.layer.dims[d].size;
        parts *= static_cast<double>(whole.sizes[d]) / static_cast<double>(part.sizes[d]);
      }
      if (parts == 1) continue;
    } else {
      const auto uncut = fusion::uncut_run(one.task, part.sizes);
      if (!uncut) continue;
      whole.sizes = uncut->sizes;
      parts = uncut->parts;
    }
    for (const double slope : {0.0, 2.0, kInfinity}) {
      const double of_part = least_of(part, slope), of_whole = least_of(whole, slope);
      if (std::isinf(of_part)) continue;
      const bool holds = of_whole <= parts * of_part * (1 + 1e-12);
      counts.broken += holds ? 0 : 1;
      counts.parts_tie += of_whole >= parts * of_part * (1 - 1e-12) ? 1 : 0;
      if (!reductions) {
        EXPECT_TRUE(holds) << "seed " << seed << ", slope " << slope << ": " << parts << " x " << of_part << " below "
                           << of_whole;
      }
    }
    ++counts.runs;
    for (const residency::Home home : part.homes) counts.at_home += home == residency::kOutside ? 0 : 1;
  }
  return counts;
}

TEST(UncutRun, CostsNoMoreThanItsParts) {
  const ComparedRuns counts = compare(400, false);
  EXPECT_EQ(counts.runs, 400);
  EXPECT_GE(counts.at_home, 100);
  EXPECT_GE(counts.parts_tie, 20);               // the bound is met
  EXPECT_LT(counts.parts_tie, 3 * counts.runs);  // and not always
}

TEST(UncutRun, CutSumsAreAnotherMatter) {
  // Their old values come back, which runs do not count: so dims that are no index of the output stay cut.
  EXPECT_GE(compare(60, true).broken, 1);
}

TEST(UncutRun, NothingIsSaidWhereRulesCouldForbidTheLoops) {
  tests::CaseOptions options;
  options.factorizations = {Factorization::kPerfect};
  Task task = tests::random_case(15, options).task;
  task.accelerator.levels.front().memory().capacity_words.reset();
  const DimSet outputs = task.layer.coupled(task.layer.output());
  std::vector<Count> sizes;
  for (std::size_t d = 0; d < task.layer.dims.size(); ++d)
    sizes.push_back((outputs >> d & 1U) != 0 ? 1 : task.layer.dims[d].size);
  ASSERT_TRUE(fusion::uncut_run(task, sizes));
  const auto refused = [&](const auto& change) {
    Task other = task;
    change(other);
    return !fusion::uncut_run(other, sizes);
  };
  EXPECT_TRUE(refused([](Task& t) { t.factorization = Factorization::kRuby; }));
  EXPECT_TRUE(refused([](Task& t) { t.accelerator.levels.front().memory().capacity_words = 1000; }));
  EXPECT_TRUE(refused([](Task& t) { t.accelerator.levels.front().memory().may_bypass[0] = true; }));
  EXPECT_TRUE(refused([](Task& t) { t.flexibility.levels.front().order.allowed.emplace_back(); }));
  EXPECT_TRUE(refused([](Task& t) { t.flexibility.levels.front().loops.dims.emplace(); }));
  EXPECT_TRUE(refused([](Task& t) { t.flexibility.levels.front().tile.burst = 2; }));
  EXPECT_TRUE(refused([](Task& t) { t.flexibility.levels.back().tile.fixed.emplace_back(); }));
}

}  // namespace
}  // namespace pliant
