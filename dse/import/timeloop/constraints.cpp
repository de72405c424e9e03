// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/input/source_text.h"
#include "dse/import/timeloop/machine.h"

namespace pliant::timeloop {
namespace {

/// Orders of so many dims that a permutation does not name are written out one by one; with more the rule is widened.
constexpr std::size_t kMostFreeDims = 4;

/// A factor that a constraint gives exactly.
struct Pin {
  Count value = 1;
  Position at;
  bool expressed = false;
};

class ConstraintWriter {
 public:
  ConstraintWriter(Machine& machine, const std::vector<Directive>& constraints, const Problem* problem, ImportLog& log)
      : machine_(machine), constraints_(constraints), problem_(problem), log_(log) {
    if (problem_ != nullptr) {
      for (const auto& [dim, index] : problem_->dims) dims_.push_back(dim);
    } else {
      for (const Directive& one : constraints_) {
        for (const Factor& factor : one.factors) note_dim(factor.dim);
        for (const std::string& dim : one.permutation) note_dim(dim);
      }
    }
    pins_.resize(machine_.accelerator.levels.size());
  }

  void write() {
    free_bypass();
    for (const Directive& one : constraints_) {
      const auto place = machine_.places.find(import_name(one.target, ""));
      if (place == machine_.places.end()) {
        log_.problems().add(one.at, "target", fmt::format("unknown component `{}`", shorten(one.target, 40)),
                            "a component of the architecture");
        continue;
      }
      switch (one.kind) {
        case Directive::Kind::kTemporal: temporal(one, place->second); break;
        case Directive::Kind::kSpatial: spatial(one, place->second); break;
        case Directive::Kind::kDataspace: dataspace(one, place->second); break;
      }
    }
    fix_tiles();
  }

 private:
  void note_dim(const std::string& dim) {
    if (std::ranges::find(dims_, dim) == dims_.end()) dims_.push_back(dim);
  }

  /// Our name of a dim; convolutions call the batch B.
  std::string ours(const std::string& dim) const {
    return problem_ != nullptr && problem_->layer.operation != Operation::kEinsum && dim == "N" ? "B" : dim;
  }
  bool has_loops(const std::string& dim) const {
    if (problem_ == nullptr) return true;
    const auto found = problem_->dims.find(dim);
    return found != problem_->dims.end() && found->second >= 0 &&
           problem_->layer.dims[static_cast<std::size_t>(found->second)].size > 1;
  }
  Level& level(int index) { return machine_.accelerator.levels[static_cast<std::size_t>(index)]; }
  LevelFlexibility& rules(int index) {
    return machine_.accelerator.flexibility.levels[static_cast<std::size_t>(index)];
  }

  /// What no constraint mentions the mapper may keep or not; the outermost memory keeps everything.
  void free_bypass() {
    bool outermost = true;
    for (std::size_t k = 0; k < machine_.accelerator.levels.size(); ++k) {
      Level& one = machine_.accelerator.levels[k];
      if (!one.is_memory() || static_cast<int>(k) == machine_.latch) continue;
      if (!outermost) one.memory().may_bypass = {true, true, true};
      outermost = false;
    }
  }

  void dataspace(const Directive& one, const Machine::Place& place) {
    if (place.memory < 0 || !level(place.memory).is_memory()) {
      if (!one.keep.empty()) log_.unsupported(one.at, one.target, "data kept in a network");
      return;
    }
    Memory& memory = level(place.memory).memory();
    const auto each = [&](const std::vector<std::string>& names, auto set) {
      for (const std::string& name : names) {
        if (const auto role = role_of(name, one.at)) set(static_cast<std::size_t>(*role));
      }
    };
    if (one.bypass_others) {
      std::array<bool, kRoles> kept{};
      each(one.keep, [&](std::size_t r) { kept[r] = true; });
      for (std::size_t r = 0; r < kRoles; ++r) memory.may_keep[r] = memory.may_keep[r] && kept[r];
    }
    each(one.keep, [&](std::size_t r) { memory.may_bypass[r] = false; });
    each(one.bypass, [&](std::size_t r) {
      memory.may_keep[r] = false;
      memory.may_bypass[r] = false;
    });
  }

