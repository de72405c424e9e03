// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/arithmetic.h"
#include "core/input/diagnostics.h"
#include "dse/serving/shard.h"

namespace pliant::serving {

namespace {

constexpr Count kMostTokens = Count{1} << 22;
constexpr Count kMostSequences = Count{1} << 20;

/// Batches that follow one another through the stages, so that none waits.
struct Flow {
  Count batches = 1, sequences = 1;
};
Flow flow_of(const Request& request) {
  const Count own = ceil_div(request.batch, request.division.ep);
  const Count batches = std::min(request.division.pp, own);
  return {batches, ceil_div(own, batches)};
}

/// One batch through all stages, with the energy of all batches; and the stage that takes longest.
struct Passed {
  Spent sum;
  double slowest = 0, slowest_least = 0;
};
Passed pass(const std::vector<Spent>& stages, Count batches, bool energy) {
  Passed passed;
  for (const Spent& one : stages) {
    passed.sum.cycles += one.cycles;
    passed.sum.energy_pj += one.energy_pj * static_cast<double>(batches);
    passed.sum.least += energy ? one.least * static_cast<double>(batches) : one.least;
    passed.slowest = std::max(passed.slowest, one.cycles);
    passed.slowest_least = std::max(passed.slowest_least, one.least);
  }
  return passed;
}

/// From the first to the last cycle when so many batches pass the stages: one passes all of them, the others come out
/// at the pace of the slowest. No order is faster.
Spent through(const std::vector<Spent>& stages, Count batches, bool energy) {
  auto [sum, slowest, slowest_least] = pass(stages, batches, energy);
  sum.cycles += static_cast<double>(batches - 1) * slowest;
  if (!energy) sum.least += static_cast<double>(batches - 1) * slowest_least;
  return sum;
}

/// The same when batches go round: a batch's next token waits for all batches at the slowest stage.
Spent around(const std::vector<Spent>& stages, Count batches, bool energy) {
  auto [sum, slowest, slowest_least] = pass(stages, batches, energy);
  sum.cycles = std::max(sum.cycles, static_cast<double>(batches) * slowest);
  if (!energy) sum.least = std::max(sum.least, static_cast<double>(batches) * slowest_least);
  return sum;
}

/// The phases of a request, stage by stage.
class Phases {
 public:
  explicit Phases(RowCosts& costs) : costs_(costs), request_(costs.request()), flow_(flow_of(request_)) {
    for (Count s = 0; s < request_.division.pp; ++s) stages_.emplace_back(costs, s, flow_.sequences);
  }

  void prefill(Served& served) {
    served.prefill.name = "prefill";
    if (request_.chunk > 0 && request_.chunk < request_.prompt) return prefill_in_parts(served);
    served.prefill.steps = 1;
    std::vector<Spent> each;
    for (Stage& stage : stages_) {
      const std::vector<KindSpent> kinds = stage.prompt(request_.prompt);
      each.push_back(sum_of(kinds));
      for (const KindSpent& one : kinds) note(served.prefill, one, flow_.batches);
    }
    served.prefill.spent = through(each, flow_.batches, energy());
  }

  void decode(Served& served, const std::vector<Count>& asked) {
    served.decode.name = "decode";
    if (request_.output < 2) return;
    const Contexts contexts{request_.prompt + 1, request_.prompt + request_.output - 1, 1};
    served.decode.steps = contexts.count();
    settle(contexts);
    for (Count c = contexts.first; c <= contexts.last; ++c) served.decode.spent += step(c);
    note_decode(served, contexts);
    std::vector<Count> keys{contexts.first, (contexts.first + contexts.last) / 2, contexts.last};
    keys.insert(keys.end(), asked.begin(), asked.end());
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const Count c : keys) {
      if (c < contexts.first || c > contexts.last) settle_on({c, c, 1});
      served.steps.push_back({c, step(c)});
    }
    served.points = curve_->points();
    served.searches_a_layer = curve_->searches_a_layer();
  }

 private:
  bool energy() const { return request_.objective == Objective::kEnergy; }

  void note(PhaseSpent& phase, KindSpent kind, Count times) {
    kind.count *= times;
    kind.spent = kind.spent * static_cast<double>(times);
    add_kind(phase.kinds, kind);
  }

