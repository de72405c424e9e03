// SPDX-License-Identifier: Apache-2.0
#include "support/agreement.h"

#include <cmath>

#include <fmt/format.h>

#include "costmodel/nest.h"
#include "support/reference_walker.h"

namespace pliant::reference {

namespace {

/// Enough to rebuild the case by hand.
std::string describe(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping) {
  std::string text = "layer";
  for (const Dim& dim : layer.dims) text += fmt::format(" {}={}", dim.name, dim.size);
  for (const Tensor& tensor : layer.tensors) {
    text += fmt::format("\n  {} {}", to_string(tensor.role), tensor.name);
    for (const Rank& rank : tensor.ranks) {
      text += "[";
      for (const Term& term : rank.terms)
        text +=
            fmt::format("{}{}*{}", &term == rank.terms.data() ? "" : "+", term.coefficient, layer.dims[term.dim].name);
      text += "]";
    }
  }
  for (std::size_t l = 0; l + 1 < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    text += fmt::format("\n{:2} {}", l, level.name);
    if (level.is_memory()) {
      text += " keeps";
      for (std::size_t x = 0; x < layer.tensors.size(); ++x)
        if (mapping.levels[l].keeps >> x & 1U) text += " " + layer.tensors[x].name;
      text += ":";
      for (const Loop& loop : mapping.levels[l].temporal)
        text += fmt::format(" {}{}", layer.dims[loop.dim].name, loop.bound);
    } else {
      const Fanout& fanout = level.fanout();
      text += fmt::format(" fanout{}{}{}:", fanout.multicast ? "" : " no-multicast",
                          fanout.reduction ? "" : " no-reduction", fanout.partial_multicast ? " partial" : "");
      for (const SpatialLoop& loop : mapping.levels[l].spatial)
        text += fmt::format(" {}{}", layer.dims[loop.dim].name, loop.bound);
    }
  }
  return text;
}

}  // namespace

std::string disagreement(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping) {
  const Problem problem(layer, accelerator);
  Nest nest(problem);
  nest.load(flatten(problem, mapping));
  const Totals totals = nest.price();
  const Walked walked = walk(layer, accelerator, mapping);
  std::string text;
  const auto compare = [&text](const std::string& what, double model, double truth, double tolerance = 0) {
    if (!(std::abs(model - truth) <= tolerance * std::abs(truth)))
      text += fmt::format("{}: model {}, walked {}\n", what, model, truth);
  };
  compare("macs", problem.macs, static_cast<double>(walked.macs));
  compare("steps", totals.steps, static_cast<double>(walked.steps) * problem.cycles_per_mac);
  if (nest.transfers().size() != walked.words.size())
    return "different pairs\n" + describe(layer, accelerator, mapping);
  for (std::size_t i = 0; i < walked.words.size(); ++i) {
    const Transfer& pair = nest.transfers()[i];
    const Words& words = walked.words[i];
    if (pair.tensor != words.tensor || pair.parent != words.parent || pair.child != words.child)
      return "different pairs\n" + describe(layer, accelerator, mapping);
    const std::string name = fmt::format("{} {}->{}", layer.tensors[words.tensor].name, words.parent, words.child);
    compare(name + " served", pair.served, static_cast<double>(words.served));
    compare(name + " delivered", pair.delivered, static_cast<double>(words.delivered));
    if (words.tensor != problem.output) continue;
    compare(name + " first at parent", pair.first_parent, static_cast<double>(words.first_parent));
    if (words.child < problem.levels)
      compare(name + " first at child", pair.first_child, static_cast<double>(words.first_child));
  }
  for (int l = 0; l < problem.levels; ++l)
    compare(fmt::format("peak instances of {}", l), nest.instances_peak(l), static_cast<double>(walked.peak[l]));
  for (int l = 0; l < problem.levels; ++l)
    for (int x = 0; x < problem.tensors; ++x)
      if (problem.is_memory[l])
        compare(fmt::format("tile of {} at {}", layer.tensors[x].name, l), nest.footprint(l, x),
                static_cast<double>(tile_words(layer, accelerator, mapping, l, x)));
  // The quotient of demands may round up to the next cycle, which then leaks.
  const bool rounded = accelerator.conventions.stall_rounding == Conventions::StallRounding::kDemandRatio;
  if (!rounded || totals.cycles != walked.cycles + 1) {
    compare("cycles", totals.cycles, walked.cycles);
    compare("energy", totals.energy_pj, walked.energy_pj, 1e-12);
  }
  if (!text.empty()) text += describe(layer, accelerator, mapping);
  return text;
}

Comparison compare_random(std::uint64_t seed, int cases, Kind kind, Factorization rule, const Conventions& conventions,
                          bool special_networks, Count max_macs) {
  Random random(seed);
  Comparison comparison;
  for (; comparison.cases < cases; ++comparison.cases) {
    const Layer layer = random_layer(random, kind, max_macs);
    Accelerator accelerator = random_accelerator(random, special_networks);
    add_widths_and_networks(random, accelerator);
    accelerator.conventions = conventions;
    const Mapping mapping = random_mapping(random, layer, accelerator, rule);
    std::string differs = disagreement(layer, accelerator, mapping);
    if (differs.empty()) continue;
    if (comparison.differing++ == 0)
      comparison.first = fmt::format("case {} of seed {}\n{}", comparison.cases, seed, differs);
  }
  return comparison;
}

}  // namespace pliant::reference
