// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <sstream>

#include "core/arithmetic.h"
#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "dse/answers/answering.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/map_audit.h"
#include "dse/answers/map_network.h"
#include "dse/answers/model_room_json.h"
#include "dse/answers/network_totals.h"
#include "dse/answers/render_predicted.h"
#include "dse/answers/render_search.h"
#include "dse/answers/task_options.h"
#include "dse/combinations/combinations.h"
#include "dse/mappers/frontier.h"
#include "dse/results/pareto.h"

namespace pliant {
namespace {

class MapAnswer : Answering {
 public:
  MapAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    // 1. Everything that can be wrong is found before the first search.
    TaskWords words = task_words(arguments_);
    const NetworkChoice choice = choose_network(library_, arguments_, words);
    const std::vector<Objective> objectives = several_objectives(words);
    mapper_name_ = *arguments_.text("mapper");
    const std::unique_ptr<Mapper> mapper = make_mapper(mapper_name_);
    if (!mapper) throw arguments_.unknown("--mapper", "mapper", mapper_name_, mapper_names());
    SearchOptions search = search_options();
    const std::vector<ReadTask> tasks = read_tasks(library_, words);
    if (choice.workload) room_ = model_too_large(*choice.workload, tasks.front().task.accelerator);
    if (room_) err_ << fmt::format("warning: {}\n", model_room_text(*room_));
    if (arguments_.has("predict")) prediction_ = read_prediction_of(library_, words, tasks.front().task.accelerator);
    if (choice.network) return map_network(arguments_, words, *choice.workload, *mapper, tasks, search, face_);
    const bool one = words.layer.has_value();
    // What closed which part is for the file; the auditor needs the claim alone.
    search.record_parts = asks_for_proof(arguments_, tasks.front().task) && arguments_.has("certificate");

    if (!objectives.empty() && arguments_.has("audit"))
      throw arguments_.bad("--audit", "of a frontier, which has many proofs", "a single --objective");
    if (!objectives.empty()) return frontier(words, *mapper, tasks, search, objectives);

    // 2. Search, and tell of a workload's layers as they are done.
    const Interrupt interrupt(face_);
    search.stop = interrupt.token();
    const std::vector<SearchedLayer> layers =
        search_all(*mapper, tasks, search, interrupt, !one && !arguments_.has("json"));

    if (search.gap == 0) search.gap = kPredictionGap;
    if (prediction_)
      for (const SearchedLayer& searched : layers)
        predicted_.push_back(search_predicted(*mapper, *searched.task, *prediction_, search));

    // 3. Tell the rest.
    if (arguments_.has("save") && layers.front().result.mapping) save(layers.front());
    if (arguments_.has("certificate")) write_proof(layers.front());
    std::optional<MapAudit> audit;
    if (arguments_.has("audit") && !interrupt.asked())
      audit = audit_layers(layers, arguments_.threads(), interrupt.token());
    if (arguments_.has("json")) {
      print_json(words, layers, choice.workload, audit);
    } else if (one) {
      print_layer(layers.front());
      if (prediction_) out_ << "\n" << predicted_text(layers.front(), predicted_.front());
    } else {
      print_end_of_workload(layers, tasks.size(), *choice.workload);
    }
    if (audit && !arguments_.has("json")) out_ << audit->text();
    if (interrupt.asked()) return 130;
    if (audit && audit->exit_code() != 0) return audit->exit_code();
    for (const SearchedLayer& searched : layers)
      if (!searched.result.mapping) return 3;
    return 0;
  }

 private:
  std::vector<SearchedLayer> search_all(const Mapper& mapper, const std::vector<ReadTask>& tasks, SearchOptions search,
                                        const Interrupt& interrupt, bool print_rows) const {
    std::size_t longest = 0;
    for (const ReadTask& read : tasks) longest = std::max(longest, text_width(read.task.layer.name));
    const WorkloadTable table(longest, tasks.front().task.accelerator.clock_hz.has_value());
    if (print_rows) out_ << table.header() << std::flush;
    search.on_progress = [this](const Progress& now) { face_.show(now); };
    std::vector<SearchedLayer> layers;
    for (const ReadTask& read : tasks) {
      face_.begin_layer(read.task.layer.name, tasks.size());
      SearchedLayer searched{&read.task, read.count, {}, {}};
      searched.result = run_mapper(mapper, read.task, search);
      if (!searched.result.mapping && !interrupt.asked()) searched.why = why_nothing_fits(read.task);
      face_.clear();
      if (print_rows) out_ << table.row(searched) << std::flush;
      layers.push_back(std::move(searched));
      if (interrupt.asked()) break;
    }
    return layers;
  }

  /// "runtime,energy": both, and the words keep the first. A single objective: empty.
  std::vector<Objective> several_objectives(TaskWords& words) const {
    std::vector<Objective> all;
    if (words.objective.find(',') == std::string::npos) return all;
    std::istringstream list(words.objective);
    for (std::string name; std::getline(list, name, ',');) {
      const auto objective = parse_objective(name);
      if (!objective)
        throw arguments_.bad("--objective", fmt::format("unknown objective `{}`", name),
                             "names of `pliant map --help` with commas between them", nearest(name, objective_names()));
      all.push_back(*objective);
    }
    words.objective = to_string(all.front());
    return all;
  }

