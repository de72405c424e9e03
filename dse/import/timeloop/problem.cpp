// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "core/input/source_text.h"
#include "dse/import/checked_layer.h"
#include "dse/import/timeloop/document.h"

namespace pliant::timeloop {
namespace {

constexpr Count kLargestSize = Count{1} << 40;

struct DataSpace {
  std::string name;
  bool output = false;
  std::vector<std::vector<std::pair<std::string, Count>>> ranks;  ///< terms: dim, coefficient
};

class ProblemReader {
 public:
  ProblemReader(const Cursor& problem, ImportLog& log) : problem_(problem), log_(log) {}

  std::optional<Problem> read(const std::string& name) {
    if (!problem_.expect_map("a problem")) return std::nullopt;
    const auto shape = problem_.require("shape", "dimensions and data_spaces");
    const auto instance = problem_.require("instance", "a size for every dimension");
    if (!shape || !instance || !shape->expect_map("a shape") || !instance->expect_map("sizes")) return std::nullopt;
    refuse_densities(*instance);
    read_sizes(*shape, *instance);
    read_spaces(*shape, *instance);
    if (!log_.problems().empty()) return std::nullopt;
    auto problem = as_convolution(name);
    if (!problem) problem = as_einsum(name);
    const auto layer = checked_layer(problem->layer, problem_.node().at, "problem", log_);
    if (!layer) return std::nullopt;
    problem->layer = *layer;
    return problem;
  }

 private:
  void refuse_densities(const Cursor& instance) {
    const auto densities = instance.find("densities");
    if (!densities || !densities->node().is_map()) return;
    for (const Cursor& one : densities->entries()) {
      const auto density = one.node().is_map() ? one.find("density") : std::optional(one);
      if (density && density->node().is_scalar() && density->node().text == "1") continue;
      log_.unsupported(one.node().at, one.path(), "a density below 1: sparse data");
    }
  }

  void read_sizes(const Cursor& shape, const Cursor& instance) {
    const auto dims = shape.require("dimensions", "a list of dimensions");
    if (!dims || !dims->expect_list("a list of dimensions")) return;
    for (const Cursor& dim : dims->items()) {
      const std::string name = dim.name().value_or("");
      const auto size = name.empty() ? std::nullopt : instance.require(name, "the dimension's size");
      if (size) dims_.emplace_back(name, size->count(1, kLargestSize).value_or(1));
    }
    if (dims_.size() > kMaxDims)
      dims->problem(fmt::format("{} dimensions", dims_.size()), fmt::format("at most {}", kMaxDims));
  }

  Count coefficient(const Cursor& cursor, const Cursor& shape, const Cursor& instance) {
    const std::string name = cursor.text("a coefficient").value_or("");
    if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
      return cursor.count(1, kLargestSize).value_or(1);
    }
    if (const auto value = instance.find(name)) return value->count(1, kLargestSize).value_or(1);
    if (const auto list = shape.find("coefficients")) {
      for (const Cursor& one : list->items()) {
        const auto own = one.node().is_map() ? one.find("name") : std::nullopt;
        const auto value = own && own->node().text == name ? one.find("default") : std::nullopt;
        if (value) return value->count(1, kLargestSize).value_or(1);
      }
    }
    log_.unsupported(cursor.node().at, cursor.path(), fmt::format("the coefficient `{}`", shorten(name, 40)),
                     "a positive whole number, or a coefficient with a value");
    return 1;
  }

  void read_spaces(const Cursor& shape, const Cursor& instance) {
    const auto spaces = shape.require("data_spaces", "a list of data spaces");
    if (!spaces || !spaces->expect_list("a list of data spaces")) return;
    for (const Cursor& one : spaces->items()) {
      if (!one.expect_map("a data space")) continue;
      DataSpace space;
      if (const auto name = one.require("name", "its name"))
        space.name = import_name(name->text().value_or(""), "data");
      if (const auto flag = one.find("read_write"))
        space.output = flag->node().text == "true" || flag->node().text == "True";
      const auto projection = one.require("projection", "a list of index expressions");
      if (!projection || !projection->expect_list("a list of index expressions")) continue;
      for (const Cursor& rank : projection->items()) {
        std::vector<std::pair<std::string, Count>> terms;
        if (!rank.expect_list("a sum of dims")) continue;
        for (const Cursor& term : rank.items()) read_term(term, shape, instance, terms);
        if (!terms.empty()) space.ranks.push_back(std::move(terms));
      }
      spaces_.push_back(std::move(space));
    }
    const auto outputs = std::ranges::count(spaces_, true, &DataSpace::output);
    if (outputs != 1) spaces->problem(fmt::format("{} data spaces with read_write", outputs), "exactly one output");
  }

  /// [C] or [R, Wdilation].
  void read_term(const Cursor& term, const Cursor& shape, const Cursor& instance,
                 std::vector<std::pair<std::string, Count>>& terms) {
    const std::vector<Cursor> words = term.items();
    const std::string dim = term.node().is_scalar() ? term.node().text
                            : words.empty()         ? ""
                                                    : words[0].text("a dim").value_or("");
    if (std::ranges::find(dims_, dim, &std::pair<std::string, Count>::first) == dims_.end()) {
      if (!dim.empty()) term.problem(fmt::format("unknown dim `{}`", shorten(dim, 40)), "one of the dimensions");
      return;
    }
    if (words.size() > 2) log_.unsupported(term.node().at, term.path(), "an index with a product of dims");
    terms.emplace_back(dim, words.size() > 1 ? coefficient(words[1], shape, instance) : 1);
  }

