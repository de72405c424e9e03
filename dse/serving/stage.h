// SPDX-License-Identifier: Apache-2.0
// One pass of the chips of one stage: its layers, operators without MACs, and what chips send each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dse/mappers/residency/operator_cost.h"
#include "dse/serving/context_curve.h"
#include "dse/serving/row_costs.h"

namespace pliant::serving {

/// Everything of one kind in a pass: cycles of the busiest chip, energy of all chips of the stage.
struct KindSpent {
  std::string kind;  ///< "attn_q_proj", "operators", "links"
  Count count = 0;
  Spent spent;
};

/// Adds what is of a kind that is there, or appends it.
void add_kind(std::vector<KindSpent>& kinds, const KindSpent& more);
Spent sum_of(const std::vector<KindSpent>& kinds);

class Stage {
 public:
  /// `sequences` at once, of one of the groups that attend by themselves.
  Stage(RowCosts& costs, Count stage, Count sequences);

  /// A whole prompt, attention included.
  std::vector<KindSpent> prompt(Count tokens);
  /// What does not depend on the context: of `tokens` more tokens of each sequence (1 = a decode step).
  std::vector<KindSpent> without_attention(Count tokens, bool is_prefill);
  /// The rows of one layer's attention that grow with the context, and what their softmax costs.
  std::vector<ContextRow> attention_rows(Count tokens, bool is_prefill) const;
  std::function<Spent(Count)> softmax(Count tokens, bool is_prefill) const;
  /// Layers that attend to everything, and to a window of so many tokens.
  Count full_layers() const;
  Count windowed_layers() const { return shard_.layers - full_layers(); }
  const LanguageModel& shard() const { return shard_; }
  /// Energy of one chip as that of all chips of the stage.
  Spent of_all_chips(Spent one) const;

 private:
  ModelPass pass(Count tokens, bool is_prefill) const;
  std::vector<KindSpent> cost(const LanguageModel& model, const ModelPass& pass, bool with_attention);
  KindSpent operators(const Workload& workload, bool with_softmax) const;
  Spent spent(const residency::OperatorCost& cost) const;
  KindSpent rotary_and_sampling(Count tokens) const;
  KindSpent links(Count tokens) const;

  RowCosts& costs_;
  const Request& request_;
  LanguageModel shard_;
  Count sequences_;
  bool last_;
};

}  // namespace pliant::serving
