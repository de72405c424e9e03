// SPDX-License-Identifier: Apache-2.0
// Figure 7 of the Ruby paper: on four toy problems the best mapping found by random search, sample by sample, in each
// of its map-spaces; beside it what a proof adds, the optima of two of them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "dse/studies/study.h"

namespace pliant {

/// The paper's map-spaces, smallest first; `ruby_name` has its names.
inline constexpr std::array kRubyRules = {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                          Factorization::kRuby};
std::string ruby_name(Factorization rule);

/// The best value after 1, 2, ... samples.
using SearchCurve = std::vector<double>;

/// Geometric mean, sample by sample, of the searches with seeds 1, 2, ..., `runs`: random mappings, no early end.
SearchCurve random_search_curve(const StudyContext& context, const Accelerator& accelerator, const Layer& layer,
                                Factorization rule, std::size_t runs, std::size_t samples);

/// The number of samples from which on one curve stays below another; nothing when it does not end below it.
std::optional<std::size_t> samples_until_below(const SearchCurve& curve, const SearchCurve& other);

/// Optima, mapping counts, curves and where they cross.
void ruby_toys(const StudyContext& context, StudyResult& result);

}  // namespace pliant