  int frontier(const TaskWords& words, const Mapper& mapper, const std::vector<ReadTask>& tasks, SearchOptions search,
               const std::vector<Objective>& objectives) {
    const Interrupt interrupt(face_);
    search.stop = interrupt.token();
    Task task = tasks.front().task;
    task.objective = Objective::kEnergy;  // what each point proves: the least energy within its cycles
    const Frontier found = search_frontier(mapper, task, search);
    std::vector<Point> values;
    for (const SearchResult& point : found.points) {
      Point& value = values.emplace_back();
      for (const Objective objective : objectives) value.push_back(objective_value(objective, point.totals));
    }
    std::vector<SearchedLayer> points;
    if (!values.empty())
      for (const std::size_t i : non_dominated(values)) points.push_back({&task, 1, found.points[i], {}});
    if (points.empty()) {
      SearchedLayer nothing{&task, 1, {}, {}};
      if (!interrupt.asked()) nothing.why = why_nothing_fits(task);
      print_layer(nothing);
      return interrupt.asked() ? 130 : 3;
    }
    if (arguments_.has("json")) {
      nlohmann::ordered_json json{{"schema", kJsonSchema}, {"task", words.json()}, {"certified", found.certified}};
      json["objectives"] = nlohmann::ordered_json::array();
      for (const Objective objective : objectives) json["objectives"].push_back(to_string(objective));
      json["frontier"] = nlohmann::ordered_json::array();
      for (const SearchedLayer& point : points) json["frontier"].push_back(search_json(point, mapper_name_));
      out_ << json.dump(2) << "\n";
    } else {
      out_ << frontier_text(points, found.certified, mapper_name_);
    }
    return 0;
  }

  SearchOptions search_options() const {
    SearchOptions search;
    search.seed = *arguments_.whole("seed");
    search.threads = arguments_.threads();
    search.budget.seconds = arguments_.seconds("budget").value_or(0);
    search.gap = arguments_.share("gap").value_or(0);
    for (const std::string& text : arguments_.texts("mapper-option")) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos)
        throw arguments_.bad("--mapper-option", fmt::format("`{}` has no `=`", text), "NAME=VALUE");
      search.extra.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return search;
  }

  void save(const SearchedLayer& searched) const {
    const std::string file = *arguments_.text("save");
    const Task& task = *searched.task;
    std::ofstream out(file, std::ios::binary);
    out << write_mapping(task.layer, task.accelerator, *searched.result.mapping, task.factorization);
    if (!out.flush())
      throw arguments_.bad("--save", fmt::format("cannot write `{}`", file), "a file that can be written");
  }

  void write_proof(const SearchedLayer& searched) const {
    const std::string file = *arguments_.text("certificate");
    std::ofstream out(file, std::ios::binary);
    out << audit::write_certificate(certificate_of(searched));
    if (!out.flush())
      throw arguments_.bad("--certificate", fmt::format("cannot write `{}`", file), "a file that can be written");
  }

  void print_json(const TaskWords& words, const std::vector<SearchedLayer>& layers,
                  const std::optional<Workload>& workload, const std::optional<MapAudit>& audit) const {
    nlohmann::ordered_json json{{"schema", kJsonSchema}, {"task", words.json()}};
    if (!workload) {
      json.update(search_json(layers.front(), mapper_name_));
      if (prediction_) json["prediction"] = predicted_json(layers.front(), predicted_.front());
    } else {
      json["workload"] = *words.workload;
      json["mapped_as"] = "layers";
      if (room_) json["model_room"] = model_room_json(*room_);
      json["layers"] = nlohmann::ordered_json::array();
      for (const SearchedLayer& searched : layers) {
        nlohmann::ordered_json item{{"count", searched.count}};
        item.update(search_json(searched, mapper_name_));
        if (prediction_) item["prediction"] = predicted_json(searched, predicted_[json["layers"].size()]);
        json["layers"].push_back(std::move(item));
      }
      json["total"] = totals_json(layers.front().task->accelerator, network_totals(layers, &*workload), workload->pass);
      if (prediction_) json["total"]["prediction"] = predicted_sums_json(layers, predicted_);
    }
    if (audit) json["audit"] = audit->json();
    out_ << json.dump(2) << "\n";
  }

  void print_layer(const SearchedLayer& searched) const {
    if (searched.result.mapping) {
      out_ << search_text(searched, mapper_name_, arguments_.has("ascii"));
    } else if (searched.why) {
      err_ << infeasible_text(*searched.task, *searched.why);
    } else {
      err_ << fmt::format("pliant map: mapper {} found no legal mapping of layer {} (ended by {})\n", mapper_name_,
                          searched.task->layer.name, to_string(searched.result.ended_by));
    }
  }

  void print_end_of_workload(const std::vector<SearchedLayer>& layers, std::size_t wanted,
                             const Workload& workload) const {
    out_ << "\n" << totals_text(layers, &workload, workload.pass, mapper_name_, arguments_.has("ascii"));
    if (prediction_) out_ << predicted_sums_text(layers, predicted_);
    if (layers.size() < wanted) out_ << fmt::format("interrupted: {} of {} layers searched\n", layers.size(), wanted);
    for (const SearchedLayer& searched : layers)
      if (!searched.result.mapping && searched.why) err_ << infeasible_text(*searched.task, *searched.why);
  }

  std::optional<PredictionFigures> prediction_;  ///< asked for
  std::vector<PredictedOptimum> predicted_;      ///< by layer
  std::string mapper_name_;
  std::optional<ModelRoom> room_;  ///< of a network that does not fit
};

}  // namespace

int answer_map(const Arguments& arguments, Face& face) { return MapAnswer(arguments, face).run(); }

}  // namespace pliant
