// SPDX-License-Identifier: Apache-2.0
// The best inflexible designs for the networks of an era, and classes of flexibility built into one of them on language
// models: what studies `llm-future` and `enough` look at.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dse/studies/flexibility_paper.h"
#include "dse/studies/inflexible_design.h"
#include "dse/studies/study.h"
#include "dse/studies/study_sweep.h"

namespace pliant {

struct Era {
  const char* name;
  std::array<const char*, 3> workloads;
};
inline constexpr std::array<const char*, 4> kModelBandwidths = {"25.6", "102.4", kPaperBandwidth, kNoLimit};
/// Phases by what the names of their workloads end in.
struct ModelPhase {
  const char* name;
  const char* ending;
};
inline constexpr std::array kPhases = {ModelPhase{"prefill", "_2k"}, ModelPhase{"decode", "_decode_8k"},
                                       ModelPhase{"decode of 16", "_decode_8k_batch16"}};
inline constexpr const char* kBaseline = "InFlex-0000";

inline bool belongs(const std::string& workload, const ModelPhase& phase) { return workload.ends_with(phase.ending); }

/// Of the designs that are optimal for an era the one in the middle when they are ordered by what they take for the
/// language models (nobody can know the best when building for the era); some of the others; how far the worst is from
/// the best.
struct EraDesign {
  InflexibleDesign design;
  std::vector<InflexibleDesign> some;
  double count = 0, spread = 1;
};
struct EraUnder {
  Era era;
  std::string bandwidth;
  EraDesign chosen;
};
/// Both eras under every bandwidth, made once for all studies of a run; quick: the first under one. `models` are always
/// those of study_llm_future.
const std::vector<EraUnder>& eras_under_bandwidths(const StudyContext& context, const std::vector<Workload>& models);

/// One era under one bandwidth.
class ModelTable {
 public:
  /// `more`: classes beside those of the sweep.
  ModelTable(const StudyContext& context, const EraUnder& one, const std::vector<std::string>& more = {});

  double cycles(const std::string& flexibility, const std::string& workload) const {
    return designs_.number({{"flexibility", flexibility}, {"workload", workload}}, "runtime_cycles");
  }
  double speedup(const std::string& flexibility, const std::string& workload) const {
    return cycles(kBaseline, workload) / cycles(flexibility, workload);
  }
  /// Geometric mean over the workloads of a phase.
  double speedup(const std::string& flexibility, const ModelPhase& phase) const;
  std::vector<std::string> workloads() const { return designs_.values("workload"); }
  std::vector<std::string> flexibilities() const { return designs_.values("flexibility"); }
  double area(const std::string& flexibility) const {
    return designs_.number(designs_.where({{"flexibility", flexibility}}).front(), "area_um2");
  }
  double area_percent(const std::string& flexibility) const { return 100 * (area(flexibility) / area(kBaseline) - 1); }
  bool certified() const;

 private:
  Rows designs_;
};

}  // namespace pliant