  Count shortened(Count keys, Count more) const {
    return request_.model.window > 0 ? std::min(keys, request_.model.window + more) : keys;
  }

  /// One stage: parts of the prompt follow one another, each sees those before it.
  void prefill_in_parts(Served& served) {
    Stage& stage = stages_.front();
    const Count part = request_.chunk, whole = request_.prompt / part, rest = request_.prompt % part;
    const auto parts = [&](Count tokens, const Contexts& contexts) {
      const std::vector<KindSpent> kinds = stage.without_attention(tokens, true);
      const Spent beside = sum_of(kinds);
      ContextCurve curve(stage.attention_rows(tokens, true), stage.softmax(tokens, true), costs_);
      const auto layers = static_cast<double>(stage.shard().layers);
      curve.settle(contexts, beside.value(request_.objective) * static_cast<double>(contexts.count()) / layers,
                   request_.gap / 2);
      KindSpent attention{"attention", 0, {}};
      for (Count c = contexts.first; c <= contexts.last; c += contexts.step) {
        Spent all = curve.at(c) * static_cast<double>(stage.full_layers());
        all += curve.at(shortened(c, tokens)) * static_cast<double>(stage.windowed_layers());
        attention.spent += stage.of_all_chips(all);
        attention.count += stage.shard().layers;
        served.longest_part_s =
            std::max(served.longest_part_s, (beside.cycles + all.cycles) / *request_.accelerator.clock_hz);
      }
      for (const KindSpent& one : kinds) note(served.prefill, one, contexts.count());
      note(served.prefill, attention, 1);
      served.prefill.steps += contexts.count();
    };
    if (whole > 0) parts(part, {part, whole * part, part});
    if (rest > 0) parts(rest, {request_.prompt, request_.prompt, 1});
    served.prefill.spent = sum_of(served.prefill.kinds);
  }

  /// What every decode step costs besides attention, by stage, and the curve of one layer's attention.
  void settle(const Contexts& contexts) {
    double beside = 0, layers = 0;
    for (Stage& stage : stages_) {
      beside_.push_back(stage.without_attention(1, false));
      beside += sum_of(beside_.back()).value(request_.objective);
      layers += static_cast<double>(stage.shard().layers);
    }
    curve_ = std::make_unique<ContextCurve>(stages_.front().attention_rows(1, false), stages_.front().softmax(1, false),
                                            costs_);
    beside_of_layer_ = beside / layers;
    if (energy()) beside_of_layer_ /= static_cast<double>(request_.division.tp * request_.division.ep);
    settle_on(contexts);
  }

  /// Contexts of layers that see all of them, and of those with a window.
  void settle_on(const Contexts& contexts) {
    const double beside = beside_of_layer_ * static_cast<double>(contexts.count());
    const auto any = [&](auto layers) { return std::ranges::any_of(stages_, layers); };
    if (any([](const Stage& stage) { return stage.full_layers() > 0; }))
      curve_->settle(contexts, beside, request_.gap / 2);
    if (any([](const Stage& stage) { return stage.windowed_layers() > 0; }))
      curve_->settle({shortened(contexts.first, 0), shortened(contexts.last, 0), 1}, beside, request_.gap / 2);
  }

  Spent attention(const Stage& stage, Count keys) {
    Spent all = curve_->at(keys) * static_cast<double>(stage.full_layers());
    if (stage.windowed_layers() > 0)
      all += curve_->at(shortened(keys, 0)) * static_cast<double>(stage.windowed_layers());
    return stage.of_all_chips(all);
  }

  Spent step(Count keys) {
    std::vector<Spent> each;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      each.push_back(sum_of(beside_[s]));
      each.back() += attention(stages_[s], keys);
    }
    return around(each, flow_.batches, energy());
  }

  void note_decode(Served& served, const Contexts& contexts) {
    KindSpent all{"attention", 0, {}};
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (const KindSpent& one : beside_[s]) note(served.decode, one, contexts.count() * flow_.batches);
      for (Count c = contexts.first; c <= contexts.last; ++c) all.spent += attention(stages_[s], c);
      all.count += stages_[s].shard().layers * contexts.count();
    }
    note(served.decode, all, flow_.batches);
  }

  RowCosts& costs_;
  const Request& request_;
  Flow flow_;
  std::vector<Stage> stages_;
  std::vector<std::vector<KindSpent>> beside_;  ///< by stage
  double beside_of_layer_ = 0;                  ///< of a step: what it costs besides attention, for each layer
  std::unique_ptr<ContextCurve> curve_;
};

}  // namespace

