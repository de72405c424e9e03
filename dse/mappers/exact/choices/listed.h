// SPDX-License-Identifier: Apache-2.0
// Which combinations of unrollings were listed before, whatever their numbers are in another list.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dse/mappers/exact/choices/choice.h"

namespace pliant::exact {

class ListedBefore {
 public:
  /// Names for the unrollings of a list by fanout, the same in every list.
  using Names = std::vector<std::vector<char32_t>>;
  Names names(const std::vector<std::vector<Unrolling>>& unrollings) {
    names_.resize(unrollings.size());
    Names all(unrollings.size());
    for (std::size_t f = 0; f < unrollings.size(); ++f)
      for (const Unrolling& one : unrollings[f])
        all[f].push_back(
            names_[f].try_emplace({one.rows, one.cols}, static_cast<char32_t>(names_[f].size())).first->second);
    return all;
  }
  bool contains(const std::u32string& names) const { return listed_.contains(names); }
  void insert(std::u32string names) { listed_.insert(std::move(names)); }

 private:
  using Loops = std::array<std::int32_t, kMaxDims>;
  std::vector<std::map<std::pair<Loops, Loops>, char32_t>> names_;
  std::unordered_set<std::u32string> listed_;
};

}  // namespace pliant::exact
