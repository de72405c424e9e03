// SPDX-License-Identifier: Apache-2.0
// Figure 13 of the flexibility paper under one bandwidth: runtimes of every class of flexibility, built into one
// inflexible design, on networks that came later.
#pragma once

#include <string>
#include <vector>

#include "dse/studies/future_designs.h"
#include "dse/studies/study_sweep.h"

namespace pliant {

inline constexpr const char* kInFlex = "InFlex-0000";

class FutureTable {
 public:
  explicit FutureTable(Rows designs) : designs_(std::move(designs)) {}

  double cycles(const std::string& flexibility, const FutureNetwork& network) const;
  /// Beside the inflexible design.
  double relative(const std::string& flexibility, const FutureNetwork& network) const {
    return cycles(flexibility, network) / cycles(kInFlex, network);
  }
  /// Of the seven networks, geometric means.
  double mean(const std::string& flexibility) const;
  double mean_cycles(const std::string& flexibility) const;
  bool has(const FutureNetwork& network) const { return designs_.has({{"workload", network.workload}}); }
  std::vector<std::string> flexibilities() const { return designs_.values("flexibility"); }
  double area(const std::string& flexibility) const {
    return designs_.number(designs_.where({{"flexibility", flexibility}}).front(), "area_um2");
  }
  bool certified() const;
  /// Entries where a class is slower than one that it contains.
  int not_monotone() const;

 private:
  Rows designs_;
};

/// Classes of flexref with this baseline on the seven networks (quick: on three) under a bandwidth: all, or with a
/// mapper that proves nothing those of one axis and the full one.
FutureTable run_classes(const StudyContext& context, const InflexibleDesign& baseline, const std::string& bandwidth,
                        const std::string& mapper = "exact");

}  // namespace pliant
