// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <span>

#include "core/input/load.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/checked_layer.h"
#include "dse/import/text_forms.h"
#include "dse/import/zigzag/zigzag.h"

namespace pliant {
namespace {

/// One layer: O[b][k] += W[k][c] * I[b][c], relations ix = 2*ox + 1*fx, and a size for every loop.
class LayerReader {
 public:
  LayerReader(const Cursor& entry, ImportLog& log) : entry_(entry), log_(log) {}

  std::optional<Layer> read(const std::string& name) {
    if (!read_sizes() || !read_relations()) return std::nullopt;
    const auto equation = entry_.require("equation", "O[..]+=W[..]*I[..]");
    if (!equation) return std::nullopt;
    const std::string text = without_blanks(equation->text("an equation").value_or(""));
    const std::size_t sum = text.find("+="), product = text.find('*');
    if (sum == std::string::npos || product == std::string::npos || text.find('+', sum + 2) != std::string::npos) {
      return std::nullopt;  // no product: the caller lists it
    }
    Layer layer;
    layer.name = name;
    for (const auto& [dim, size] : sizes_) layer.dims.push_back({dim_from_zigzag(dim), size});
    const std::string parts[] = {text.substr(0, sum), text.substr(sum + 2, product - sum - 2),
                                 text.substr(product + 1)};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!add_tensor(*equation, parts[i], i == 0, layer)) return std::nullopt;
    }
    const ElementBits bits = read_precision(layer, parts);
    drop_unused(layer);
    auto known = as_gemm(layer);
    if (!known) known = as_conv(layer);
    if (!known) known = checked_layer(layer, entry_.node().at, entry_.path(), log_);
    if (known) known->bits = bits;
    return known;
  }

 private:
  bool read_sizes() {
    const auto dims = entry_.require("loop_dims", "a list of loops"),
               sizes = entry_.require("loop_sizes", "a size for each");
    if (!dims || !sizes || !dims->expect_list("a list of loops") || !sizes->expect_list("a list of sizes"))
      return false;
    const auto names = dims->items(), numbers = sizes->items();
    if (names.size() != numbers.size() || names.size() > kMaxDims) {
      sizes->problem(fmt::format("{} sizes for {} loops", numbers.size(), names.size()),
                     fmt::format("one each, at most {}", kMaxDims));
      return false;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto name = names[i].name();
      const auto size = numbers[i].count(1, Count{1} << 40);
      if (!name || !size) return false;
      sizes_.emplace_back(upper(*name), *size);
    }
    return true;
  }