double PhaseSpent::gap(Objective objective) const {
  const double value = spent.value(objective);
  return value > 0 ? std::max(0.0, (value - spent.least) / value) : 0;
}

Served serve(RowCosts& costs, const std::vector<Count>& contexts) {
  const Request& request = costs.request();
  Served served;
  served.memory = memory_need(request);
  Phases phases(costs);
  phases.prefill(served);
  phases.decode(served, contexts);
  served.searches = costs.searches();
  const double clock = *request.accelerator.clock_hz;
  const bool time = request.objective != Objective::kEnergy;
  served.ttft_s = served.prefill.spent.cycles / clock;
  served.ttft_bound_s = time ? served.prefill.spent.least / clock : 0;
  double whole_s = served.ttft_s;
  if (served.decode.steps > 0) {
    const auto steps = static_cast<double>(served.decode.steps);
    served.tpot_s = served.decode.spent.cycles / clock / steps;
    served.tpot_bound_s = time ? served.decode.spent.least / clock / steps : 0;
    served.tokens_per_s_per_user = 1 / *served.tpot_s;
    whole_s += served.decode.spent.cycles / clock;
  }
  const double tokens = static_cast<double>(request.batch) * static_cast<double>(request.output);
  served.energy_j = (served.prefill.spent.energy_pj + served.decode.spent.energy_pj) * 1e-12;
  served.tokens_per_s = tokens / whole_s;
  served.tokens_per_j = served.energy_j > 0 ? tokens / served.energy_j : 0;
  served.gap = std::max(served.prefill.gap(request.objective), served.decode.gap(request.objective));
  return served;
}

Served serve(const Request& request, const std::vector<Count>& contexts) {
  RowCosts costs(request);
  return serve(costs, contexts);
}

void check_request(const Request& request, std::string_view command) {
  const auto wrong = [&](std::string option, std::string what, std::string expected) {
    return InputError(
        Diagnostic{std::string(command), 0, 0, std::move(option), std::move(what), std::move(expected), ""});
  };
  const auto within = [&](const char* option, Count value, Count most) {
    if (value < 1 || value > most) throw wrong(option, fmt::format("{}", value), fmt::format("1 to {}", most));
  };
  within("--prompt", request.prompt, kMostTokens);
  within("--output", request.output, kMostTokens);
  within("--batch", request.batch, kMostSequences);
  if (!request.accelerator.clock_hz)
    throw wrong("--accelerator", fmt::format("{} has no clock, so nothing has seconds", request.accelerator.name),
                "an accelerator with `clock`");
  if (request.objective != Objective::kRuntime && request.objective != Objective::kEnergy)
    throw wrong("--objective", fmt::format("{} of a request", pliant::to_string(request.objective)),
                "runtime or energy");
  if (request.accelerator.hints.min_utilization > 0)
    throw wrong("--accelerator", "its hints leave mappings out, so no bound would hold", "one without `hints`");
  if (const auto why = cannot_divide(request.model, request.division))
    throw wrong(request.division.ep > 1 && !request.model.experts ? "--ep" : "--tp", *why,
                "numbers of chips that divide the model");
  if (request.division.chips() > 1 && !request.accelerator.links)
    throw wrong("--links", fmt::format("{} chips and no links between them", request.division.chips()),
                "an accelerator with `links`, or --links '{topology: switch, gb_per_s: 450, us: 2}'");
  if (request.chunk > 0 && request.division.pp > 1)
    throw wrong("--chunk", "beside stages that follow one another", "--pp 1, or no --chunk");
  if (request.skew > 0 && !request.model.experts)
    throw wrong("--skew", "of a model without experts", "a model with experts");
  if (request.batch < request.division.ep)
    throw wrong("--ep", fmt::format("{} groups for {} sequences", request.division.ep, request.batch),
                "at least one sequence for each");
}

}  // namespace pliant::serving
