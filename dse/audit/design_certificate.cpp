// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/design_certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/input/diagnostics.h"
#include "dse/audit/certificate_json.h"

namespace pliant::audit {

namespace {

using nlohmann::json;

constexpr int kDesignSchema = 1;
constexpr std::array<std::string_view, 5> kMeasures = {"area_um2", "runtime_cycles", "energy_pj", "edp_pj_cycles",
                                                       "latency_s"};
constexpr std::array<std::string_view, 3> kMixes = {"geometric-mean", "worst", "mean"};
constexpr std::array<std::string_view, 3> kClosings = {"beaten", "nothing_fits", "opened"};

InputError damaged(const std::string& file, const std::string& key, const std::string& what) {
  return InputError(Diagnostic{.file = file,
                               .key = key,
                               .what = what,
                               .expected = "what `pliant design --certificate` wrote",
                               .did_you_mean = {}});
}

template <class Value, std::size_t N>
Value word_of(const json& in, const std::array<std::string_view, N>& words, const std::string& key) {
  const auto text = in.get<std::string>();
  const auto found = std::ranges::find(words, text);
  if (found == words.end()) throw damaged("", key, fmt::format("`{}` is unknown", text));
  return static_cast<Value>(found - words.begin());
}

json box_json(const Box& box) {
  json out = json::array();
  for (const AxisRange& range : box) out.push_back({range.first, range.last});
  return out;
}

Box box_from(const json& in) {
  Box box;
  for (const json& range : in) {
    if (range.size() != 2) throw damaged("", "in", "a range has two ends");
    box.push_back({range.at(0).get<std::int32_t>(), range.at(1).get<std::int32_t>()});
  }
  return box;
}

json numbers_json(const std::vector<double>& values) {
  json out = json::array();
  for (const double value : values) out.push_back(bound_json(value));
  return out;
}

std::vector<double> numbers_from(const json& in) {
  std::vector<double> out;
  for (const json& value : in) out.push_back(bound_from(value));
  return out;
}

json task_json(const DesignTask& task) {
  json axes = json::array(), workloads = json::array(), layers = json::array(), goals = json::array();
  for (const DesignAxis& axis : task.axes) axes.push_back({{"keys", axis.keys}, {"values", axis.values}});
  for (const auto& uses : task.workloads) {
    json own = json::array();
    for (const DesignTask::Use& use : uses) own.push_back({use.layer, use.count});
    workloads.push_back(std::move(own));
  }
  for (const Layer& layer : task.layers) layers.push_back(write_layer(layer));
  for (const DesignTask::Goal& goal : task.goals) {
    json own{{"measure", kMeasures[static_cast<std::size_t>(goal.measure)]}};
    if (goal.workload) own["workload"] = *goal.workload;
    goals.push_back(std::move(own));
  }
  json rules = json::array(), objectives = json::array();
  for (const Factorization rule : task.factorizations) rules.push_back(to_string(rule));
  for (const Objective objective : task.objectives) objectives.push_back(to_string(objective));
  return {{"accelerator", task.accelerator},
          {"first", task.first},
          {"settings", task.settings},
          {"axes", std::move(axes)},
          {"flexibilities", task.flexibilities},
          {"factorizations", std::move(rules)},
          {"objectives", std::move(objectives)},
          {"layers", std::move(layers)},
          {"workloads", std::move(workloads)},
          {"goals", std::move(goals)},
          {"mix", kMixes[static_cast<std::size_t>(task.mix)]},
          {"weights", task.weights}};
}

DesignTask task_from(const json& in, const std::string& file) {
  DesignTask task;
  task.accelerator = in.at("accelerator").get<std::string>();
  task.first = in.at("first").get<std::string>();
  task.settings = in.at("settings").get<std::vector<Setting>>();
  for (const json& own : in.at("axes")) {
    DesignAxis& axis = task.axes.emplace_back();
    axis.keys = own.at("keys").get<std::vector<std::string>>();
    axis.values = own.at("values").get<std::vector<std::vector<std::string>>>();
    if (axis.values.empty() ||
        std::ranges::any_of(axis.values, [&](const auto& value) { return value.size() != axis.keys.size(); }))
      throw damaged(file, "task.axes", "not a value for each key");
  }
  task.flexibilities = in.at("flexibilities").get<std::vector<std::string>>();
  for (const json& name : in.at("factorizations")) {
    const auto rule = parse_factorization(name.get<std::string>());
    if (!rule) throw damaged(file, "task.factorizations", "one is unknown");
    task.factorizations.push_back(*rule);
  }
  for (const json& name : in.at("objectives")) {
    const auto objective = parse_objective(name.get<std::string>());
    if (!objective) throw damaged(file, "task.objectives", "one is unknown");
    task.objectives.push_back(*objective);
  }
  for (const json& text : in.at("layers"))
    task.layers.push_back(parse_layer_text(text.get<std::string>(), file + ": task.layers"));
  for (const json& uses : in.at("workloads")) {
    auto& own = task.workloads.emplace_back();
    for (const json& use : uses) {
      own.push_back({use.at(0).get<std::size_t>(), use.at(1).get<Count>()});
      if (own.back().layer >= task.layers.size() || own.back().count < 1)
        throw damaged(file, "task.workloads", "names a layer that is not there");
    }
  }
  for (const json& own : in.at("goals")) {
    DesignTask::Goal& goal = task.goals.emplace_back();
    goal.measure = word_of<Measure>(own.at("measure"), kMeasures, "task.goals");
    if (own.contains("workload")) goal.workload = own.at("workload").get<std::size_t>();
    if (goal.workload.value_or(0) >= task.workloads.size()) throw damaged(file, "task.goals", "no such workload");
  }
  task.mix = word_of<Mix>(in.at("mix"), kMixes, "task.mix");
  task.weights = in.at("weights").get<std::vector<double>>();
  if (task.weights.size() != task.workloads.size() || task.goals.empty() || task.flexibilities.empty() ||
      task.factorizations.empty() || task.objectives.empty() || task.workloads.empty())
    throw damaged(file, "task", "lacks goals, weights, rules or workloads");
  return task;
}

/// Every line of a file as JSON; what is wrong is said with the number of the line.
template <class Visit>
void for_each_line(const std::filesystem::path& file, const Visit& visit) {
  std::ifstream in(file);
  if (!in) throw damaged(file.string(), "", "cannot be read");
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    try {
      visit(json::parse(line));
    } catch (const json::exception& error) {
      throw damaged(file.string(), fmt::format("line {}", number), error.what());
    } catch (const InputError& error) {
      throw damaged(file.string(), fmt::format("line {}", number), error.diagnostics().front().what);
    }
  }
}

}  // namespace

