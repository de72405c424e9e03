// SPDX-License-Identifier: Apache-2.0
#include "dse/design/proven_elsewhere.h"

#include <algorithm>
#include <utility>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"

namespace pliant {

namespace {

/// Sums may be formed in another order.
constexpr double kSameValue = 1e-12;
/// Of the mappings found elsewhere: if these do not do, others hardly ever do.
constexpr std::size_t kMostTried = 8;

std::size_t hash_of(const Task& form) {
  auto hash = static_cast<std::size_t>(form.objective);
  const auto add = [&](std::size_t value) { hash = hash * 1'000'003 + value; };
  for (const Dim& dim : form.layer.dims) add(static_cast<std::size_t>(dim.size));
  for (const Level& level : form.accelerator.levels)
    if (level.is_memory())
      for (const bool resident : level.memory().resident) add(resident ? 1 : 0);
  return hash;
}

bool same(const Task& a, const Task& b) {
  return a.objective == b.objective && a.factorization == b.factorization && a.layer == b.layer &&
         a.flexibility == b.flexibility && a.accelerator == b.accelerator;
}

/// Fills in the first mapping that costs here no more than the lower bound, but for the gap.
bool take_first(const Task& task, const std::vector<const Mapping*>& mappings, double gap, SearchResult& result) {
  for (const Mapping* mapping : mappings) {
    if (!check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *mapping).empty()) continue;
    const Totals totals = price(task.layer, task.accelerator, *mapping).totals;
    const double value = task_value(task, totals);
    if (value == kInfinity || result.lower_bound < value * (1 - std::max(gap, kSameValue))) continue;
    result.mapping = *mapping;
    result.totals = totals;
    result.value = value;
    result.lower_bound = std::min(result.lower_bound, value);
    result.certified = result.lower_bound >= value * (1 - kSameValue);
    result.ended_by = result.certified ? EndedBy::kProof : EndedBy::kProofWithinGap;
    return true;
  }
  return false;
}

/// What is kept of a proven search: run_mapper prices the mapping again.
TaskResult to_keep(const SearchResult& result) {
  TaskResult kept;
  kept.status = result.mapping ? TaskStatus::kSolved : TaskStatus::kNoLegalMapping;
  if (result.mapping) kept.mapping = *result.mapping;
  kept.energy_pj = result.totals.energy_pj;
  kept.runtime_cycles = result.totals.cycles;
  kept.value = result.value;
  kept.lower_bound = result.lower_bound;
  kept.certified = result.certified;
  kept.ended_by = result.ended_by;
  return kept;
}

SearchResult from_kept(TaskResult kept) {
  SearchResult result;
  result.infeasible = kept.status == TaskStatus::kNoLegalMapping;
  if (!result.infeasible) result.mapping = std::move(kept.mapping);
  result.value = kept.value;
  result.lower_bound = kept.lower_bound;
  result.certified = kept.certified;
  result.ended_by = kept.ended_by;
  return result;
}

}  // namespace

std::vector<ProvenElsewhere::Answer>& ProvenElsewhere::answers_to(Task form) {
  const std::size_t hash = hash_of(form);
  for (auto [at, end] = groups_.equal_range(hash); at != end; ++at)
    if (same(at->second.form, form)) return at->second.answers;
  return groups_.emplace(hash, Group{std::move(form), {}})->second.answers;
}

void ProvenElsewhere::add(SizedTask task, SearchResult result) {
  answers_to(std::move(task.form)).push_back({std::move(task.sizes), std::move(result)});
  ++size_;
}

void ProvenElsewhere::add(const ProvenElsewhere& others) {
  for (const auto& [hash, group] : others.groups_) {
    std::vector<Answer>& own = answers_to(group.form);
    own.insert(own.end(), group.answers.begin(), group.answers.end());
  }
  size_ += others.size_;
}

void add(ProvenSoFar& proven, ProvenElsewhere learnt) {
  if (learnt.size() == 0) return;
  while (!proven.empty() && proven.back()->size() <= 2 * learnt.size()) {
    ProvenElsewhere joined = *proven.back();
    joined.add(learnt);
    learnt = std::move(joined);
    proven.pop_back();
  }
  proven.push_back(std::make_shared<const ProvenElsewhere>(std::move(learnt)));
}

const std::vector<ProvenElsewhere::Answer>* ProvenElsewhere::find(const Task& form) const {
  for (auto [at, end] = groups_.equal_range(hash_of(form)); at != end; ++at)
    if (same(at->second.form, form)) return &at->second.answers;
  return nullptr;
}

SearchResult RecallingMapper::search(const Task& task, const SearchOptions& options) const {
  auto sized = sized_task(task);
  if (!sized) return ask(task, options);
  SearchResult result;
  std::vector<const Mapping*> mappings;
  const Mapping* of_bound = nullptr;
  std::vector<const ProvenElsewhere*> pieces{&learnt_};  // the newest first
  for (auto piece = proven_.rbegin(); piece != proven_.rend(); ++piece) pieces.push_back(piece->get());
  for (const ProvenElsewhere* known : pieces) {
    const auto* answers = known->find(sized->form);
    if (answers == nullptr) continue;
    for (auto at = answers->rbegin(); at != answers->rend(); ++at) {
      const ProvenElsewhere::Answer& answer = *at;
      const Mapping* mapping = answer.result.mapping ? &*answer.result.mapping : nullptr;
      if (mapping != nullptr && mappings.size() < kMostTried) mappings.push_back(mapping);
      if (!no_worse(answer.sizes, sized->sizes)) continue;
      if (answer.result.infeasible) return answer.result;
      if (answer.result.lower_bound <= result.lower_bound) continue;
      result.lower_bound = answer.result.lower_bound;
      of_bound = mapping;
    }
  }
  if (of_bound != nullptr) {
    mappings.insert(mappings.begin(), of_bound);
    if (take_first(task, mappings, options.gap, result)) return result;
  }
  result = ask(task, options);
  if (proven(result)) learnt_.add(std::move(*sized), result);
  return result;
}

SearchResult RecallingMapper::ask(const Task& task, const SearchOptions& options) const {
  const std::optional<TaskKey> key = store_ != nullptr ? std::optional(namer_.key(task, options.gap)) : std::nullopt;
  if (key && store_->contains(*key)) {
    if (auto kept = store_->get(*key)) return from_kept(std::move(*kept));
    store_->forget(*key);
  }
  ++searches_;
  SearchResult result = mapper_.search(task, options);
  if (key && proven(result)) store_->put(*key, std::make_shared<const TaskResult>(to_keep(result)));
  return result;
}

}  // namespace pliant
