// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/residency_answer.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "core/input/source_text.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/steps_table.h"
#include "dse/answers/text_table.h"
#include "dse/answers/told_steps.h"
#include "dse/mappers/network_proof.h"
#include "dse/mappers/residency/residency.h"
#include "dse/mappers/shared_budget.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;
using residency::kOutside;
using residency::Optimum;

class ResidencyTelling {
 public:
  ResidencyTelling(const Workload& workload, const std::vector<ReadTask>& tasks, const NetworkGoal& goal,
                   const residency::Search& search, const Optimum& best, const Optimum& outside,
                   const NetworkTotals& totals, const ResidencyRequest& request)
      : tasks_(tasks),
        accelerator_(tasks.front().task.accelerator),
        goal_(goal),
        search_(search),
        best_(best),
        outside_(outside),
        totals_(totals),
        request_(request),
        steps_(workload, accelerator_, search.live()) {}

  std::string text(std::string_view mapper) const {
    std::string text = all_steps() + "\n";
    if (const std::string stays = tensors_table(); stays.empty())
      text += request_.stay ? "no tensor stays on chip\n" : "every tensor lives outside, as was asked\n";
    else
      text += "tensors that stay on chip\n" + stays;
    text += wide_sums_text();
    text += weights_text();
    text += "\n" + verdict().text(request_.stay ? "the network over mappings and residency" : "the network");
    if (request_.stay) text += without_text();
    text += fmt::format("mapper {}, {} searches\n", mapper, search_.searches());
    return text + "\n" + parts_text(totals_) + "\n" + shares_text(accelerator_, totals_, request_.ascii);
  }

  ordered_json json(std::string_view mapper) const {
    ordered_json json = verdict().json(mapper);
    if (request_.stay && outside_.found()) json["without_residency"] = sums_json(outside_);
    json["tensors"] = ordered_json::array();
    for (std::size_t t = 0; t < live().tensors.size(); ++t) json["tensors"].push_back(steps_.tensor(t, best_.homes[t]));
    if (request_.inferences > 1) {
      json["inferences"] = request_.inferences;
      json["weights"] = ordered_json::array();
      for (std::size_t w = 0; w < best_.weights.size(); ++w)
        if (best_.weights[w] != kOutside)
          json["weights"].push_back({{"node", steps_.step_name(live().weights[w].step)},
                                     {"step", live().weights[w].step},
                                     {"lives_in", steps_.home_name(best_.weights[w])},
                                     {"words", words_of_weights(w)}});
    }
    json["steps"] = ordered_json::array();
    for (std::size_t s = 0; s < best_.steps.size(); ++s) json["steps"].push_back(step_json(s));
    return json;
  }

 private:
  const residency::LiveTensors& live() const { return search_.live(); }
  std::string home_of(int tensor) const { return steps_.home_name(best_.homes[static_cast<std::size_t>(tensor)]); }

  NetworkVerdict verdict() const {
    // docs/networks.md says what is not decided.
    const std::string_view undecided = "a deadline between two choices of weights that stay";
    return {tasks_,
            goal_,
            best_.value,
            best_.lower_bound,
            best_.gap(),
            best_.certified,
            totals_,
            search_.searches(),
            best_.standing_within_deadline && !best_.certified ? undecided : std::string_view{}};
  }

  std::vector<std::string> reads_from(std::size_t s) const {
    std::vector<std::string> places;
    for (const residency::Read& read : live().steps[s].reads) places.push_back(home_of(read.tensor));
    return places;
  }
  std::string makes_in(std::size_t s) const {
    return live().steps[s].makes < 0 ? "in place" : home_of(live().steps[s].makes);
  }

  std::string all_steps() const {
    std::vector<StepLine> lines;
    for (std::size_t s = 0; s < best_.steps.size(); ++s) {
      std::vector<std::string> places = reads_from(s);
      const residency::Step& step = live().steps[s];
      if (places.empty() || step.elements_from_outside > 0) places.push_back(steps_.home_name(kOutside));
      lines.push_back({{steps_.node_name(step.node), join(places), makes_in(s), steps_.taken_text(best_.steps[s])},
                       step.count,
                       best_.steps[s].energy_pj,
                       best_.steps[s].cycles});
    }
    return steps_table({"node", "reads from<", "makes in<", "words taken<"}, lines);
  }

  /// Accumulators may take the partial sums of a real design, so that the memory outside them never holds any: the file
  /// has to say that, or less room is left there than the design has.
  std::string wide_sums_text() const {
    const Layer& layer = tasks_.front().task.layer;
    const auto& levels = accelerator_.levels;
    for (std::size_t l = 1; request_.stay && l < levels.size() && !levels[l].is_fanout(); ++l) {
      if (!levels[l].is_memory() || levels[l].memory().off_chip) continue;
      const int at = static_cast<int>(l), sums = accelerator_.partial_sum_bits(at, layer),
                results = accelerator_.element_bits(at, layer, layer.output());
      const bool held_further_in = std::any_of(levels.begin() + at + 1, levels.end(), [](const Level& inner) {
        return inner.is_memory() && inner.memory().may_keep[static_cast<std::size_t>(Role::kOutput)];
      });
      if (sums > results && held_further_in)
        return fmt::format(
            "while it is made, a tensor has partial sums of {} bits in {}, {:.3g} times its room; if the memories "
            "inside "
            "take all of them, say `bits: {{partial_sums: none}}` of {}\n",
            sums, levels[l].name, static_cast<double>(sums) / results, levels[l].name);
    }
    return {};
  }

