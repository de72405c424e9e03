// SPDX-License-Identifier: Apache-2.0
#include "support/shrink.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "flex/mapspace/factors.h"

namespace pliant::tests {

namespace {

/// Can the commands of as_commands() say it? Not where a tensor uses a dim in two of its indices, or lives in a memory,
/// for instance.
bool can_be_files(const Task& task) {
  for (const Level& level : task.accelerator.levels)
    if (level.is_memory() &&
        (level.memory().resident != Memory{}.resident || level.memory().reserved_words != Memory{}.reserved_words))
      return false;
  Accelerator accelerator = task.accelerator;
  accelerator.flexibility = task.flexibility;
  accelerator.flexibility_for.clear();
  try {
    parse_accelerator_text(Library(""), write_accelerator(accelerator), "accelerator.yaml");
    parse_layer_text(write_layer(task.layer), "layer.yaml");
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Tasks that are one step smaller than a given one, the boldest steps first. What can be files stays so.
class Smaller {
 public:
  explicit Smaller(const Task& task) : task_(task), files_(can_be_files(task)) {
    levels();
    layer();
    rules();
    numbers();
  }
  const std::vector<Task>& all() const { return all_; }

 private:
  /// Adds the task with a change, unless it is the same task or no reader would accept it.
  template <class Change>
  void with(Change change) {
    Task smaller = task_;
    change(smaller);
    if (smaller.layer == task_.layer && smaller.accelerator == task_.accelerator &&
        smaller.flexibility == task_.flexibility && smaller.factorization == task_.factorization &&
        smaller.objective == task_.objective)
      return;
    if (smaller.layer.tensors.size() < 2) return;  // readers ask for an output and one more
    for (const Tensor& tensor : smaller.layer.tensors) {
      const bool kept =
          std::any_of(smaller.accelerator.levels.begin(), smaller.accelerator.levels.end(), [&](const Level& level) {
            return level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(tensor.role)];
          });
      if (!kept) return;
    }
    for (std::size_t d = 0; d < smaller.layer.dims.size(); ++d)
      if (std::ranges::none_of(smaller.layer.tensors,
                               [&](const Tensor& tensor) { return uses(tensor, static_cast<int>(d)); }))
        return;
    if (files_ && !can_be_files(smaller)) return;
    all_.push_back(std::move(smaller));
  }

  static bool uses(const Tensor& tensor, int dim) {
    return std::ranges::any_of(tensor.ranks, [&](const Rank& rank) {
      return std::ranges::any_of(rank.terms, [&](const Term& term) { return term.dim == dim; });
    });
  }

  void levels() {
    for (std::size_t l = 1; l + 1 < task_.accelerator.levels.size(); ++l)
      with([l](Task& t) {
        const auto at = static_cast<std::ptrdiff_t>(l);
        t.accelerator.levels.erase(t.accelerator.levels.begin() + at);
        t.flexibility.levels.erase(t.flexibility.levels.begin() + at);
      });
    for (std::size_t l = 0; l < task_.accelerator.levels.size(); ++l) {
      if (!task_.accelerator.levels[l].is_fanout()) continue;
      const auto change = [&](auto set) { with([l, set](Task& t) { set(t.accelerator.levels[l].fanout()); }); };
      change([](Fanout& f) { f.rows = 1; });
      change([](Fanout& f) { f.cols = 1; });
      change([](Fanout& f) { f.rows = std::max<Count>(1, f.rows - 1); });
      change([](Fanout& f) { f.cols = std::max<Count>(1, f.cols - 1); });
      change([](Fanout& f) { f.multicast = f.reduction = true; });
      change([](Fanout& f) { f.partial_multicast = false; });
    }
  }

  /// Every shape is an einsum once it is changed.
  template <class Change>
  void with_layer(Change change) {
    with([&](Task& t) {
      t.layer.operation = Operation::kEinsum;
      t.layer.written_as.clear();
      change(t.layer);
    });
  }

  void layer() {
    const Layer& layer = task_.layer;
    with_layer([](Layer&) {});
    for (std::size_t x = 0; x < layer.tensors.size(); ++x)
      if (!layer.tensors[x].is_output())
        with_layer([x](Layer& l) { l.tensors.erase(l.tensors.begin() + static_cast<std::ptrdiff_t>(x)); });
    for (std::size_t d = 0; d < layer.dims.size(); ++d) {
      with_layer([d](Layer& l) { l.dims[d].size = 1; });
      for (const Count smaller : divisors(layer.dims[d].size)) with_layer([&](Layer& l) { l.dims[d].size = smaller; });
      if (layer.dims[d].size > 1) with_layer([d](Layer& l) { --l.dims[d].size; });
      if (layer.dims[d].size == 1 && layer.dims.size() > 1) with_layer([d](Layer& l) { drop_dim(l, d); });
    }
    for (std::size_t x = 0; x < layer.tensors.size(); ++x)
      for (std::size_t r = 0; r < layer.tensors[x].ranks.size(); ++r) {
        with_layer([x, r](Layer& l) {
          l.tensors[x].ranks.erase(l.tensors[x].ranks.begin() + static_cast<std::ptrdiff_t>(r));
        });
        for (std::size_t t = 0; t < layer.tensors[x].ranks[r].terms.size(); ++t) {
          with_layer([x, r, t](Layer& l) { l.tensors[x].ranks[r].terms[t].coefficient = 1; });
          if (layer.tensors[x].ranks[r].terms.size() == 1) continue;
          with_layer([x, r, t](Layer& l) {
            auto& terms = l.tensors[x].ranks[r].terms;
            terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(t));
          });
        }
      }
  }

  static void drop_dim(Layer& layer, std::size_t d) {
    layer.dims.erase(layer.dims.begin() + static_cast<std::ptrdiff_t>(d));
    for (Tensor& tensor : layer.tensors) {
      for (Rank& rank : tensor.ranks) {
        std::erase_if(rank.terms, [&](const Term& term) { return term.dim == static_cast<int>(d); });
        for (Term& term : rank.terms)
          if (term.dim > static_cast<int>(d)) --term.dim;
      }
      std::erase_if(tensor.ranks, [](const Rank& rank) { return rank.terms.empty(); });
    }
  }

  void rules() {
    with([](Task& t) { t.factorization = Factorization::kPerfect; });
    for (const Factorization rule : {Factorization::kRubyS, Factorization::kRubyT})
      if (task_.factorization == Factorization::kRuby) with([rule](Task& t) { t.factorization = rule; });
    for (const Objective objective : {Objective::kEnergy, Objective::kRuntime, Objective::kEdp})
      if (task_.objective > objective) with([objective](Task& t) { t.objective = objective; });
    for (std::size_t l = 0; l < task_.flexibility.levels.size(); ++l) {
      const auto change = [&](auto set) { with([l, set](Task& t) { set(t.flexibility.levels[l]); }); };
      change([](LevelFlexibility& f) { f = {}; });
      change([](LevelFlexibility& f) { f.tile.fixed.clear(); });
      change([](LevelFlexibility& f) { f.tile.partition.reset(); });
      change([](LevelFlexibility& f) { f.tile.burst = 1; });
      change([](LevelFlexibility& f) { f.order.allowed.clear(); });
      change([](LevelFlexibility& f) { f.loops.dims.reset(); });
      change([](LevelFlexibility& f) { f.parallel = {}; });
      change([](LevelFlexibility& f) { f.parallel.max_dims_per_side = 0; });
      change([](LevelFlexibility& f) { f.shape = {}; });
      if (task_.flexibility.levels[l].order.allowed.size() > 1)
        for (std::size_t i = 0; i < task_.flexibility.levels[l].order.allowed.size(); ++i)
          change([i](LevelFlexibility& f) {
            f.order.allowed.erase(f.order.allowed.begin() + static_cast<std::ptrdiff_t>(i));
          });
      for (std::size_t i = 0; i < task_.flexibility.levels[l].tile.fixed.size(); ++i)
        change([i](LevelFlexibility& f) { f.tile.fixed.erase(f.tile.fixed.begin() + static_cast<std::ptrdiff_t>(i)); });
    }
    for (std::size_t o = 0; o < convention_options().size(); ++o)
      with([o](Task& t) { set_convention(t.accelerator.conventions, o, 0); });
  }

  void numbers() {
    for (std::size_t l = 0; l < task_.accelerator.levels.size(); ++l) {
      if (task_.accelerator.levels[l].is_fanout()) {
        with([l](Task& t) { t.accelerator.levels[l].fanout().pj_per_bit = 0; });
        with([l](Task& t) { t.accelerator.levels[l].fanout().systolic.reset(); });
        with([l](Task& t) { t.accelerator.levels[l].fanout().wired_sums.fill(false); });
      }
      if (!task_.accelerator.levels[l].is_memory()) continue;
      const auto change = [&](auto set) { with([l, set](Task& t) { set(t.accelerator.levels[l].memory()); }); };
      change([](Memory& m) { m.capacity_words.reset(); });
      change([](Memory& m) { m.buffers = 1; });
      change([](Memory& m) { m.resident.fill(false); });
      change([](Memory& m) { m.reserved_words.fill(0); });
      change([](Memory& m) { m.may_keep.fill(true); });
      change([](Memory& m) { m.may_bypass.fill(false); });
      change([](Memory& m) { m.read_words_per_cycle.reset(); });
      change([](Memory& m) { m.write_words_per_cycle.reset(); });
      change([](Memory& m) { m.bus_words_per_cycle.reset(); });
      for (std::size_t r = 0; r < kRoles; ++r) change([r](Memory& m) { m.bandwidth_of[r] = {}; });
      change([](Memory& m) { m.leak_pj_per_cycle = 0; });
      change([](Memory& m) { m.word_bits = 16; });
      change([](Memory& m) { m.bits = {}; });
      for (double Memory::*energy : {&Memory::read_pj, &Memory::write_pj, &Memory::update_pj}) {
        change([energy](Memory& m) { m.*energy = 0; });
        change([energy](Memory& m) { m.*energy = std::min(m.*energy, 1.0); });
      }
    }
    with([](Task& t) { t.accelerator.bits = {}; });
    with([](Task& t) { t.layer.bits = {}; });
    with([](Task& t) { t.accelerator.bits.partial_sums.reset(); });
    const auto change = [&](auto set) { with([set](Task& t) { set(t.accelerator.levels.back().compute()); }); };
    change([](Compute& c) { c.mac_pj = 0; });
    change([](Compute& c) { c.leak_pj_per_cycle = 0; });
    change([](Compute& c) { c.cycles_per_mac = 1; });
  }

  const Task& task_;
  const bool files_;
  std::vector<Task> all_;
};

}  // namespace

Task shrink(Task task, const std::function<bool(const Task&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const Task now = task;
    const Smaller steps(now);
    for (const Task& candidate : steps.all()) {
      if (!fails(candidate)) continue;
      task = candidate;
      smaller = true;
      break;
    }
  }
  return task;
}

std::string as_commands(const Task& task) {
  Accelerator shown = task.accelerator;
  shown.flexibility = task.flexibility;
  shown.flexibility_for.clear();
  const std::string map =
      fmt::format("pliant map --accelerator acc.yaml --layer layer.yaml --factorization {} --objective {} --mapper",
                  to_string(task.factorization), to_string(task.objective));
  std::string remark = can_be_files(task) ? "" : "# no reader takes these files; the library takes the task\n";
  for (const Level& level : shown.levels)
    for (std::size_t r = 0; level.is_memory() && r < kRoles; ++r)
      if (const Count words = level.memory().reserved_words[r]; words > 0 || level.memory().resident[r])
        remark += fmt::format("# {} reserves {} words for {}, {}\n", level.name, words, kRoleNames[r],
                              level.memory().resident[r] ? "which live there" : "not of this layer");
  if (task.most_cycles < std::numeric_limits<double>::infinity())
    remark += fmt::format("# the library takes the task with most_cycles = {}\n", task.most_cycles);
  return remark +
         fmt::format("cat > acc.yaml <<'END'\n{}END\ncat > layer.yaml <<'END'\n{}END\n{} exact\n{} exhaustive\n",
                     write_accelerator(shown), write_layer(task.layer), map, map);
}

}  // namespace pliant::tests
