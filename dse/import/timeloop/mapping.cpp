// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/arithmetic.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/timeloop/machine.h"

namespace pliant::timeloop {
namespace {

class MappingBuilder {
 public:
  MappingBuilder(const Machine& machine, const Problem& problem, ImportLog& log)
      : machine_(machine), problem_(problem), log_(log), mapping_(empty_mapping(problem.layer, machine.accelerator)) {
    done_.assign(problem.layer.dims.size(), 1);
  }

  std::optional<Mapping> build(const std::vector<Directive>& steps) {
    const std::size_t before = log_.problems().size();
    for (const Directive& step : steps) count_factors(step);
    for (const Directive& step : steps) {
      const auto place = machine_.places.find(import_name(step.target, ""));
      if (place == machine_.places.end()) {
        problem(step, fmt::format("unknown component `{}`", shorten(step.target, 40)),
                "a component of the architecture");
        continue;
      }
      switch (step.kind) {
        case Directive::Kind::kTemporal: temporal(step, place->second); break;
        case Directive::Kind::kSpatial: spatial(step, place->second); break;
        case Directive::Kind::kDataspace: dataspace(step, place->second); break;
      }
    }
    if (log_.problems().size() > before) return std::nullopt;
    return mapping_;
  }

 private:
  struct NamedLoop {
    int dim;
    Count bound;
  };

  void problem(const Directive& step, std::string what, std::string expected) {
    log_.problems().add(step.at, "mapping", std::move(what), std::move(expected));
  }

  /// The product of all given factors, so that a factor of 0 can stand for what is left.
  void count_factors(const Directive& step) {
    for (const Factor& factor : step.factors) {
      const int dim = dim_of(step, factor.dim);
      if (dim < 0 || factor.value == 0) continue;
      const auto product = checked_multiply(done_[static_cast<std::size_t>(dim)], factor.value);
      if (!product) return problem(step, "factors are too large", "factors that divide the problem");
      done_[static_cast<std::size_t>(dim)] = *product;
    }
  }

  int dim_of(const Directive& step, const std::string& name) {
    const auto found = problem_.dims.find(name);
    if (found != problem_.dims.end()) return found->second;
    problem(step, fmt::format("unknown dim `{}`", shorten(name, 40)), "a dim of the problem");
    return -1;
  }

  Count bound_of(int dim, Count value) const {
    if (value != 0) return value;
    const Count size = problem_.layer.dims[static_cast<std::size_t>(dim)].size;
    return std::max<Count>(ceil_div(size, done_[static_cast<std::size_t>(dim)]), 1);
  }

  /// Loops with their place in the permutation (innermost first); dims it does not name follow.
  std::vector<std::pair<std::size_t, NamedLoop>> loops(const Directive& step) {
    std::vector<std::pair<std::size_t, NamedLoop>> all;
    for (std::size_t f = 0; f < step.factors.size(); ++f) {
      const Factor& factor = step.factors[f];
      if (factor.relation != '=') problem(step, "an inequality in a mapping", "DIM=NUMBER");
      const int dim = dim_of(step, factor.dim);
      if (dim < 0 || bound_of(dim, factor.value) == 1) continue;
      const auto at = std::ranges::find(step.permutation, factor.dim);
      const std::size_t place = at == step.permutation.end() ? step.permutation.size() + f
                                                             : static_cast<std::size_t>(at - step.permutation.begin());
      all.emplace_back(place, NamedLoop{dim, bound_of(dim, factor.value)});
    }
    std::ranges::sort(all, std::greater{}, [](const auto& one) { return one.first; });
    return all;
  }

  void temporal(const Directive& step, const Machine::Place& place) {
    const auto all = loops(step);
    const bool storage =
        place.memory >= 0 && machine_.accelerator.levels[static_cast<std::size_t>(place.memory)].is_memory();
    if (!storage) {
      if (!all.empty()) problem(step, "temporal loops at a network", "factors of 1");
      return;
    }
    for (const auto& [order, loop] : all) {
      mapping_.levels[static_cast<std::size_t>(place.memory)].temporal.push_back({loop.dim, loop.bound});
    }
  }

  void spatial(const Directive& step, const Machine::Place& place) {
    const auto all = loops(step);
    if (place.fanout < 0) {
      if (!all.empty()) problem(step, "spatial loops where nothing is copied", "factors of 1");
      return;
    }
    const auto fanout = static_cast<std::size_t>(place.fanout);
    for (const auto& [order, loop] : all) {
      const bool on_x = !step.split || static_cast<Count>(order) < *step.split;
      mapping_.levels[fanout].spatial.push_back({loop.dim, loop.bound, on_x ? Side::kCols : Side::kRows});
    }
    std::ranges::stable_sort(mapping_.levels[fanout].spatial, {}, &SpatialLoop::side);
  }

  void dataspace(const Directive& step, const Machine::Place& place) {
    if (place.memory < 0) return;
    TensorSet& keeps = mapping_.levels[static_cast<std::size_t>(place.memory)].keeps;
    const auto bit = [&](const std::string& name) -> TensorSet {
      const auto found = problem_.tensors.find(import_name(name, ""));
      if (found != problem_.tensors.end()) return TensorSet{1} << found->second;
      problem(step, fmt::format("unknown data space `{}`", shorten(name, 40)), "a data space of the problem");
      return 0;
    };
    for (const std::string& name : step.keep) keeps |= bit(name);
    for (const std::string& name : step.bypass) keeps &= ~bit(name);
  }

  const Machine& machine_;
  const Problem& problem_;
  ImportLog& log_;
  Mapping mapping_;
  std::vector<Count> done_;  ///< by dim
};

}  // namespace

std::optional<Mapping> build_mapping(const Machine& machine, const Problem& problem,
                                     const std::vector<Directive>& steps, const Position&, ImportLog& log) {
  return MappingBuilder(machine, problem, log).build(steps);
}

}  // namespace pliant::timeloop
