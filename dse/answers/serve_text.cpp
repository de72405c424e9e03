// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/serve_text.h"

#include <fmt/format.h>

#include "dse/answers/render_physical.h"
#include "dse/answers/text_table.h"

namespace pliant {

namespace {

using serving::Request;
using serving::Served;

std::string bytes(double value) {
  return value >= 1e9 ? fmt::format("{:.4g} GB", value * 1e-9) : fmt::format("{:.4g} MB", value * 1e-6);
}

std::string in_percent(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string sequences(Count count) { return fmt::format("{} sequence{}", count, count == 1 ? "" : "s"); }

void add_phase(TextTable& table, const Request& request, const serving::PhaseSpent& phase) {
  const double clock = *request.accelerator.clock_hz;
  double time = 0, energy = 0;
  for (const serving::KindSpent& one : phase.kinds) {
    time += one.spent.cycles;
    energy += one.spent.energy_pj;
  }
  for (const serving::KindSpent& one : phase.kinds)
    table.add({phase.name, one.kind, readable_count(static_cast<double>(one.count)),
               readable_latency(one.spent.cycles / clock), in_percent(one.spent.cycles / time),
               readable_energy(one.spent.energy_pj), in_percent(one.spent.energy_pj / energy)});
}

std::string memory_text(const serving::MemoryNeed& need) {
  std::string text =
      fmt::format("memory of a chip: weights {}, cache {} ({} a sequence), activations {}", bytes(need.weights_bytes),
                  bytes(need.cache_bytes), bytes(need.cache_bytes_per_sequence), bytes(need.activations_bytes));
  if (need.capacity_bytes)
    text +=
        fmt::format("; {} of {} {}; at most {} fit{}\n", bytes(need.all_bytes()), need.memory,
                    bytes(*need.capacity_bytes), sequences(*need.largest_batch), *need.largest_batch == 1 ? "s" : "");
  else
    text += fmt::format("; {} has no limit (--memory says one)\n", need.memory);
  return text;
}

}  // namespace

std::string serving_text(const Request& request, const Served& served) {
  const bool energy = request.objective == Objective::kEnergy;
  std::string text = fmt::format(
      "{} on {} {}: {}, prompts of {} tokens, {} more; {} bits a weight, {} in the "
      "cache\n\n",
      request.model_name, request.division.chips(), request.accelerator.name, sequences(request.batch), request.prompt,
      request.output, serving::weight_bits(request), serving::cache_bits(request));
  if (request.division.chips() > 1) text += fmt::format("  division    {}\n", serving::to_string(request.division));
  text += fmt::format("  TTFT        {}\n", readable_latency(served.ttft_s));
  if (served.longest_part_s > 0)
    text += fmt::format("              in {} parts; a decode step waits at most {} for one\n", served.prefill.steps,
                        readable_latency(served.longest_part_s));
  if (served.tpot_s)
    text += fmt::format("  TPOT        {} (mean of {} steps), {:.4g} tokens/s a user\n",
                        readable_latency(*served.tpot_s), served.decode.steps, served.tokens_per_s_per_user);
  text += fmt::format("  tokens/s    {:.5g}\n  tokens/J    {:.5g}\n", served.tokens_per_s, served.tokens_per_j);
  text += fmt::format("  {}: prefill within {}, decode within {} of the proven bound\n",
                      energy ? "least energy" : "fewest cycles", in_percent(served.prefill.gap(request.objective)),
                      in_percent(served.decode.gap(request.objective)));
  if (request.factorization == Factorization::kPerfect)
    text +=
        "  of mappings with perfect factors; --factorization ruby-s uses odd numbers of units too and may be faster\n";
  text += "\n";
  text += memory_text(served.memory) + "\n";
  TextTable steps({"decode with", "step", "energy", "within"});
  for (const serving::StepAt& one : served.steps)
    steps.add({fmt::format("{} keys", one.keys), readable_latency(one.spent.cycles / *request.accelerator.clock_hz),
               readable_energy(one.spent.energy_pj),
               in_percent(serving::PhaseSpent{"", 1, one.spent, {}}.gap(request.objective))});
  if (!served.steps.empty()) text += steps.text("") + "\n";
  TextTable table({"phase", "kind<", "count", "time", "of it", "energy", "of it"});
  add_phase(table, request, served.prefill);
  if (served.decode.steps > 0) add_phase(table, request, served.decode);
  return text + table.text("") +
         fmt::format("\n{} searches; attention at {} contexts, {} searches a layer\n", served.searches, served.points,
                     served.searches_a_layer);
}

std::string does_not_fit_text(const Request& request, const serving::MemoryNeed& need) {
  return fmt::format(
      "{} does not fit: weights {}, cache of {} {} and activations {} are {} more than {} holds "
      "({}); what would fit: {}\n",
      request.model_name, bytes(need.weights_bytes), sequences(request.batch), bytes(need.cache_bytes),
      bytes(need.activations_bytes), bytes(need.all_bytes() - *need.capacity_bytes), need.memory,
      bytes(*need.capacity_bytes), serving::what_would_fit(request, need));
}

std::string best_division_text(const Request& request, const serving::BestDivision& all) {
  const bool energy = request.objective == Objective::kEnergy;
  TextTable table({"division", "batch", energy ? "tokens/J at most" : "tokens/s at most", "TTFT", "TPOT", "tokens/s",
                   "tokens/J", "end<"});
  constexpr std::size_t kShown = 40;
  for (std::size_t i = 0; i < all.ways.size() && i < kShown; ++i) {
    const serving::ServingWay& way = all.ways[i];
    std::vector<std::string> row{serving::to_string(way.division), fmt::format("{}", way.batch),
                                 fmt::format("{:.5g}", way.bound)};
    if (way.served) {
      row.push_back(readable_latency(way.served->ttft_s));
      row.push_back(way.served->tpot_s ? readable_latency(*way.served->tpot_s) : "-");
      row.push_back(fmt::format("{:.5g}", way.served->tokens_per_s));
      row.push_back(fmt::format("{:.5g}", way.served->tokens_per_j));
    } else {
      row.insert(row.end(), 4, "-");
    }
    row.emplace_back(all.best == i ? "best" : serving::kWayEndNames[static_cast<std::size_t>(way.end)]);
    table.add(std::move(row));
  }
  std::string text = table.text("");
  if (all.ways.size() > kShown) text += fmt::format("... and {} more\n", all.ways.size() - kShown);
  if (!all.best) return text + "\nno division and batch meets the limits\n";
  return text + fmt::format("\nbest: {} with {}; no other is better by more than {} ({} searches)\n\n",
                            serving::to_string(all.ways[*all.best].division), sequences(all.ways[*all.best].batch),
                            in_percent(all.gap), all.searches);
}

}  // namespace pliant
