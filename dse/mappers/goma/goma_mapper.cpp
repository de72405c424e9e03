// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/goma/goma_mapper.h"

#include "core/arithmetic.h"
#include "core/input/diagnostics.h"
#include "core/legality.h"
#include "core/partial_sums.h"
#include "costmodel/report.h"
#include "dse/combinations/combinations.h"
#include "dse/mappers/goma/solver.h"
#include "dse/mappers/mapper_options.h"

namespace pliant {
namespace {

[[noreturn]] void refuse(std::string what, std::string expected) {
  throw InputError(Diagnostic{"mapper goma", 0, 0, "", std::move(what), std::move(expected), ""});
}

/// The paper's problem, read off the task.
GomaProblem problem_of(const Task& task) {
  const Accelerator& accelerator = task.accelerator;
  const auto level = [&](std::size_t i) -> const Level& { return accelerator.levels[i]; };
  const bool chain = accelerator.levels.size() == 5 && level(0).is_memory() && level(1).is_memory() &&
                     level(2).is_fanout() && level(3).is_memory();
  if (!chain || (level(2).fanout().rows > 1 && level(2).fanout().cols > 1))
    refuse("`" + accelerator.name + "` is not GOMA's template",
           "the levels memory, memory, fanout with one side, memory, compute");
  const Layer& layer = task.layer;
  const std::array<int, 3> dims{layer.find_dim("M"), layer.find_dim("N"), layer.find_dim("K")};
  if (layer.dims.size() != 3 || dims[0] < 0 || dims[1] < 0 || dims[2] < 0)
    check_works("mapper goma", {Trait::kGoma, Trait::kEinsum}, layer.name);
  for (const Level& one : accelerator.levels)
    if (one.is_memory() && one.memory().resident != std::array<bool, kRoles>{})
      refuse("a tensor lives in " + one.name, "tensors that come from the outermost memory");
  for (const int memory : {0, 1, 3})
    for (std::size_t x = 0; x < layer.tensors.size(); ++x)
      if (accelerator.held_bits(memory, layer, static_cast<int>(x)) != level(memory).memory().word_bits ||
          accelerator.element_bits(memory, layer, static_cast<int>(x)) != level(memory).memory().word_bits)
        check_works("mapper goma", {Trait::kGoma, Trait::kBits}, accelerator.name);
  for (const std::size_t memory : {0, 1, 3})
    if (!takes_partial_sums(level(memory).memory()))
      check_works("mapper goma", {Trait::kGoma, Trait::kFinishedOnly}, level(memory).name);
  if (level(2).fanout().pj_per_bit > 0)
    check_works("mapper goma", {Trait::kGoma, Trait::kNetworkEnergy}, level(2).name);
  if (level(2).fanout().systolic) check_works("mapper goma", {Trait::kGoma, Trait::kSystolic}, level(2).name);
  GomaProblem problem;
  for (std::size_t d = 0; d < 3; ++d) problem.size[d] = layer.dims[static_cast<std::size_t>(dims[d])].size;
  problem.units = level(2).fanout().rows * level(2).fanout().cols;
  const auto words = [&](std::size_t i) {
    const auto& capacity = level(i).memory().capacity_words;
    return capacity ? static_cast<double>(*capacity) : kInfinity;
  };
  problem.sram_words = words(1);
  problem.regfile_words = words(3);
  // The projection with normal x is the weights', y the inputs', z the outputs'.
  constexpr std::array kRole = {Role::kWeight, Role::kInput, Role::kOutput};
  for (std::size_t d = 0; d < 3; ++d) {
    problem.sram_may_bypass[d] = level(1).memory().may_bypass[static_cast<std::size_t>(kRole[d])];
    problem.regfile_may_bypass[d] = level(3).memory().may_bypass[static_cast<std::size_t>(kRole[d])];
  }
  problem.energies = goma_energies(accelerator);
  return problem;
}

class GomaMapper final : public Mapper {
 public:
  std::string_view name() const override { return "goma"; }
  SearchResult search(const Task& task, const SearchOptions& options) const override {
    read_mapper_options(name(), options, {});
    Deadline clock(options);
    SearchResult result;
    const std::optional<GomaOptimum> optimum = solve_goma(problem_of(task));
    result.seconds = clock.seconds();
    if (!optimum) {
      result.ended_by = EndedBy::kNoLegalStart;  // no mapping uses all units
      return result;
    }
    result.evaluations = optimum->combinations;
    const Mapping mapping = to_mapping(optimum->mapping, task.layer);
    // The paper knows capacities, divisors and bypass; what else an accelerator forbids is not in its problem.
    if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty()) {
      result.ended_by = EndedBy::kNoLegalStart;
      return result;
    }
    result.ended_by = EndedBy::kProof;  // of the closed form; nothing is certified about the task
    result.mapping = mapping;
    result.totals = price(task.layer, task.accelerator, mapping).totals;
    result.value = task_value(task, result.totals);
    return result;
  }
};

}  // namespace

std::unique_ptr<Mapper> make_goma_mapper() { return std::make_unique<GomaMapper>(); }

}  // namespace pliant
