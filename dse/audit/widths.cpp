// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/widths.h"

#include <algorithm>
#include <span>

#include "dse/audit/index_values.h"

namespace pliant::audit {

int Widths::of(int level, Role role) const {
  const auto r = static_cast<std::size_t>(role);
  const Memory& memory = accelerator_.levels[static_cast<std::size_t>(level)].memory();
  if (memory.bits.of[r]) return *memory.bits.of[r];
  if (layer_.bits.of[r]) return *layer_.bits.of[r];
  return accelerator_.bits.of[r].value_or(memory.word_bits);
}

int Widths::of_sums(int level) const {
  const Memory& memory = accelerator_.levels[static_cast<std::size_t>(level)].memory();
  const int finished = of(level, Role::kOutput);
  if (memory.bits.partial_sums) return std::max(finished, *memory.bits.partial_sums);
  if (layer_.bits.partial_sums) return std::max(finished, *layer_.bits.partial_sums);
  return std::max(finished, accelerator_.bits.partial_sums.value_or(finished));
}

int Widths::held(int level, int tensor) const {
  const Role role = layer_.tensors[static_cast<std::size_t>(tensor)].role;
  return role == Role::kOutput ? of_sums(level) : of(level, role);
}

std::vector<Rank> joined_ranks(const std::vector<Rank>& ranks, const std::vector<Count>& sizes) {
  // By rank, the first one that it hangs together with, over any number of dims.
  std::vector<std::size_t> first(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) first[r] = r;
  const auto shares = [&](const Rank& a, const Rank& b) {
    return std::ranges::any_of(a.terms, [&](const Term& one) {
      return std::ranges::any_of(b.terms, [&](const Term& other) { return one.dim == other.dim; });
    });
  };
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (std::size_t other = 0; other < r; ++other)
      if (first[other] != first[r] && shares(ranks[other], ranks[r])) {
        const std::size_t kept = std::min(first[other], first[r]), gone = std::max(first[other], first[r]);
        std::ranges::replace(first, gone, kept);
      }
  std::vector<Rank> joined;
  for (std::size_t begin = 0; begin < ranks.size(); ++begin) {
    if (first[begin] != begin) continue;
    Rank& all = joined.emplace_back();
    Count digit = 1;
    for (std::size_t r = begin; r < ranks.size(); ++r) {
      if (first[r] != begin) continue;
      Count values = 1;
      for (const Term& term : ranks[r].terms) {
        values += term.coefficient * (sizes[static_cast<std::size_t>(term.dim)] - 1);
        const auto known = std::ranges::find(all.terms, term.dim, &Term::dim);
        if (known == all.terms.end())
          all.terms.push_back({term.dim, digit * term.coefficient});
        else
          known->coefficient += digit * term.coefficient;
      }
      digit *= values;
    }
  }
  return joined;
}

TileElements::TileElements(const Layer& layer, Conventions::Footprint convention, const std::vector<Count>& sizes)
    : boxes_(convention == Conventions::Footprint::kBoundingBox) {
  for (const Tensor& tensor : layer.tensors)
    ranks_.push_back(boxes_ ? tensor.ranks : joined_ranks(tensor.ranks, sizes));
}

TileElements::Elements TileElements::of(int tensor, const std::array<Count, kMaxDims>& tile) const {
  Elements elements;
  for (const Rank& rank : ranks_[static_cast<std::size_t>(tensor)]) {
    const auto along = [&](const Term& term) { return tile[static_cast<std::size_t>(term.dim)]; };
    if (rank.terms.size() == 1 && (!boxes_ || rank.terms[0].coefficient == 1)) {
      elements.fewest *= static_cast<double>(along(rank.terms[0]));
      continue;
    }
    std::array<IndexTerm, kMostTerms> terms;
    std::size_t count = 0;
    for (const Term& term : rank.terms) terms[count++] = {term.coefficient, along(term)};
    const std::span<const IndexTerm> all(terms.data(), count);
    if (boxes_) {
      elements.fewest *= static_cast<double>(box_of_values(all));
      continue;
    }
    const Count fewest = fewest_values(all);
    elements.fewest *= static_cast<double>(fewest);
    if (count > 2 && fewest < most_values(all)) elements.exactly = false;
  }
  return elements;
}

}  // namespace pliant::audit