std::int64_t DesignTask::points() const {
  std::int64_t all = 1;
  for (const DesignAxis& axis : axes) all *= static_cast<std::int64_t>(axis.values.size());
  return all;
}

std::int64_t DesignTask::variants() const {
  return static_cast<std::int64_t>(factorizations.size() * objectives.size());
}

std::int64_t DesignTask::designs_of_point() const {
  return static_cast<std::int64_t>(flexibilities.size()) * variants();
}

std::vector<std::int32_t> DesignTask::positions(std::int64_t point) const {
  std::vector<std::int32_t> at(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    const auto size = static_cast<std::int64_t>(axes[a].values.size());
    at[a] = static_cast<std::int32_t>(point % size);
    point /= size;
  }
  return at;
}

DesignCertificateWriter::DesignCertificateWriter(const std::filesystem::path& folder) : folder_(folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::filesystem::remove(folder / "design.json", error);
  bounds_.open(folder / "bounds.jsonl", std::ios::trunc);
  mapped_.open(folder / "mapped.jsonl", std::ios::trunc);
  boxes_.open(folder / "boxes.jsonl", std::ios::trunc);
  good_ = bounds_ && mapped_ && boxes_;
}

void DesignCertificateWriter::add(const ClaimedBound& bound) {
  json out{{"rule", bound.rule},
           {"layer", bound.layer},
           {"of", to_string(bound.objective)},
           {"least", bound_json(bound.least)}};
  if (bound.design >= 0)
    out["design"] = bound.design;
  else
    out["in"] = box_json(bound.box);
  bounds_ << out.dump() << "\n";
  ++bounds_written_;
}

void DesignCertificateWriter::add(const ClaimedMapping& mapping) {
  mapped_ << json{{"design", mapping.design},
                  {"layer", mapping.layer},
                  {"value", bound_json(mapping.value)},
                  {"mapping", mapping.mapping}}
                 .dump()
          << "\n";
  ++mapped_written_;
}

