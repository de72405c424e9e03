// SPDX-License-Identifier: Apache-2.0
#include "src/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/input/prediction_block.h"
#include "costmodel/report.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/network_totals.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/render_predicted.h"
#include "dse/answers/text_table.h"
#include "dse/mappers/frontier.h"
#include "dse/results/pareto.h"
#include "src/bindings.h"
#include "src/interrupt.h"

namespace pliant::python {

using nlohmann::ordered_json;

Traits asked(Trait question, const Request& request) {
  Traits all{Trait::kPython, question};
  all.add(TraitGroup::kObjectives, request.objective).add(TraitGroup::kMappers, request.mapper);
  return all.add(TraitGroup::kFactorizations, request.factorization).add_if(request.gap > 0, Trait::kGap);
}

std::unique_ptr<Mapper> mapper_of(const Request& request) {
  std::unique_ptr<Mapper> mapper = make_mapper(request.mapper);
  if (mapper == nullptr)
    throw bad_option("pliant", "--mapper", fmt::format("unknown mapper `{}`", request.mapper),
                     fmt::format("one of {}", fmt::join(mapper_names(), ", ")),
                     nearest(request.mapper, mapper_names()));
  return mapper;
}

SearchOptions options_of(const Request& request, std::stop_token stop) {
  SearchOptions options;
  options.budget.seconds = request.budget_seconds;
  options.budget.evaluations = request.evaluations;
  options.gap = request.gap;
  options.seed = request.seed;
  options.threads = request.threads;
  options.extra = request.mapper_options;
  options.stop = std::move(stop);
  return options;
}

namespace {

std::shared_ptr<Task> task_of(const LoadedLayer& layer, const LoadedAccelerator& accelerator, const Request& request) {
  auto task = std::make_shared<Task>();
  task->layer = layer.layer;
  task->accelerator = accelerator.accelerator;
  task->flexibility = accelerator.accelerator.flexibility_of(layer.layer);
  task->factorization = read_factorization(request.factorization, "pliant");
  task->objective = read_objective(request.objective, "pliant");
  return task;
}

std::optional<TaskWords> words_of(const LoadedLayer& layer, const LoadedAccelerator& accelerator,
                                  const Request& request) {
  std::optional<TaskWords> words = words_of(layer, accelerator);
  if (!words) return words;
  words->objective = request.objective;
  words->factorization = request.factorization;
  return words;
}

PredictionFigures prediction_of(const LoadedAccelerator& loaded) {
  std::optional<PredictionFigures> figures;
  if (!loaded.in_memory) figures = load_prediction(library(), loaded.source, loaded.settings, loaded.accelerator);
  if (!figures)
    throw bad_option("pliant", "predict", fmt::format("{} has no `prediction` block", loaded.accelerator.name),
                     "an accelerator of a file that has one, such as h200");
  return *figures;
}

FoundMapping map_layer(const LoadedLayer& layer, const LoadedAccelerator& accelerator, const Request& request,
                       bool predict, bool interruptible) {
  std::shared_ptr<Task> task = task_of(layer, accelerator, request);
  const std::unique_ptr<Mapper> mapper = mapper_of(request);
  std::optional<PredictionFigures> figures;
  if (predict) {
    check_works("pliant", asked(Trait::kMap, request).add(Trait::kPredict), "predict");
    figures = prediction_of(accelerator);
  }
  const InterruptibleCall call(interruptible);
  SearchOptions options = options_of(request, call.token());
  SearchResult result = run_mapper(*mapper, *task, options);
  if (options.gap == 0) options.gap = kPredictionGap;
  std::optional<PredictedOptimum> predicted;
  if (figures) predicted = search_predicted(*mapper, *task, *figures, options);
  std::optional<Infeasibility> why;
  if (!result.mapping && !call.asked()) why = why_nothing_fits(*task);
  return {std::move(task),     std::move(result), request.mapper, std::move(why), words_of(layer, accelerator, request),
          std::move(predicted)};
}

/// The mappings that none beats in all objectives, fastest first, and whether that is proven.
std::pair<std::vector<FoundMapping>, bool> map_frontier(const LoadedLayer& layer, const LoadedAccelerator& accelerator,
                                                        Request request, const std::vector<std::string>& objectives,
                                                        bool interruptible) {
  request.objective = to_string(Objective::kEnergy);  // what each point proves: the least energy within its cycles
  Traits question = asked(Trait::kFrontier, request);
  std::vector<Objective> wanted;
  for (const std::string& name : objectives) {
    wanted.push_back(read_objective(name, "pliant"));
    question.add(TraitGroup::kObjectives, name);
  }
  check_works("pliant", question, "--objectives");
  std::shared_ptr<Task> task = task_of(layer, accelerator, request);
  const std::unique_ptr<Mapper> mapper = mapper_of(request);
  const InterruptibleCall call(interruptible);
  const Frontier found = search_frontier(*mapper, *task, options_of(request, call.token()));
  std::vector<Point> values;
  for (const SearchResult& point : found.points) {
    Point& value = values.emplace_back();
    for (const Objective objective : wanted) value.push_back(objective_value(objective, point.totals));
  }
  std::vector<FoundMapping> points;
  if (!values.empty())
    for (const std::size_t i : non_dominated(values))
      points.emplace_back(task, found.points[i], request.mapper, std::nullopt, words_of(layer, accelerator, request));
  return {std::move(points), found.certified};
}

/// Of all layers, where they were asked for.
std::optional<std::vector<PredictedOptimum>> predictions_of(const std::vector<const FoundMapping*>& found) {
  std::vector<PredictedOptimum> all;
  for (const FoundMapping* one : found) {
    if (!one->predicted()) return std::nullopt;
    all.push_back(*one->predicted());
  }
  return all;
}

/// The sums of a workload's layers, each as often as it is repeated.
std::string totals(const std::vector<const FoundMapping*>& found, const std::vector<Count>& counts,
                   const LoadedWorkload& workload) {
  std::vector<SearchedLayer> layers;
  for (std::size_t i = 0; i < found.size(); ++i) {
    layers.push_back(found[i]->searched());
    layers.back().count = counts.at(i);
  }
  if (layers.empty()) return "{}";
  ordered_json json =
      totals_json(layers.front().task->accelerator, network_totals(layers, &workload.workload), workload.workload.pass);
  if (const auto predicted = predictions_of(found)) json["prediction"] = predicted_sums_json(layers, *predicted);
  return json.dump();
}

std::string workload_table(const std::vector<const FoundMapping*>& found, const std::vector<Count>& counts,
                           const LoadedWorkload& workload) {
  std::vector<SearchedLayer> layers;
  for (std::size_t i = 0; i < found.size(); ++i) {
    layers.push_back(found[i]->searched());
    layers.back().count = counts.at(i);
  }
  if (layers.empty()) return "";
  std::size_t longest = 0;
  for (const SearchedLayer& layer : layers) longest = std::max(longest, text_width(layer.task->layer.name));
  const WorkloadTable table(longest, layers.front().task->accelerator.clock_hz.has_value());
  std::string text = table.header();
  for (const SearchedLayer& layer : layers) text += table.row(layer);
  text += "\n" + totals_text(layers, &workload.workload, workload.workload.pass, found.front()->mapper(), false);
  if (const auto predicted = predictions_of(found)) text += predicted_sums_text(layers, *predicted);
  return text;
}

std::string frontier_table(const std::vector<const FoundMapping*>& found, bool certified) {
  std::vector<SearchedLayer> points;
  for (const FoundMapping* one : found) points.push_back(one->searched());
  return found.empty() ? "" : frontier_text(points, certified, found.front()->mapper());
}

/// Nothing is found: infinitely bad, so that comparisons and optimizers need no special case.
double value(const FoundMapping& found) {
  return found.result().mapping ? found.result().value : std::numeric_limits<double>::infinity();
}

double lower_bound(const FoundMapping& found) {
  return found.result().infeasible ? std::numeric_limits<double>::infinity() : found.result().lower_bound;
}

template <auto Member>
double total(const FoundMapping& found) {
  return found.result().mapping ? found.result().totals.*Member : std::numeric_limits<double>::infinity();
}

}  // namespace

ordered_json FoundMapping::json() const {
  ordered_json json{{"schema", kJsonSchema}};
  if (words_) json["task"] = words_->json();
  json.update(search_json(searched_, mapper_));
  if (predicted_) json["prediction"] = predicted_json(searched_, *predicted_);
  return json;
}

std::string FoundMapping::text() const {
  if (searched_.result.mapping)
    return search_text(searched_, mapper_, false) + (predicted_ ? "\n" + predicted_text(searched_, *predicted_) : "");
  if (searched_.why) return infeasible_text(*task_, *searched_.why);
  return fmt::format("mapper {} found no legal mapping of layer {} (ended by {})\n", mapper_, task_->layer.name,
                     to_string(searched_.result.ended_by));
}

std::string FoundMapping::loop_nest() const {
  return searched_.result.mapping ? to_loop_nest(task_->layer, task_->accelerator, *searched_.result.mapping) : "";
}

std::string FoundMapping::mapping_file() const {
  if (!searched_.result.mapping) return "";
  return write_mapping(task_->layer, task_->accelerator, *searched_.result.mapping, task_->factorization);
}

std::string FoundMapping::bound_by() const {
  if (!searched_.result.mapping) return "";
  return price(task_->layer, task_->accelerator, *searched_.result.mapping).bound_by;
}

namespace {

double seconds_of(const std::string& text) {
  const auto seconds = parse_seconds(text);
  if (!seconds) throw bad_option("pliant", "--budget", fmt::format("`{}`", text), "a duration such as 1s or 250ms");
  return *seconds;
}

}  // namespace

void bind_search(nb::module_& module) {
  using namespace nb::literals;
  module.def("parse_seconds", &seconds_of, "text"_a);
  module.attr("mappers") = nb::cast(mapper_names());
  module.attr("objectives") = nb::cast(objective_names());

  nb::class_<Request>(module, "Request")
      .def(
          "__init__",
          [](Request* made, std::string objective, std::string factorization, std::string mapper, double budget_seconds,
             std::uint64_t evaluations, double gap, std::uint64_t seed, int threads,
             std::vector<std::pair<std::string, std::string>> mapper_options) {
            new (made) Request{std::move(objective),
                               std::move(factorization),
                               std::move(mapper),
                               budget_seconds,
                               evaluations,
                               gap,
                               seed,
                               threads,
                               std::move(mapper_options)};
          },
          "objective"_a, "factorization"_a, "mapper"_a, "budget_seconds"_a, "evaluations"_a, "gap"_a, "seed"_a,
          "threads"_a, "mapper_options"_a);

  nb::class_<FoundMapping>(module, "FoundMapping")
      .def_prop_ro("feasible", [](const FoundMapping& f) { return f.result().mapping.has_value(); })
      .def_prop_ro("infeasible", [](const FoundMapping& f) { return f.result().infeasible; })
      .def_prop_ro("certified", [](const FoundMapping& f) { return f.result().certified; })
      .def_prop_ro("value", &value)
      .def_prop_ro("lower_bound", &lower_bound)
      .def_prop_ro("gap", [](const FoundMapping& f) { return f.result().gap(); })
      .def_prop_ro("energy_pj", &total<&Totals::energy_pj>)
      .def_prop_ro("runtime_cycles", &total<&Totals::cycles>)
      .def_prop_ro("edp_pj_cycles",
                   [](const FoundMapping& f) {
                     return f.result().mapping ? f.result().totals.edp() : std::numeric_limits<double>::infinity();
                   })
      .def_prop_ro("utilization",
                   [](const FoundMapping& f) { return f.result().mapping ? f.result().totals.utilization : 0.0; })
      .def_prop_ro("evaluations", [](const FoundMapping& f) { return f.result().evaluations; })
      .def_prop_ro("seconds", [](const FoundMapping& f) { return f.result().seconds; })
      .def_prop_ro("ended_by", [](const FoundMapping& f) { return std::string(to_string(f.result().ended_by)); })
      .def_prop_ro("mappings_covered", [](const FoundMapping& f) { return f.result().mappings_covered; })
      .def_prop_ro("mapper", &FoundMapping::mapper)
      .def_prop_ro("objective", [](const FoundMapping& f) { return std::string(to_string(f.task().objective)); })
      .def_prop_ro("layer", [](const FoundMapping& f) { return f.task().layer.name; })
      .def_prop_ro("accelerator", [](const FoundMapping& f) { return f.task().accelerator.name; })
      .def_prop_ro("bound_by", &FoundMapping::bound_by)
      .def("json", [](const FoundMapping& f) { return f.json().dump(); })
      .def("text", &FoundMapping::text)
      .def("loop_nest", &FoundMapping::loop_nest)
      .def("mapping_file", &FoundMapping::mapping_file);

  const nb::call_guard<nb::gil_scoped_release> unlocked;
  module.def("map_layer", &map_layer, "layer"_a, "accelerator"_a, "request"_a, "predict"_a, "interruptible"_a,
             unlocked);
  module.def("map_frontier", &map_frontier, "layer"_a, "accelerator"_a, "request"_a, "objectives"_a, "interruptible"_a,
             unlocked);
  module.def("workload_totals", &totals, "found"_a, "counts"_a, "workload"_a);
  module.def("workload_text", &workload_table, "found"_a, "counts"_a, "workload"_a);
  module.def("frontier_text", &frontier_table, "found"_a, "certified"_a);
}

}  // namespace pliant::python
