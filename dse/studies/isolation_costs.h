// SPDX-License-Identifier: Apache-2.0
// Runtime, and of all mappings that are as fast the least energy, of designs on MnasNet.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "dse/studies/study_sweep.h"
#include "dse/studies/study_task.h"

namespace pliant {

struct IsolationDesign {
  const char* name;         ///< as the paper calls it
  const char* flexibility;  ///< as the sweep does
};

/// Both are proven, so neither depends on which of many fastest mappings a search happens to find.
class IsolationCosts {
 public:
  /// Runs the sweep under the paper's bandwidth, then asks for the least energy of every layer at its least runtime.
  IsolationCosts(const StudyContext& context, const std::string& sweep, const std::function<void(Sweep&)>& change);

  const SweepData& data() const { return data_; }
  /// Of a layer; "" is the network.
  double runtime(const std::string& flexibility, const std::string& layer) const;
  double energy(const std::string& flexibility, const std::string& layer) const;

  /// Sets runtime, energy and EDP of a layer ("" = the network) beside those of the first design.
  void add_relative(std::span<const IsolationDesign> designs, const std::string& layer, StudyResult& result,
                    DataTable& table) const;
  static DataTable table();  ///< with the columns that add_relative fills

 private:
  SweepData data_;
  std::map<std::pair<std::string, std::string>, double> energy_pj_;  ///< by flexibility and layer
};

/// Bars of runtime by layer and design.
Chart runtime_bars(std::string name, std::string title, DataTable table);

}  // namespace pliant