  std::optional<Role> role_of(const std::string& name, const Position& at) {
    if (problem_ != nullptr) {
      const auto found = problem_->tensors.find(import_name(name, ""));
      if (found != problem_->tensors.end())
        return problem_->layer.tensors[static_cast<std::size_t>(found->second)].role;
    } else {
      if (name == "Inputs") return Role::kInput;
      if (name == "Weights") return Role::kWeight;
      if (name == "Outputs") return Role::kOutput;
    }
    log_.problems().add(at, "", fmt::format("unknown data space `{}`", shorten(name, 40)),
                        "a data space of the problem");
    return std::nullopt;
  }

  /// The factors of a constraint, those of 1 that it says in other words written out.
  std::vector<Factor> all_factors(const Directive& one) {
    std::vector<Factor> factors = one.factors;
    std::set<std::string> excluded;
    for (const std::string& space : one.no_loops_of) {
      const auto tensor = problem_ == nullptr ? std::optional<int>() : find_tensor(space);
      if (!tensor) {
        log_.unsupported(one.at, one.target, fmt::format("no loops over `{}`", shorten(space, 40)),
                         "the problem's file as well, and one of its data spaces");
        continue;
      }
      for (const auto& [dim, index] : problem_->dims) {
        if (index >= 0 && (problem_->layer.coupled(*tensor) >> index & 1U) != 0) excluded.insert(dim);
      }
    }
    for (const std::string& dim : dims_) {
      const bool listed = std::ranges::find(factors, dim, &Factor::dim) != factors.end();
      if (excluded.contains(dim) || (one.others_one && !listed)) factors.push_back({dim, '=', 1});
    }
    return factors;
  }

  std::optional<int> find_tensor(const std::string& space) const {
    const auto found = problem_->tensors.find(import_name(space, ""));
    return found == problem_->tensors.end() ? std::nullopt : std::optional(found->second);
  }

  /// Notes exact factors at a level and gives the dims that may loop there: all but those pinned to 1.
  std::vector<std::string> pin_factors(const Directive& one, int index) {
    const std::vector<Factor> factors = all_factors(one);
    std::vector<std::string> allowed;
    for (const std::string& dim : dims_) {
      const bool one_only = std::ranges::any_of(
          factors, [&](const Factor& f) { return f.dim == dim && f.relation != '>' && f.value == 1; });
      if (!one_only) allowed.push_back(dim);
    }
    for (const Factor& factor : factors) {
      if (std::ranges::find(dims_, factor.dim) == dims_.end()) {
        log_.problems().add(one.at, "factors", fmt::format("unknown dim `{}`", shorten(factor.dim, 40)),
                            "a dim of the problem");
      } else if (factor.relation == '=' && factor.value >= 1) {
        pins_[static_cast<std::size_t>(index)][factor.dim] = {factor.value, one.at, false};
      } else if (factor.value != 1) {
        log_.unsupported(one.at, one.target,
                         fmt::format("the factor {}{}{}", factor.dim,
                                     factor.relation == '=' ? "=" : fmt::format("{}=", factor.relation), factor.value));
      }
    }
    return allowed;
  }

  void temporal(const Directive& one, const Machine::Place& place) {
    const bool is_storage = place.memory >= 0 && level(place.memory).is_memory();
    if (!is_storage) {
      for (const Factor& factor : one.factors) {
        if (factor.value != 1) log_.unsupported(one.at, one.target, "a temporal factor at a network");
      }
      return;
    }
    const std::vector<std::string> allowed = pin_factors(one, place.memory);
    if (allowed.size() < dims_.size() || one.others_one) {
      std::vector<std::string> names;
      for (const std::string& dim : allowed) names.push_back(ours(dim));
      rules(place.memory).loops.dims = std::move(names);
    }
    order(one, place.memory, allowed);
  }