  /// Bits by operand: of O while it is summed up, of O_final when it is done.
  ElementBits read_precision(const Layer& layer, std::span<const std::string> operands) {
    constexpr Count kMostBits = 4096;
    ElementBits bits;
    const auto precision = entry_.find("operand_precision");
    if (!precision || precision->node().is_null() || !precision->expect_map("operand: bits")) return bits;
    const auto entries = precision->entries();
    std::optional<int>& results = bits.of[static_cast<std::size_t>(Role::kOutput)];
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string& key = precision->entry(i).key;
      const auto width = entries[i].count(1, kMostBits);
      if (!width) continue;
      const int said = static_cast<int>(*width);
      bool known = false;
      for (std::size_t x = 0; x < operands.size(); ++x) {
        const std::string name = operands[x].substr(0, operands[x].find('['));
        const Role role = layer.tensors[x].role;
        std::optional<int>& own =
            role == Role::kOutput && key == name ? bits.partial_sums : bits.of[static_cast<std::size_t>(role)];
        if (key != name && !(role == Role::kOutput && key == name + "_final")) continue;
        known = true;
        if (own && *own != said)
          log_.unsupported(entries[i].node().at, entries[i].path(), "operands of one role with different widths");
        own = said;
      }
      if (!known) log_.choice(entries[i].node().at, shorten(key, 40), "the width of no operand: not read");
    }
    if (!results) results = bits.partial_sums;
    if (results && bits.partial_sums && *bits.partial_sums < *results) {
      log_.choice(precision->node().at, precision->path(), "partial sums narrower than results: taken to be as wide");
      bits.partial_sums = results;
    }
    return bits;
  }

  bool read_relations() {
    const auto list = entry_.find("dimension_relations");
    if (!list || list->node().is_null()) return true;
    for (const Cursor& item : list->items()) {
      const std::string text = without_blanks(item.text("index = sum").value_or(""));
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos) return item.problem("no relation", "ix=2*ox+1*fx"), false;
      const auto terms = sum_of(item, text.substr(equals + 1));
      if (terms.empty()) return false;
      relations_[upper(text.substr(0, equals))] = terms;
    }
    return true;
  }

  /// "2*ox+fx" as (dim, coefficient).
  std::vector<std::pair<std::string, Count>> sum_of(const Cursor& at, const std::string& text) {
    std::vector<std::pair<std::string, Count>> terms;
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t end = std::min(text.find('+', start), text.size());
      const std::string term = text.substr(start, end - start);
      const std::size_t star = term.find('*');
      const auto parsed = parse_count(star == std::string::npos ? "1" : term.substr(0, star));
      const Count* factor = std::get_if<Count>(&parsed);
      const std::string dim = upper(star == std::string::npos ? term : term.substr(star + 1));
      const bool known = std::ranges::any_of(sizes_, [&](const auto& one) { return one.first == dim; });
      if (factor == nullptr || *factor < 1 || *factor > (Count{1} << 30) || !known) {
        log_.unsupported(at.node().at, at.path(), fmt::format("the index `{}`", shorten(text, 40)),
                         "a sum of NUMBER*LOOP");
        return {};
      }
      terms.emplace_back(dim, *factor);
      start = end + 1;
    }
    return terms;
  }

  bool add_tensor(const Cursor& at, const std::string& text, bool output, Layer& layer) {
    const std::string name = text.substr(0, text.find('['));
    Tensor tensor;
    tensor.role = output ? Role::kOutput : name == "W" || name == "B" ? Role::kWeight : Role::kInput;
    tensor.name = output ? "Outputs" : tensor.role == Role::kWeight ? "Weights" : "Inputs";
    for (std::size_t open = text.find('['); open != std::string::npos; open = text.find('[', open + 1)) {
      const std::size_t close = text.find(']', open);
      if (close == std::string::npos)
        return at.problem("a bracket that does not close", "O[b][k]+=W[k][c]*I[b][c]"), false;
      const std::string index = upper(text.substr(open + 1, close - open - 1));
      const auto relation = relations_.find(index);
      const auto terms = relation != relations_.end() ? relation->second : sum_of(at, index);
      if (terms.empty()) return false;
      Rank rank;
      for (const auto& [dim, factor] : terms) rank.terms.push_back({layer.find_dim(dim_from_zigzag(dim)), factor});
      tensor.ranks.push_back(std::move(rank));
    }
    layer.tensors.push_back(std::move(tensor));
    return true;
  }

  /// A loop of size 1 that no tensor mentions says nothing.
  static void drop_unused(Layer& layer) {
    DimSet used = 0;
    for (std::size_t x = 0; x < layer.tensors.size(); ++x) used |= layer.coupled(static_cast<int>(x));
    for (std::size_t d = layer.dims.size(); d-- > 0;) {
      if ((used >> d & 1U) != 0 || layer.dims[d].size != 1) continue;
      layer.dims.erase(layer.dims.begin() + static_cast<std::ptrdiff_t>(d));
      for (Tensor& tensor : layer.tensors) {
        for (Rank& rank : tensor.ranks) {
          for (Term& term : rank.terms) term.dim -= term.dim > static_cast<int>(d) ? 1 : 0;
        }
      }
    }
  }

  Count size(const Layer& layer, const char* dim) const {
    const int d = layer.find_dim(dim);
    return d < 0 ? 1 : layer.dims[static_cast<std::size_t>(d)].size;
  }

  /// The same layer under our own names, if it is exactly that one.
  std::optional<Layer> same(const Layer& read, Layer candidate) const {
    const auto words = [](const Layer& layer) {
      std::set<std::string> all;
      for (const Tensor& tensor : layer.tensors) {
        std::string text = tensor.name;
        std::multiset<std::string> ranks;
        for (const Rank& rank : tensor.ranks) {
          std::set<std::string> terms;
          for (const Term& term : rank.terms) {
            const Dim& dim = layer.dims[static_cast<std::size_t>(term.dim)];
            if (dim.size > 1) terms.insert(fmt::format("{}*{}", term.coefficient, dim.name));
          }
          if (!terms.empty()) ranks.insert(join(terms, "+"));
        }
        all.insert(text + ":" + join(ranks, ";"));
      }
      return all;
    };
    if (words(read) != words(candidate)) return std::nullopt;
    return candidate;
  }

  std::optional<Layer> as_conv(const Layer& layer) {
    for (const Dim& dim : layer.dims) {
      if (std::string_view("BGMCPQRS").find(dim.name) == std::string_view::npos || dim.name.size() != 1)
        return std::nullopt;
    }
    const Count groups = size(layer, "G"), M = size(layer, "M"), C = size(layer, "C");
    ConvShape shape{.B = size(layer, "B"),
                    .P = size(layer, "P"),
                    .Q = size(layer, "Q"),
                    .R = size(layer, "R"),
                    .S = size(layer, "S")};
    if (!sizes_fit({shape.B, groups, groups, M, C, shape.P, shape.Q, shape.R, shape.S}, entry_.node().at, entry_.path(),
                   log_))
      return std::nullopt;
    shape.M = groups * M;
    shape.C = groups * C;
    shape.groups = groups;
    const auto coefficient = [&](const char* dim) {
      for (const Tensor& tensor : layer.tensors) {
        if (tensor.role != Role::kInput) continue;
        for (const Rank& rank : tensor.ranks) {
          for (const Term& term : rank.terms) {
            if (layer.dims[static_cast<std::size_t>(term.dim)].name == dim) return term.coefficient;
          }
        }
      }
      return Count{1};
    };
    shape.stride_p = coefficient("P");
    shape.stride_q = coefficient("Q");
    shape.dilation_r = coefficient("R");
    shape.dilation_s = coefficient("S");
    return same(layer, make_conv(layer.name, shape));
  }

  /// O[m][n] += I[m][k] * W[k][n] under whatever names.
  std::optional<Layer> as_gemm(const Layer& layer) {
    if (layer.dims.size() != 3) return std::nullopt;
    const auto in = [&](Role role, int dim) {
      for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
        if (layer.tensors[x].role == role) return (layer.coupled(static_cast<int>(x)) >> dim & 1U) != 0;
      }
      return false;
    };
    GemmShape shape;
    for (int d = 0; d < 3; ++d) {
      const bool o = in(Role::kOutput, d), i = in(Role::kInput, d), w = in(Role::kWeight, d);
      const Count own = layer.dims[static_cast<std::size_t>(d)].size;
      if (o && i && !w)
        shape.M = own;
      else if (o && w && !i)
        shape.N = own;
      else if (i && w && !o)
        shape.K = own;
      else
        return std::nullopt;
    }
    for (const Tensor& tensor : layer.tensors) {
      if (tensor.ranks.size() != 2) return std::nullopt;
    }
    if (!sizes_fit({shape.M, shape.N, shape.K}, entry_.node().at, entry_.path(), log_)) return std::nullopt;
    return make_gemm(layer.name, shape);
  }

  Cursor entry_;
  ImportLog& log_;
  std::vector<std::pair<std::string, Count>> sizes_;
  std::map<std::string, std::vector<std::pair<std::string, Count>>> relations_;
};

