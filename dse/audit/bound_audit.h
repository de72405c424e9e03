// SPDX-License-Identifier: Apache-2.0
// Lower bounds of layers, proven by the auditor alone: choice by choice, or because the bound holds where nothing is
// worse.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dse/audit/audit.h"

namespace pliant::audit {

struct BoundVerdict {
  bool holds = false;
  std::string wrong, undecided;  ///< why not
};

/// Does every mapping of the task have at least this value?
BoundVerdict audit_bound(const Task& task, double least, const AuditOptions& options);

/// Many bounds at once. One that holds on an accelerator which has no less of anything holds here too, so those with
/// the most are proven first.
class BoundAudits {
 public:
  /// The layer lives as long as this.
  void add(std::string line, std::shared_ptr<const Accelerator> accelerator, const Layer& layer, Factorization rule,
           Objective objective, double least);
  std::uint64_t count() const { return count_; }
  /// By line, in the order of their groups, on all threads; those not begun when `late` says so are left out.
  struct Verdict {
    std::string line;
    BoundVerdict verdict;
  };
  std::vector<Verdict> run(const AuditOptions& options, const std::function<bool()>& late) const;

 private:
  struct Asked {
    std::string line;
    std::shared_ptr<const Accelerator> accelerator;
    std::vector<double> sizes;
    double least = 0;
  };
  struct Group {
    const Layer* layer = nullptr;
    Factorization rule = Factorization::kPerfect;
    Objective objective = Objective::kEdp;
    Accelerator form;
    std::vector<Asked> asked;
  };
  static void prove(const Group& group, const AuditOptions& options, const std::function<bool()>& late,
                    std::vector<Verdict>& verdicts);

  std::vector<Group> groups_;
  std::uint64_t count_ = 0;
};

}  // namespace pliant::audit