  /// The permutation's dims are the innermost loops, in its order; the others stand outside them in any order.
  void order(const Directive& one, int index, const std::vector<std::string>& allowed) {
    std::vector<std::string> inner, outer;
    for (const std::string& dim : one.permutation) {
      if (std::ranges::find(allowed, dim) != allowed.end() && has_loops(dim)) inner.insert(inner.begin(), ours(dim));
    }
    for (const std::string& dim : allowed) {
      const bool named = std::ranges::find(one.permutation, dim) != one.permutation.end();
      if (!named && has_loops(dim)) outer.push_back(ours(dim));
    }
    if (inner.empty() || inner.size() + outer.size() < 2) return;
    OrderRule& rule = rules(index).order;
    if (outer.size() > kMostFreeDims) {
      log_.unsupported(one.at, one.target,
                       fmt::format("an order of {} dims with {} others outside", inner.size(), outer.size()));
      return;
    }
    std::ranges::sort(outer);
    do {
      OrderPattern pattern;
      pattern.dims = outer;
      pattern.dims.insert(pattern.dims.end(), inner.begin(), inner.end());
      rule.allowed.push_back(std::move(pattern));
    } while (std::ranges::next_permutation(outer).found);
  }

  void spatial(const Directive& one, const Machine::Place& place) {
    if (place.fanout < 0) {
      for (const Factor& factor : one.factors) {
        if (factor.value > 1) log_.unsupported(one.at, one.target, "a spatial factor where nothing is copied");
      }
      return;
    }
    const std::vector<std::string> allowed = pin_factors(one, place.fanout);
    // Dims the permutation does not name come after it.
    std::vector<std::string> sequence = one.permutation;
    for (const std::string& dim : dims_) {
      if (std::ranges::find(sequence, dim) == sequence.end()) sequence.push_back(dim);
    }
    ParallelRule& rule = rules(place.fanout).parallel;
    const auto add_split = [&](std::size_t split) {
      Assignment assignment;
      for (std::size_t i = 0; i < sequence.size(); ++i) {
        if (std::ranges::find(allowed, sequence[i]) == allowed.end()) continue;
        (i < split ? assignment.cols : assignment.rows).push_back(ours(sequence[i]));
      }
      if (std::ranges::find(rule.assignments, assignment) == rule.assignments.end())
        rule.assignments.push_back(std::move(assignment));
    };
    if (one.split) {
      add_split(static_cast<std::size_t>(*one.split));
    } else {
      for (std::size_t split = 0; split <= sequence.size(); ++split) add_split(split);
    }
  }

  /// Exact factors above 1 fix a tile where everything inside is exact as well.
  void fix_tiles() {
    for (const std::string& dim : dims_) {
      Count product = 1;
      bool above_one = false;
      for (std::size_t k = pins_.size(); k-- > 0;) {
        const Level& own = machine_.accelerator.levels[k];
        if (own.is_compute() || static_cast<int>(k) == machine_.latch) continue;
        const auto pin = pins_[k].find(dim);
        if (pin == pins_[k].end()) break;
        product *= std::min<Count>(pin->second.value, Count{1} << 20);
        if (product > (Count{1} << 40)) break;
        above_one |= pin->second.value > 1;
        if (!own.is_memory() || !above_one) continue;
        rules(static_cast<int>(k)).tile.fixed.push_back({ours(dim), product});
        for (std::size_t inside = k; inside < pins_.size(); ++inside) {
          if (pins_[inside].contains(dim)) pins_[inside].at(dim).expressed = true;
        }
      }
    }
    for (std::size_t k = 0; k < pins_.size(); ++k) {
      for (const auto& [dim, pin] : pins_[k]) {
        if (pin.value > 1 && !pin.expressed) {
          log_.unsupported(
              pin.at, machine_.accelerator.levels[k].name,
              fmt::format("the factor {}={}, which fixes no tile because something inside is free", dim, pin.value));
        }
      }
    }
  }

  Machine& machine_;
  const std::vector<Directive>& constraints_;
  const Problem* problem_;
  ImportLog& log_;
  std::vector<std::string> dims_;
  std::vector<std::map<std::string, Pin>> pins_;  ///< by level
};

}  // namespace

void apply_constraints(Machine& machine, const std::vector<Directive>& constraints, const Problem* problem,
                       ImportLog& log) {
  ConstraintWriter(machine, constraints, problem, log).write();
}

}  // namespace pliant::timeloop
