// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "core/input/element_bits.h"
#include "core/input/load.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/accelforge/accelforge.h"
#include "dse/import/accelforge/edges.h"
#include "dse/import/accelforge/tensor_set.h"
#include "dse/import/checked_layer.h"
#include "dse/import/known_layer.h"
#include "dse/import/templates/expression.h"
#include "dse/import/templates/named_values.h"
#include "dse/import/text_forms.h"

namespace pliant::accelforge {
namespace {

constexpr Count kLargestDim = Count{1} << 40;
constexpr Count kNoSize = std::numeric_limits<Count>::max();

class WorkloadReader {
 public:
  WorkloadReader(const Cursor& root, ImportLog& log) : root_(root), log_(log) {}

  std::optional<Workload> read(const std::string& name) {
    if (!root_.expect_map("rank sizes and einsums")) return std::nullopt;
    read_sizes();
    read_spaces();
    if (const auto found = root_.find("persistent_tensors"))
      log_.choice(found->node().at, "persistent_tensors", "not read: every einsum is mapped by itself");
    if (const auto bits = root_.find("bits_per_value")) read_widths(*bits);
    const auto einsums = root_.require("einsums", "a list of einsums");
    if (!einsums || !log_.problems().empty()) return std::nullopt;
    workload_ = {name, "imported from AccelForge", {}};
    read_list(*einsums, 0);
    workload_.graph = graph_.take();
    if (workload_.graph) {
      log_.choice(einsums->node().at, "einsums",
                  fmt::format("{} of them: what one makes may stay on chip for another, and with --fusion tiles their "
                              "tiles interleave",
                              einsums_));
    } else if (einsums_ > 1) {
      log_.choice(einsums->node().at, "einsums",
                  fmt::format("{} of them, each a layer by itself: fusing them is not modelled", einsums_));
    }
    for (const Width& width : widths_)
      if (!width.used) log_.choice(width.at, shorten(width.tensors, 40), "the width of no tensor of a layer: not read");
    if (workload_.layers.empty() && log_.problems().empty()) {
      einsums->problem("no einsum with a product of two tensors", "at least one");
    }
    return std::move(workload_);
  }

 private:
  /// Bits of a tensor, or of the tensors of some roles.
  struct Width {
    std::string tensors;
    Position at;
    int bits = 0;
    std::optional<RoleSet> roles{};
    bool used = false;
  };

  /// One number for all tensors says how wide words are, which is a matter of the accelerator.
  void read_widths(const Cursor& bits) {
    constexpr Count kMostBits = 4096;
    if (!bits.expect_map("tensor: bits")) return;
    const auto entries = bits.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Width width{bits.entry(i).key, entries[i].node().at};
      const auto said = entries[i].count(1, kMostBits);
      if (!said) continue;
      width.bits = static_cast<int>(*said);
      if (width.tensors == "All") {
        all_bits_ = width.bits;
        continue;
      }
      if (width.tensors.find("Intermediates") != std::string::npos) {
        log_.unsupported(entries[i].node().at, entries[i].path(), "a width of intermediate tensors",
                         "a tensor's name, input, weight or output");
        continue;
      }
      try {
        width.roles = read_tensor_set(width.tensors, {});
      } catch (const ExpressionError&) {
        // A tensor's name.
      }
      widths_.push_back(std::move(width));
    }
    if (widths_.empty())
      log_.choice(bits.node().at, "bits_per_value", "one width for all: words are those of the accelerator");
  }

  /// Widths of a layer, where the file tells tensors apart.
  ElementBits widths_of(const Einsum& einsum, const Layer& layer) {
    ElementBits bits;
    if (widths_.empty()) return bits;
    bits.of.fill(all_bits_);
    for (std::size_t x = 0; x < einsum.accesses.size(); ++x) {
      const auto role = static_cast<std::size_t>(layer.tensors[x].role);
      const Width* found = nullptr;  // by its name, else by its role
      for (Width& width : widths_) {
        const bool named = width.tensors == einsum.accesses[x].tensor;
        if (!named && !(width.roles && (*width.roles >> role & 1U) != 0)) continue;
        width.used = true;
        if (found != nullptr && found->roles && width.roles && found->bits != width.bits)
          log_.unsupported(width.at, shorten(width.tensors, 40), "two widths for one tensor");
        if (found == nullptr || named) found = &width;
      }
      if (found != nullptr) bits.of[role] = found->bits;
    }
    return bits;
  }