void DesignCertificateWriter::add(const ClaimedBox& box) {
  json out{{"closed_by", kClosings[static_cast<std::size_t>(box.closed_by)]}, {"least", numbers_json(box.least)}};
  if (box.design >= 0)
    out["design"] = box.design;
  else
    out["in"] = box_json(box.box);
  if (!box.bounds.empty()) out["bounds"] = box.bounds;
  if (!box.maps.empty()) out["maps"] = box.maps;
  boxes_ << out.dump() << "\n";
  ++boxes_written_;
}

void DesignCertificateWriter::finish(DesignClaim claim) {
  bounds_.close();
  mapped_.close();
  boxes_.close();
  json frontier = json::array();
  for (const FrontierPoint& point : claim.frontier)
    frontier.push_back({{"design", point.design}, {"values", numbers_json(point.values)}});
  std::ofstream out(folder_ / "design.json", std::ios::trunc);
  out << json{{"pliant", "design-certificate"},
              {"schema", kDesignSchema},
              {"task", task_json(claim.task)},
              {"claim", {{"gap", claim.gap}, {"designs", claim.designs}, {"frontier", std::move(frontier)}}},
              {"lines", {{"bounds", bounds_written_}, {"mapped", mapped_written_}, {"boxes", boxes_written_}}}}
             .dump(1)
      << "\n";
  out.close();
  good_ = good_ && out && bounds_ && mapped_ && boxes_;
}

bool is_design_certificate(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "design.json", error);
}

DesignClaim read_design_claim(const std::filesystem::path& folder) {
  const std::string file = (folder / "design.json").string();
  std::ifstream in(file);
  if (!in) throw damaged(file, "", "cannot be read");
  try {
    const json root = json::parse(in);
    if (!root.is_object() || root.value("pliant", "") != "design-certificate")
      throw damaged(file, "pliant", "is not `design-certificate`");
    if (root.value("schema", 0) != kDesignSchema)
      throw damaged(file, "schema", fmt::format("is not {}", kDesignSchema));
    DesignClaim claim;
    claim.task = task_from(root.at("task"), file);
    claim.gap = root.at("claim").at("gap").get<double>();
    claim.designs = root.at("claim").at("designs").get<std::int64_t>();
    for (const json& point : root.at("claim").at("frontier"))
      claim.frontier.push_back({point.at("design").get<std::int64_t>(), numbers_from(point.at("values"))});
    claim.bounds = root.at("lines").at("bounds").get<std::size_t>();
    claim.mapped = root.at("lines").at("mapped").get<std::size_t>();
    claim.boxes = root.at("lines").at("boxes").get<std::size_t>();
    return claim;
  } catch (const json::exception& error) {
    throw damaged(file, "", error.what());
  }
}

void for_each_bound(const std::filesystem::path& folder, const std::function<void(ClaimedBound&&)>& visit) {
  for_each_line(folder / "bounds.jsonl", [&](const json& in) {
    ClaimedBound bound;
    if (in.contains("design"))
      bound.design = in.at("design").get<std::int64_t>();
    else
      bound.box = box_from(in.at("in"));
    bound.rule = in.at("rule").get<std::size_t>();
    bound.layer = in.at("layer").get<std::size_t>();
    const auto objective = parse_objective(in.at("of").get<std::string>());
    if (!objective) throw damaged("", "of", "an unknown objective");
    bound.objective = *objective;
    bound.least = bound_from(in.at("least"));
    visit(std::move(bound));
  });
}

void for_each_mapping(const std::filesystem::path& folder, const std::function<void(ClaimedMapping&&)>& visit) {
  for_each_line(folder / "mapped.jsonl", [&](const json& in) {
    visit({in.at("design").get<std::int64_t>(), in.at("layer").get<std::size_t>(), bound_from(in.at("value")),
           in.at("mapping").get<std::string>()});
  });
}

void for_each_box(const std::filesystem::path& folder, const std::function<void(ClaimedBox&&)>& visit) {
  for_each_line(folder / "boxes.jsonl", [&](const json& in) {
    ClaimedBox box;
    if (in.contains("design"))
      box.design = in.at("design").get<std::int64_t>();
    else
      box.box = box_from(in.at("in"));
    box.closed_by = word_of<ClaimedBox::ClosedBy>(in.at("closed_by"), kClosings, "closed_by");
    box.least = numbers_from(in.at("least"));
    if (in.contains("bounds")) box.bounds = in.at("bounds").get<std::vector<std::uint32_t>>();
    if (in.contains("maps")) box.maps = in.at("maps").get<std::vector<std::uint32_t>>();
    visit(std::move(box));
  });
}

}  // namespace pliant::audit