/// Where each operand comes from: another layer's id, or the layer's own for what comes from outside. Layers are mapped
/// by themselves, so branches need nothing more, but every source must be there and none may wait for itself.
class Sources {
 public:
  explicit Sources(const std::vector<Cursor>& layers) : layers_(layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto id = layers[i].node().is_map() ? layers[i].find("id") : std::nullopt;
      if (id && id->node().is_scalar()) by_id_.emplace(id->node().text, i);
    }
  }

  void check() {
    state_.resize(layers_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i) visit(i);
  }

 private:
  enum class State : char { kNew, kOpen, kDone };

  /// Depth first without recursion: a list of a hundred thousand layers may be one chain.
  void visit(std::size_t first) {
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> path;
    const auto open = [&](std::size_t layer) {
      state_[layer] = State::kOpen;
      path.emplace_back(layer, sources(layer));
    };
    if (state_[first] == State::kNew) open(first);
    while (!path.empty()) {
      auto& [layer, rest] = path.back();
      if (rest.empty()) {
        state_[layer] = State::kDone;
        path.pop_back();
        continue;
      }
      const std::size_t next = rest.back();
      rest.pop_back();
      if (state_[next] == State::kOpen && next != layer) {
        layers_[layer].find("operand_source")->problem("layers that wait for one another", "no cycle");
      } else if (state_[next] == State::kNew) {
        open(next);
      }
    }
  }

  std::vector<std::size_t> sources(std::size_t layer) const {
    std::vector<std::size_t> all;
    const auto source = layers_[layer].node().is_map() ? layers_[layer].find("operand_source") : std::nullopt;
    if (!source || !source->node().is_map()) return all;
    for (const Cursor& one : source->entries()) {
      const auto found = by_id_.find(one.node().text);
      if (found == by_id_.end()) {
        one.problem(one.node().describe() + " is no layer's id", "the id of a layer");
      } else if (found->second != layer) {
        all.push_back(found->second);
      }
    }
    return all;
  }

  const std::vector<Cursor>& layers_;
  std::map<std::string, std::size_t> by_id_;
  std::vector<State> state_;
};

}  // namespace