  void read_sizes() {
    const auto sizes = root_.find("rank_sizes");
    if (!sizes || sizes->node().is_null() || !sizes->expect_map("rank: size")) return;
    std::map<std::string, std::string> texts;
    for (const YamlEntry& entry : sizes->node().entries) texts[entry.key] = entry.value.text;
    NamedValues values(texts);
    const auto entries = sizes->entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (const auto size = size_of(entries[i], values)) rank_sizes_[sizes->entry(i).key] = *size;
    }
  }

  static std::optional<Count> size_of(const Cursor& cursor, NamedValues& values) {
    const std::string text = cursor.text("a size").value_or("");
    std::string why = "not a whole number of at least 1";
    try {
      const double value = values.evaluate(text).as_number();
      if (value >= 1 && value <= static_cast<double>(kLargestDim) && std::floor(value) == value)
        return static_cast<Count>(value);
    } catch (const ExpressionError& error) {
      why = error.what();
    }
    cursor.problem(fmt::format("`{}`: {}", shorten(text, 40), why), "a size or an expression of sizes");
    return std::nullopt;
  }

  void read_spaces() {
    // `shape` is the name in older files.
    for (const char* key : {"iteration_space_shape", "shape"}) {
      const auto space = root_.find(key);
      if (!space || space->node().is_null() || !space->expect_map("variable: 0 <= variable < size")) continue;
      for (const Cursor& one : space->entries()) {
        if (const auto bound = read_bound(one, one.text("a range").value_or(""), log_))
          bounds_[bound->first] = bound->second;
      }
    }
  }

  /// Einsums of included files come as lists inside the list.
  void read_list(const Cursor& list, int depth) {
    constexpr int kDeepest = 8;
    if (depth > kDeepest || !list.expect_list("a list of einsums")) return;
    for (const Cursor& item : list.items()) {
      if (log_.problems().full()) return;
      if (item.node().is_sequence()) {
        read_list(item, depth + 1);
        continue;
      }
      ++einsums_;
      const auto einsum = item.node().is_map() ? read_map(item) : read_einsum_text(item, log_);
      if (einsum) add(item, *einsum);
    }
  }

  std::optional<Einsum> read_map(const Cursor& item) {
    std::optional<Einsum> einsum;
    if (const auto text = item.find("einsum")) {
      einsum = read_einsum_text(*text, log_);
    } else if (const auto accesses = item.require("tensor_accesses", "the tensors of the einsum")) {
      einsum = read_accesses(*accesses);
    }
    if (!einsum) return std::nullopt;
    if (const auto name = item.find("name")) einsum->name = name->text("a name").value_or("");
    if (const auto copy = item.find("is_copy_operation"); copy && copy->node().text != "False") einsum->product = false;
    if (const auto space = item.find("iteration_space_shape")) {
      for (const Cursor& one : space->node().is_map() ? space->entries() : space->items()) {
        if (const auto bound = read_bound(one, one.text("a range").value_or(""), log_))
          einsum->bounds.push_back(*bound);
      }
    }
    if (const auto renames = item.find("renames"); renames && renames->node().is_map()) {
      for (const YamlEntry& entry : renames->node().entries) einsum->role_of[entry.value.text] = entry.key;
    }
    for (const YamlEntry& entry : item.node().entries) {
      static const std::set<std::string> known{
          "name", "einsum", "tensor_accesses", "iteration_space_shape", "renames", "is_copy_operation"};
      if (!known.contains(entry.key)) log_.unsupported(entry.at, shorten(entry.key, 40), "this key of an einsum");
    }
    return einsum;
  }