  Count size_of(std::string_view dim) const {
    const auto found = std::ranges::find(dims_, dim, &std::pair<std::string, Count>::first);
    return found == dims_.end() ? 0 : found->second;
  }

  const DataSpace* space(std::string_view name) const {
    const auto found = std::ranges::find(spaces_, name, &DataSpace::name);
    return found == spaces_.end() ? nullptr : &*found;
  }

  /// "R+2*P" of each rank, dims of size 1 left out.
  std::multiset<std::string> pattern(const DataSpace& of) const {
    std::multiset<std::string> all;
    for (const auto& rank : of.ranks) {
      std::set<std::string> terms;
      for (const auto& [dim, coefficient] : rank) {
        if (size_of(dim) > 1) terms.insert(dim);
      }
      if (!terms.empty()) all.insert(join(terms, "+"));
    }
    return all;
  }

  Count coefficient_of(const DataSpace& of, std::string_view dim) const {
    for (const auto& rank : of.ranks) {
      for (const auto& [own, coefficient] : rank) {
        if (own == dim) return coefficient;
      }
    }
    return 1;
  }

  /// Timeloop's convolution (N, M, C, P, Q, R, S, with or without G) is one of ours, under our names.
  std::optional<Problem> as_convolution(const std::string& name) {
    const DataSpace *weights = space("Weights"), *inputs = space("Inputs"), *outputs = space("Outputs");
    const std::set<std::string> letters{"N", "M", "C", "P", "Q", "R", "S", "G"};
    for (const auto& [dim, size] : dims_) {
      if (!letters.contains(dim)) return std::nullopt;
    }
    for (const char* dim : {"N", "M", "C", "P", "Q", "R", "S"}) {
      if (size_of(dim) == 0) return std::nullopt;
    }
    if (spaces_.size() != 3 || weights == nullptr || inputs == nullptr || outputs == nullptr || !outputs->output)
      return std::nullopt;
    const auto expected = [&](std::initializer_list<const char*> words) {
      std::multiset<std::string> all;
      for (const std::string_view word : words) {
        std::set<std::string> terms;
        for (const char c : word) {
          if (size_of(std::string_view(&c, 1)) > 1) terms.insert(std::string(1, c));
        }
        if (!terms.empty()) all.insert(join(terms, "+"));
      }
      return all;
    };
    if (pattern(*weights) != expected({"G", "M", "C", "R", "S"}) ||
        pattern(*outputs) != expected({"N", "G", "M", "P", "Q"}) ||
        pattern(*inputs) != expected({"N", "G", "C", "PR", "QS"})) {
      return std::nullopt;
    }
    const Count groups = std::max<Count>(size_of("G"), 1);
    if (!sizes_fit({groups, groups, size_of("M"), size_of("C")}, problem_.node().at, "problem", log_))
      return std::nullopt;
    const ConvShape shape{.B = size_of("N"),
                          .M = groups * size_of("M"),
                          .C = groups * size_of("C"),
                          .P = size_of("P"),
                          .Q = size_of("Q"),
                          .R = size_of("R"),
                          .S = size_of("S"),
                          .stride_p = coefficient_of(*inputs, "P"),
                          .stride_q = coefficient_of(*inputs, "Q"),
                          .dilation_r = coefficient_of(*inputs, "R"),
                          .dilation_s = coefficient_of(*inputs, "S"),
                          .groups = groups};
    Problem problem;
    problem.layer = make_conv(name, shape);
    for (const auto& [dim, size] : dims_) {
      const bool depthwise = problem.layer.operation == Operation::kDepthwise;
      const std::string ours = dim == "N" ? "B" : dim == "G" && depthwise ? "C" : dim == "C" && depthwise ? "" : dim;
      problem.dims[dim] = problem.layer.find_dim(ours);
    }
    for (const char* tensor : {"Weights", "Inputs", "Outputs"})
      problem.tensors[tensor] = problem.layer.find_tensor(tensor);
    return problem;
  }

  std::optional<Problem> as_einsum(const std::string& name) {
    Problem problem;
    problem.layer.name = name;
    problem.layer.operation = Operation::kEinsum;
    for (const auto& [dim, size] : dims_) {
      problem.dims[dim] = static_cast<int>(problem.layer.dims.size());
      problem.layer.dims.push_back({dim, size});
    }
    bool has_input = false;
    for (const DataSpace& one : spaces_) {
      const char first = one.name.empty() ? '\0' : one.name.front();
      const bool weight = !one.output && (first == 'W' || first == 'F' || has_input);
      Tensor tensor{one.name, one.output ? Role::kOutput : weight ? Role::kWeight : Role::kInput, {}};
      has_input |= tensor.role == Role::kInput;
      for (const auto& rank : one.ranks) {
        Rank own;
        for (const auto& [dim, coefficient] : rank) own.terms.push_back({problem.dims.at(dim), coefficient});
        tensor.ranks.push_back(std::move(own));
      }
      problem.tensors[one.name] = static_cast<int>(problem.layer.tensors.size());
      problem.layer.tensors.push_back(std::move(tensor));
    }
    return problem;
  }

  Cursor problem_;
  ImportLog& log_;
  std::vector<std::pair<std::string, Count>> dims_;
  std::vector<DataSpace> spaces_;
};

}  // namespace

std::optional<Problem> read_problem(const Cursor& problem, const std::string& name, ImportLog& log) {
  return ProblemReader(problem, log).read(name);
}

}  // namespace pliant::timeloop
