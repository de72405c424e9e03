// SPDX-License-Identifier: Apache-2.0
#include "dse/design/serving_bound.h"

#include <algorithm>

#include "core/input/diagnostics.h"
#include "dse/serving/serve.h"
#include "dse/sweep/serving_task.h"

namespace pliant {

namespace {

/// Is there a goal or a limit of this measure?
bool asks_for(const Sweep& sweep, DesignMeasure measure) {
  const auto names = [&](const Constraint& limit) {
    return std::ranges::find(limit.names(), column_of(measure)) != limit.names().end();
  };
  return std::ranges::any_of(sweep.goals->minimize,
                             [&](const DesignGoals::Goal& goal) { return goal.measure == measure; }) ||
         std::ranges::any_of(sweep.result_limits, names);
}

/// Times for the objective runtime, joules for energy: serve() bounds what it makes least.
void bound_phases(const serving::Request& request, const serving::Served& served, ServingLeast& least) {
  const double all = served.prefill.spent.least + served.decode.spent.least;
  const double tokens = static_cast<double>(request.batch) * static_cast<double>(request.output);
  if (request.objective == Objective::kEnergy) {
    least.j_per_token = all * 1e-12 / tokens;
    return;
  }
  least.ttft_s = served.ttft_bound_s;
  least.tpot_s = served.tpot_bound_s.value_or(0);
  least.s_per_token = all / *request.accelerator.clock_hz / tokens;
}

/// Answers of layers by objective: requests on one accelerator share them.
struct KnownAnswers {
  std::shared_ptr<serving::KnownRows> of_time = std::make_shared<serving::KnownRows>(),
                                      of_energy = std::make_shared<serving::KnownRows>();
};

ServingLeast bound_one(const Sweep& sweep, const serving::Request& ask, DesignPoint point, const KnownAnswers& known,
                       bool floors, const std::stop_token& stop) {
  ServingLeast least;
  const bool time = asks_for(sweep, DesignMeasure::kTtft) || asks_for(sweep, DesignMeasure::kTpot) ||
                    asks_for(sweep, DesignMeasure::kServedTokensPerS);
  for (const Objective objective : {Objective::kRuntime, Objective::kEnergy}) {
    point.objective = objective;
    const serving::Request request = served_request(ask, point, stop);
    try {
      serving::check_request(request, "serve");
    } catch (const InputError&) {
      return least;  // its designs say why
    }
    const serving::MemoryNeed need = serving::memory_need(request);
    if (need.largest_batch) least.most_sequences = static_cast<double>(*need.largest_batch);
    least.none_serves = !need.fits();
    if (least.none_serves || !(objective == Objective::kRuntime ? time : asks_for(sweep, DesignMeasure::kTokensPerJ)))
      continue;
    try {
      serving::RowCosts costs(request, objective == Objective::kRuntime ? known.of_time : known.of_energy, floors);
      bound_phases(request, serving::serve(costs), least);
    } catch (const serving::NoMapping&) {
      least.none_serves = true;
    }
    if (least.none_serves) return least;
  }
  return least;
}

ServingBounds bound_all(const Sweep& sweep, const std::shared_ptr<const Accelerator>& ideal, bool floors,
                        const std::stop_token& stop) {
  ServingBounds all;
  if (sweep.served.empty()) return all;
  DesignPoint point;
  point.accelerator = ideal;
  // Floors are those of all rules.
  const std::vector<Factorization> rules = floors ? std::vector{Factorization::kRuby} : sweep.factorizations;
  std::vector<KnownAnswers> known(rules.size());
  for (const Workload& workload : sweep.workloads) {
    ServingLeast& least = all.emplace_back();
    const auto asked = sweep.served.find(workload.name);
    if (asked == sweep.served.end()) continue;
    for (std::size_t f = 0; f < rules.size(); ++f) {
      point.factorization = rules[f];
      const ServingLeast one = bound_one(sweep, asked->second, point, known[f], floors, stop);
      if (f == 0) least = one;
      least.lower(one);
    }
  }
  return all;
}

}  // namespace

double ServingLeast::of(DesignMeasure measure) const {
  switch (measure) {
    case DesignMeasure::kTtft: return ttft_s;
    case DesignMeasure::kTpot: return tpot_s;
    case DesignMeasure::kServedTokensPerS: return s_per_token;
    case DesignMeasure::kTokensPerJ: return j_per_token;
    case DesignMeasure::kLargestBatch: return 1 / most_sequences;
    default: return 0;
  }
}

void ServingLeast::raise(const ServingLeast& other) {
  ttft_s = std::max(ttft_s, other.ttft_s);
  tpot_s = std::max(tpot_s, other.tpot_s);
  s_per_token = std::max(s_per_token, other.s_per_token);
  j_per_token = std::max(j_per_token, other.j_per_token);
  most_sequences = std::min(most_sequences, other.most_sequences);
  none_serves |= other.none_serves;
}

void ServingLeast::lower(const ServingLeast& other) {
  ttft_s = std::min(ttft_s, other.ttft_s);
  tpot_s = std::min(tpot_s, other.tpot_s);
  s_per_token = std::min(s_per_token, other.s_per_token);
  j_per_token = std::min(j_per_token, other.j_per_token);
  most_sequences = std::max(most_sequences, other.most_sequences);
  none_serves &= other.none_serves;
}

void raise(ServingBounds& bounds, const ServingBounds& other) {
  for (std::size_t w = 0; w < std::min(bounds.size(), other.size()); ++w) bounds[w].raise(other[w]);
}

ServingBounds serving_floors(const Sweep& sweep, const std::shared_ptr<const Accelerator>& ideal) {
  return bound_all(sweep, ideal, true, {});
}

std::optional<ServingBounds> search_serving_bounds(const Sweep& sweep, const std::shared_ptr<const Accelerator>& ideal,
                                                   const std::stop_token& stop) {
  ServingBounds all = bound_all(sweep, ideal, false, stop);
  if (stop.stop_requested()) return std::nullopt;
  return all;
}

ServingBounds serving_bounds_of(const std::vector<std::optional<DesignRow::Serving>>& served) {
  ServingBounds all(served.size());
  for (std::size_t w = 0; w < served.size(); ++w) {
    if (!served[w]) continue;
    all[w].none_serves = !served[w]->cost;
    if (served[w]->largest_batch) all[w].most_sequences = static_cast<double>(*served[w]->largest_batch);
    if (!served[w]->cost) continue;
    const DesignRow::Serving::Cost& cost = *served[w]->cost;
    all[w].ttft_s = cost.ttft_s;
    all[w].tpot_s = cost.tpot_s.value_or(0);
    all[w].s_per_token = 1 / cost.tokens_per_s;
    all[w].j_per_token = cost.tokens_per_j > 0 ? 1 / cost.tokens_per_j : 0;
  }
  return all;
}

}  // namespace pliant
