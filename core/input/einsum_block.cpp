// SPDX-License-Identifier: Apache-2.0
#include "core/input/einsum_block.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant {
namespace {

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

class EinsumReader {
 public:
  EinsumReader(const Cursor& block, std::string name) : block_(block) {
    layer_.name = std::move(name);
    layer_.operation = Operation::kEinsum;
  }

  std::optional<Layer> read() {
    const std::size_t before = block_.problems().size();
    if (!block_.only_keys(keys::kEinsum, "{dims: {...}, tensors: [...]}")) return std::nullopt;
    const auto dims = block_.require("dims", "a map from dims to sizes");
    const auto tensors = block_.require("tensors", "a list of {name, role, projection}");
    if (!dims || !tensors) return std::nullopt;
    read_dims(*dims);
    // Without all dims every projection would be wrong as well.
    if (block_.problems().size() != before) return std::nullopt;
    read_tensors(*tensors);
    if (block_.problems().size() != before) return std::nullopt;
    check_use(*dims);
    if (block_.problems().size() != before) return std::nullopt;
    return std::move(layer_);
  }

 private:
  void read_dims(const Cursor& dims) {
    if (!dims.expect_map("a map from dims to sizes")) return;
    const std::vector<Cursor> sizes = dims.entries();
    if (sizes.empty()) return dims.problem("no dims", "at least one");
    if (sizes.size() > kMaxDims) {
      return dims.problem(fmt::format("{} dims", sizes.size()), fmt::format("at most {}", kMaxDims));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const YamlEntry& entry = dims.entry(i);
      if (!is_name(entry.key)) {
        dims.problems().add(entry.at, sizes[i].path(), "not a name", "letters, digits and _, starting with a letter");
      }
      layer_.dims.push_back({entry.key, sizes[i].count().value_or(1)});
    }
  }

  void read_tensors(const Cursor& tensors) {
    if (!tensors.expect_list("a list of {name, role, projection}")) return;
    const std::vector<Cursor> items = tensors.items();
    if (items.size() > kMaxTensors) {
      return tensors.problem(fmt::format("{} tensors", items.size()), fmt::format("at most {}", kMaxTensors));
    }
    for (const Cursor& item : items) read_tensor(item);
    const auto outputs = std::ranges::count_if(layer_.tensors, &Tensor::is_output);
    if (layer_.tensors.size() == items.size() && (outputs != 1 || items.size() < 2)) {
      tensors.problem(
          fmt::format("{} outputs and {} other tensors", outputs, static_cast<long>(items.size()) - outputs),
          "exactly one tensor with role outputs and at least one other");
    }
  }

  void read_tensor(const Cursor& item) {
    if (!item.only_keys(keys::kTensor, "{name, role, projection}")) return;
    Tensor tensor;
    if (const auto c = item.require("name", "the tensor's name")) {
      tensor.name = c->name().value_or("");
      if (!tensor.name.empty() && layer_.find_tensor(tensor.name) >= 0) {
        c->problem(fmt::format("a second tensor named {}", tensor.name), "a name of its own");
      }
    }
    if (const auto c = item.require("role", "one of " + join(keys::kRoleNames))) {
      tensor.role = static_cast<Role>(c->choice(keys::kRoleNames).value_or(0));
    }
    const auto projection = item.require("projection", "a list of index expressions such as [A, 2*B+C]");
    if (projection && projection->expect_list("a list of index expressions such as [A, 2*B+C]")) {
      DimSet seen = 0;
      for (const Cursor& rank : projection->items()) {
        if (auto expression = read_rank(rank, seen)) tensor.ranks.push_back(std::move(*expression));
      }
    }
    layer_.tensors.push_back(std::move(tensor));
  }

  /// coefficient*dim + ...; a dim stands once in a tensor, so that its elements are a product over its ranks.
  std::optional<Rank> read_rank(const Cursor& c, DimSet& seen) const {
    const auto text = c.text("an index expression such as A or 2*B+C");
    if (!text) return std::nullopt;
    Rank rank;
    std::string_view rest = *text;
    while (true) {
      const std::size_t plus = rest.find('+');
      const auto term = read_term(c, without_spaces(rest.substr(0, plus)));
      if (!term) return std::nullopt;
      const DimSet bit = DimSet{1} << term->dim;
      if ((seen & bit) != 0) {
        c.problem(
            fmt::format("the dim {} indexes this tensor twice", layer_.dims[static_cast<std::size_t>(term->dim)].name),
            "each dim at most once in a tensor");
        return std::nullopt;
      }
      seen |= bit;
      rank.terms.push_back(*term);
      if (plus == std::string_view::npos) return rank;
      rest.remove_prefix(plus + 1);
    }
  }

  std::optional<Term> read_term(const Cursor& c, std::string_view text) const {
    constexpr std::string_view kExpected = "terms such as A or 2*B, joined by +";
    Term term;
    std::string_view name = text;
    if (const std::size_t star = text.find('*'); star != std::string_view::npos) {
      const Parsed<Count> coefficient = parse_count(without_spaces(text.substr(0, star)));
      if (!std::holds_alternative<Count>(coefficient) || std::get<Count>(coefficient) < 1) {
        c.problem(
            fmt::format("`{}` is not a positive whole coefficient", shorten(without_spaces(text.substr(0, star)), 40)),
            std::string(kExpected));
        return std::nullopt;
      }
      term.coefficient = std::get<Count>(coefficient);
      name = without_spaces(text.substr(star + 1));
    }
    term.dim = layer_.find_dim(name);
    if (term.dim >= 0) return term;
    std::vector<std::string> known;
    for (const Dim& dim : layer_.dims) known.push_back(dim.name);
    if (is_name(name)) {
      c.problem(fmt::format("unknown dim `{}`", name), "one of " + join(known), nearest(name, known));
    } else {
      c.problem(fmt::format("`{}` is not a term", shorten(text, 40)), std::string(kExpected));
    }
    return std::nullopt;
  }

  void check_use(const Cursor& dims) const {
    DimSet used = 0;
    for (std::size_t x = 0; x < layer_.tensors.size(); ++x) used |= layer_.coupled(static_cast<int>(x));
    for (std::size_t d = 0; d < layer_.dims.size(); ++d) {
      if ((used >> d & 1U) == 0) dims.entries()[d].problem("no tensor is indexed by this dim", "a dim that is used");
    }
  }

  const Cursor& block_;
  Layer layer_;
};

}  // namespace

std::optional<Layer> read_einsum(const Cursor& block, std::string name) {
  return EinsumReader(block, std::move(name)).read();
}

}  // namespace pliant