  std::string tensors_table() const {
    struct Line {
      std::vector<std::string> cells;
      Count times = 0;
    };
    std::vector<Line> lines;
    std::map<std::vector<std::string>, std::size_t> at;
    for (std::size_t t = 0; t < live().tensors.size(); ++t) {
      const residency::LiveTensor& tensor = live().tensors[t];
      if (best_.homes[t] == kOutside) continue;
      const int last = live().steps[static_cast<std::size_t>(tensor.last_read)].node;
      const std::vector<std::string> cells{steps_.node_name(tensor.node), steps_.home_name(best_.homes[t]),
                                           readable_count(static_cast<double>(tensor.elements)), steps_.node_name(last),
                                           fmt::format("{}", tensor.last_read - tensor.made_by)};
      const auto [known, is_new] = at.emplace(cells, lines.size());
      if (is_new) lines.push_back({cells});
      ++lines[known->second].times;
    }
    if (lines.empty()) return {};
    TextTable table({"made by", "times", "stays in<", "elements", "until<", "steps"});
    for (const Line& line : lines)
      table.add(
          {line.cells[0], fmt::format("{}", line.times), line.cells[1], line.cells[2], line.cells[3], line.cells[4]});
    return table.text("  ");
  }

  Count words_of_weights(std::size_t w) const {
    std::vector<Task> rows;
    for (const ReadTask& read : tasks_) rows.push_back(read.task);
    return residency::weights_words(live(), rows, live().weights[w], best_.weights[w]);
  }

  std::string weights_text() const {
    if (request_.inferences == 1) return {};
    TextTable table({"weights of", "stay in<", "words"});
    std::size_t stay = 0;
    for (std::size_t w = 0; w < best_.weights.size(); ++w) {
      if (best_.weights[w] == kOutside) continue;
      ++stay;
      table.add({steps_.step_name(live().weights[w].step), steps_.home_name(best_.weights[w]),
                 readable_count(static_cast<double>(words_of_weights(w)))});
    }
    if (stay == 0) return fmt::format("no weights stay across {} inferences\n", request_.inferences);
    return fmt::format("weights that stay across {} inferences, loaded once before the first\n", request_.inferences) +
           table.text("  ");
  }

  std::string without_text() const {
    if (!outside_.found()) return "without residency no choice of mappings does\n";
    const double edp = outside_.energy_pj * outside_.cycles;
    std::string text = fmt::format("every tensor outside: {} {:.7g}{}, energy {:.6g} uJ, {:.0f} cycles\n",
                                   to_string(goal_.objective), outside_.value, outside_.certified ? " (certified)" : "",
                                   outside_.energy_pj * 1e-6, outside_.cycles);
    return text + fmt::format("residency divides energy by {:.3f}, cycles by {:.3f}, EDP by {:.3f}\n",
                              outside_.energy_pj / best_.energy_pj, outside_.cycles / best_.cycles,
                              edp / (best_.energy_pj * best_.cycles));
  }

  ordered_json step_json(std::size_t s) const {
    const residency::StepChoice& choice = best_.steps[s];
    ordered_json json = steps_.step(s, choice, reads_from(s), makes_in(s));
    if (choice.variant >= 0) steps_.add_parts(s, choice, search_.task(choice.variant), json);
    ToldSteps::add_costs(choice, json);
    return json;
  }

  const std::vector<ReadTask>& tasks_;
  const Accelerator& accelerator_;
  const NetworkGoal& goal_;
  const residency::Search& search_;
  const Optimum& best_;
  const Optimum& outside_;
  const NetworkTotals& totals_;
  const ResidencyRequest& request_;
  const ToldSteps steps_;
};

}  // namespace

NetworkAnswer residency_answer(const Mapper& mapper, const Workload& workload, const std::vector<ReadTask>& tasks,
                               const NetworkGoal& goal, const SearchOptions& options, const ResidencyRequest& request) {
  std::vector<Task> rows;
  for (const ReadTask& read : tasks) rows.push_back(read.task);
  const SharedBudget shared(mapper, options, kSearchesOfALayer * rows.size());
  residency::Search search(shared, workload, rows, shared.options(), request.inferences);
  const Optimum best = search.run(goal, request.stay);
  if (options.stop.stop_requested()) return {};
  if (!best.found())
    return no_network(best.without_mapping ? &rows[static_cast<std::size_t>(*best.without_mapping)] : nullptr, goal,
                      best.fastest_cycles);
  std::optional<audit::NetworkCertificate> certificate;
  if (options.record_parts) certificate = network_certificate(workload, rows, goal, request.stay, search, best);
  const Optimum outside = request.stay ? search.run(goal, false) : best;
  if (options.stop.stop_requested()) return {};
  const NetworkTotals totals = network_totals(search, rows, best);
  const ResidencyTelling telling(workload, tasks, goal, search, best, outside, totals, request);
  return {true, telling.text(mapper.name()), telling.json(mapper.name()),
          totals_json(rows.front().accelerator, totals, tasks.front().pass), std::move(certificate)};
}

}  // namespace pliant