Workload read_zigzag_workload(const Cursor& list, const std::string& name, ImportLog& log) {
  Workload workload{name, "imported from ZigZag", {}};
  if (!list.expect_list("a list of layers")) return workload;
  UniqueNames names;
  Count total = 0;
  const std::vector<Cursor> entries = list.items();
  Sources(entries).check();
  for (const Cursor& entry : entries) {
    if (log.problems().full() || !entry.expect_map("a layer")) break;
    const auto type = entry.find("operator_type"), id = entry.find("id"), own = entry.find("name");
    const std::string kind = type && type->node().is_scalar() ? type->node().text : "layer";
    const std::string label =
        own && own->node().is_scalar() ? own->node().text : fmt::format("{}_{}", kind, id ? id->node().text : "");
    const std::size_t before = log.problems().size(), left = log.left_out().size();
    // Pooling is written as a product with a window of ones.
    const bool pooling = kind.find("Pool") != std::string::npos;
    const auto layer = pooling ? std::nullopt : LayerReader(entry, log).read(names(import_name(label, "layer")));
    if (!layer) {
      if (log.problems().size() == before && log.left_out().size() == left) {
        log.choice(entry.node().at, shorten(kind, 40), "no product of two tensors: no layer");
      }
      continue;
    }
    const auto sum = checked_add(total, layer->macs());
    if (!sum || *sum >= kMaxCount) {
      entry.problem("the MACs of all layers up to this one are too many", "fewer than 2^62");
      break;
    }
    total = *sum;
    workload.layers.push_back({*layer, 1});
  }
  if (workload.layers.empty() && log.problems().empty()) list.problem("no layer with a product", "at least one");
  return workload;
}

}  // namespace pliant
