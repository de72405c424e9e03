// SPDX-License-Identifier: Apache-2.0
#include "core/mapping.h"

namespace pliant {

namespace {

struct NamedRule {
  Factorization rule;
  std::string_view name;
};
constexpr NamedRule kNames[] = {{Factorization::kPerfect, "pfm"},
                                {Factorization::kRubyS, "ruby-s"},
                                {Factorization::kRubyT, "ruby-t"},
                                {Factorization::kRuby, "ruby"},
                                {Factorization::kPadding, "padding"}};

}  // namespace

std::string_view to_string(Factorization rule) {
  for (const NamedRule& known : kNames)
    if (known.rule == rule) return known.name;
  return "?";
}

std::optional<Factorization> parse_factorization(std::string_view text) {
  for (const NamedRule& known : kNames)
    if (known.name == text) return known.rule;
  return std::nullopt;
}

Mapping empty_mapping(const Layer& layer, const Accelerator& accelerator) {
  Mapping mapping;
  mapping.levels.resize(accelerator.levels.size());
  for (std::size_t k = 0; k < mapping.levels.size(); ++k) {
    if (!accelerator.levels[k].is_memory()) continue;
    const Memory& memory = accelerator.levels[k].memory();
    for (std::size_t x = 0; x < layer.tensors.size(); ++x)
      if (memory.may_keep[static_cast<std::size_t>(layer.tensors[x].role)])
        mapping.levels[k].keeps |= TensorSet{1} << x;
  }
  return mapping;
}

}  // namespace pliant