  std::optional<Einsum> read_accesses(const Cursor& list) {
    if (!list.expect_list("a list of tensors")) return std::nullopt;
    Einsum einsum;
    einsum.at = list.node().at;
    for (const Cursor& one : list.items()) {
      if (!one.expect_map("a tensor")) return std::nullopt;
      const auto name = one.require("name", "a name"), projection = one.require("projection", "its indices");
      if (!name || !projection) return std::nullopt;
      Access access{name->text("a name").value_or(""), false, {}};
      if (const auto output = one.find("output"))
        access.output = output->node().text == "True" || output->node().text == "true";
      const auto items = projection->node().is_map() ? projection->entries() : projection->items();
      for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string text = items[i].text("an index").value_or("");
        const auto terms = read_index(items[i], text, log_);
        if (!terms) return std::nullopt;
        access.indices.push_back({projection->node().is_map() ? projection->entry(i).key : upper(text), *terms});
      }
      einsum.accesses.push_back(std::move(access));
    }
    return einsum;
  }

  void add(const Cursor& item, const Einsum& einsum) {
    const auto outputs = std::ranges::count(einsum.accesses, true, &Access::output);
    if (outputs != 1) return item.problem(fmt::format("{} outputs", outputs), "exactly one");
    for (const Access& access : einsum.accesses) {
      if (access.output) made_.insert(access.tensor);
    }
    if (!einsum.product || einsum.accesses.size() != 3) {
      if (const auto words = words_made(einsum)) graph_.add_operator(einsum, *words);
      return log_.choice(einsum.at, shorten(einsum.name, 40), "no product of two tensors: no layer");
    }
    auto layer = as_layer(item, einsum);
    if (!layer) return;
    const DimSet all = (DimSet{1} << layer->dims.size()) - 1;
    if (layer->coupled(0) == all && layer->coupled(1) == all && layer->coupled(2) == all) {
      if (const auto words = words_made(einsum)) graph_.add_operator(einsum, *words);
      return log_.choice(einsum.at, shorten(einsum.name, 40), "a product element by element: no layer");
    }
    std::vector<Role> roles;
    for (const Tensor& tensor : layer->tensors) roles.push_back(tensor.role);
    const ElementBits bits = widths_of(einsum, *layer);
    if (const auto known = known_layer(*layer)) layer = known;
    layer = checked_layer(*layer, einsum.at, shorten(einsum.name, 40), log_);
    if (!layer) return;
    layer->bits = bits;
    if (const auto row = count(item, *layer)) graph_.add_layer(einsum, roles, *row);
  }

  /// Words of what an einsum makes; nothing where a size is missing or all of them are too many.
  std::optional<Count> words_made(const Einsum& einsum) const {
    const std::map<std::string, Count> sizes = sizes_of(einsum);
    const auto output = std::ranges::find(einsum.accesses, true, &Access::output);
    Count words = 1;
    for (const Index& index : output->indices) {
      Count extent = 1;
      for (const auto& [variable, factor] : index.terms) {
        const Count size = sizes.at(variable);
        if (size > kLargestDim || factor > kLargestDim / size) return std::nullopt;
        extent += factor * (size - 1);
      }
      const auto product = checked_multiply(words, extent);
      if (!product) return std::nullopt;
      words = *product;
    }
    return words;
  }

  /// Equal layers are one entry, named after the first.
  std::optional<int> count(const Cursor& item, Layer layer) {
    const auto sum = checked_add(macs_, layer.macs());
    if (!sum || *sum >= kMaxCount) {
      item.problem("the MACs of all layers up to this one are too many", "fewer than 2^62");
      return std::nullopt;
    }
    macs_ = *sum;
    if (!layer.written_as.empty()) {
      const auto [known, is_new] =
          index_.emplace(layer.written_as + write_element_bits(layer.bits), workload_.layers.size());
      if (!is_new) {
        ++workload_.layers[known->second].count;
        return static_cast<int>(known->second);
      }
    }
    layer.name = names_(layer.name);
    workload_.layers.push_back({std::move(layer), 1});
    return static_cast<int>(workload_.layers.size()) - 1;
  }

  std::optional<Layer> as_layer(const Cursor& item, const Einsum& einsum) {
    Layer layer;
    layer.name = import_name(einsum.name, "einsum");
    for (const auto& [variable, size] : sizes_of(einsum)) {
      if (size == kNoSize) {
        item.problem(fmt::format("no size for `{}`", shorten(variable, 40)), "rank_sizes or an iteration space");
        return std::nullopt;
      }
      layer.dims.push_back({variable, size});
    }
    if (layer.dims.size() > kMaxDims) {
      item.problem(fmt::format("{} dims", layer.dims.size()), fmt::format("at most {}", kMaxDims));
      return std::nullopt;
    }
    bool has_input = false;
    for (std::size_t i = 0; i < einsum.accesses.size(); ++i) {
      const Access& access = einsum.accesses[i];
      Tensor tensor{import_name(access.tensor, "tensor"), role(einsum, access, has_input), {}};
      has_input |= tensor.role == Role::kInput;
      for (const Index& index : access.indices) {
        Rank rank;
        for (const auto& [variable, factor] : index.terms) rank.terms.push_back({layer.find_dim(variable), factor});
        tensor.ranks.push_back(std::move(rank));
      }
      layer.tensors.push_back(std::move(tensor));
    }
    return layer;
  }

  std::map<std::string, Count> sizes_of(const Einsum& einsum) const {
    std::map<std::string, Count> sizes;
    for (const Access& access : einsum.accesses) {
      for (const Index& index : access.indices) narrow(index, sizes);
    }
    for (const auto& [variable, bound] : einsum.bounds) {
      if (sizes.contains(variable)) sizes[variable] = std::min(sizes[variable], bound);
    }
    return sizes;
  }

  /// A variable that indexes a rank by itself is smaller than the rank.
  void narrow(const Index& index, std::map<std::string, Count>& sizes) const {
    for (const auto& [variable, factor] : index.terms) {
      Count& size = sizes.emplace(variable, kNoSize).first->second;
      if (const auto bound = bounds_.find(variable); bound != bounds_.end()) size = std::min(size, bound->second);
      const auto rank = rank_sizes_.find(index.rank);
      if (index.terms.size() == 1 && rank != rank_sizes_.end()) size = std::min(size, (rank->second - 1) / factor + 1);
    }
  }

  /// As the file says; else what an einsum before made is an input, and the other operand the weights.
  Role role(const Einsum& einsum, const Access& access, bool has_input) const {
    if (access.output) return Role::kOutput;
    const auto operands_with = [&](const auto& is) {
      return std::ranges::count_if(einsum.accesses, [&](const Access& one) { return !one.output && is(one); });
    };
    const auto said = einsum.role_of.find(access.tensor);
    if (said != einsum.role_of.end() && said->second == "input") return Role::kInput;
    if (said != einsum.role_of.end() && said->second == "weight") return Role::kWeight;
    const bool other_said = operands_with([&](const Access& one) {
                              const auto own = einsum.role_of.find(one.tensor);
                              return own != einsum.role_of.end() && own->second == "input";
                            }) > 0;
    if (other_said) return Role::kWeight;
    const auto is_made = [&](const Access& one) { return made_.contains(one.tensor); };
    if (operands_with(is_made) == 1) return is_made(access) ? Role::kInput : Role::kWeight;
    const auto is_weight = [](const Access& one) { return one.tensor.starts_with("W"); };
    if (operands_with(is_weight) == 1) return is_weight(access) ? Role::kWeight : Role::kInput;
    return has_input ? Role::kWeight : Role::kInput;
  }

  Cursor root_;
  ImportLog& log_;
  std::map<std::string, Count> rank_sizes_, bounds_;
  std::vector<Width> widths_;  ///< beside that of all
  std::optional<int> all_bits_;
  std::set<std::string> made_;                ///< tensors that einsums so far have made
  std::map<std::string, std::size_t> index_;  ///< of equal layers
  UniqueNames names_;
  Workload workload_;
  EinsumGraph graph_{workload_, log_};
  Count macs_ = 0;
  int einsums_ = 0;
};

}  // namespace

std::optional<Workload> read_workload(const Cursor& workload, const std::string& name, ImportLog& log) {
  return WorkloadReader(workload, log).read(name);
}

}  // namespace pliant::accelforge
