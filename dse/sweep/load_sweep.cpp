// SPDX-License-Identifier: Apache-2.0
// A sweep file from top to bottom. The blocks that need more than a few lines are read in read_*.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "core/input/yaml_text.h"
#include "core/workload_graph.h"
#include "dse/combinations/combinations.h"
#include "dse/import/open.h"
#include "dse/mappers/residency/residency.h"
#include "dse/results/content_hash.h"
#include "dse/sweep/axis_values.h"
#include "dse/sweep/deadline.h"
#include "dse/sweep/result_limits.h"
#include "dse/sweep/sweep_keys.h"
#include "dse/sweep/sweep_reading.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

void read_settings(SweepReading& reading, const Cursor& block) {
  if (!block.expect_map("a map of keys as in --set")) return;
  const std::vector<Cursor> entries = block.entries();
  for (std::size_t i = 0; i < entries.size(); ++i)
    reading.sweep.settings.emplace_back(block.entry(i).key, flow_text(entries[i].node()));
}

/// A bad `set:` is told at its own line.
void relay_settings(SweepReading& reading, const Cursor& at, const std::optional<Cursor>& set,
                    const InputError& error) {
  std::vector<Diagnostic> others;
  for (const Diagnostic& d : error.diagnostics()) {
    const auto own = set && !d.setting.empty() ? set->find(d.setting) : std::nullopt;
    if (own) {
      own->problem(d.what, d.expected, d.did_you_mean);
    } else {
      others.push_back(d);
    }
  }
  if (!others.empty()) reading.relay(at, InputError(others));
}

void read_accelerator(SweepReading& reading, const Cursor& c, const std::optional<Cursor>& set) {
  const auto name = c.text("a shipped name or a file");
  if (!name) return;
  Sweep& sweep = reading.sweep;
  if (std::ranges::find(sweep.accelerators, reading.beside(*name)) != sweep.accelerators.end())
    return c.problem(fmt::format("{} is there twice", shorten(*name, 60)), "each accelerator once");
  sweep.accelerators.push_back(reading.beside(*name));
  try {
    auto reader =
        std::make_unique<AcceleratorTemplate>(open_accelerator_template(reading.library, sweep.accelerators.back()));
    Accelerator base = reader->with(sweep.settings);
    std::map<std::string, std::string>& parameters = sweep.parameters.emplace_back();
    for (const YamlEntry& entry : reader->parameters(sweep.settings).entries)
      parameters[entry.key] = flow_text(entry.value);
    reading.note_input("accelerator", *name, write_accelerator(base));
    reading.bases.push_back({std::move(reader), std::move(base)});
  } catch (const InputError& error) {
    relay_settings(reading, c, set, error);
  }
}

/// Several accelerators are the first axis.
void read_accelerators(SweepReading& reading, const Cursor& c, const std::optional<Cursor>& set) {
  const std::vector<Cursor> items = one_or_list(c);
  if (items.empty()) c.problem("no accelerator", "at least one");
  SweepAxis axis{{std::string(kAcceleratorAxis)}, {}};
  for (const Cursor& item : items) {
    read_accelerator(reading, item, set);
    if (const auto name = item.text()) axis.values.push_back({fs::path(*name).stem().string()});
  }
  if (items.size() > 1 && reading.bases.size() == items.size()) add_axis(reading, axis);
}

/// What the table of combinations says against a question about networks, told where it was asked: a key of the file,
/// or an option that stands instead of it.
void refuse_networks(const SweepReading& reading, const std::optional<Cursor>& said, const char* option, Trait asked) {
  const Sweep& sweep = reading.sweep;
  for (const Workload& workload : sweep.workloads) {
    Traits question{Trait::kSweep, asked};
    // Other mappers map layers by themselves, which is then the reason that counts.
    const bool asks_tiles = asked == Trait::kTiles, other_mapper = asks_tiles && sweep.mapper != "exact";
    question.add_if(!workload.graph, Trait::kUnrelated).add_if(!sweep.network && !other_mapper, Trait::kOutside);
    for (const Objective objective : sweep.objectives) question.add(TraitGroup::kObjectives, to_string(objective));
    if (asks_tiles) {
      question.add(TraitGroup::kMappers, sweep.mapper).add_if(sweep.inferences > 1, Trait::kInferences);
      for (const auto& base : reading.bases)
        question.add(TraitGroup::kConventions, base.accelerator.conventions.name());
      question.add_if(std::ranges::any_of(sweep.result_limits, limits_time), Trait::kDeadline);
    }
    const std::optional<Refused> found = refused(question);
    if (!found) continue;
    const std::string what = fmt::format("{}: {}", workload.name, found->what);
    if (!said) throw InputError(Diagnostic{"pliant sweep", 0, 0, option, what, found->instead, ""});
    return said->problem(what, found->instead);
  }
}

/// After workloads, objectives and the mapper. `residency` is the older word for `network`.
void read_network(SweepReading& reading, const Cursor& root, const SweepOverrides& overrides) {
  Sweep& sweep = reading.sweep;
  const bool no_value_of_its_own =
      std::ranges::find(sweep.objectives, Objective::kEdpOverUtilization) != sweep.objectives.end();
  const auto network = root.find("network"), residency = root.find("residency");
  if (network && residency) residency->problem("the older word for `network`", "one of them");
  std::optional<Cursor> said = network ? network : residency;
  const std::optional<bool> asked = overrides.network ? overrides.network : said ? said->flag() : std::nullopt;
  if (overrides.network) said.reset();
  sweep.network = asked.value_or(sweep.mapper == "exact" && !no_value_of_its_own);
  if (asked && *asked) refuse_networks(reading, said, "--network", Trait::kResidency);
  auto inferences = root.find("inferences");
  if (inferences) sweep.inferences = inferences->count(1).value_or(1);
  if (overrides.inferences) {
    sweep.inferences = *overrides.inferences;
    inferences.reset();
  }
  if (sweep.inferences < 1 || sweep.inferences > residency::kMostInferences) {
    const std::string what = fmt::format("{}", sweep.inferences);
    const std::string expected = fmt::format("1 to {}", residency::kMostInferences);
    if (!inferences) throw InputError(Diagnostic{"pliant sweep", 0, 0, "--inferences", what, expected, ""});
    inferences->problem(what, expected);
  }
  if (sweep.inferences > 1) refuse_networks(reading, inferences, "--inferences", Trait::kInferences);
}

/// After the limits, for one on time is a deadline.
void read_fusion(SweepReading& reading, const Cursor& root, const SweepOverrides& overrides) {
  auto said = root.find("fusion");
  std::optional<std::string> word = overrides.fusion;
  if (overrides.fusion) said.reset();
  if (said) word = said->text("whole or tiles");
  if (!word) return;
  if (*word != "whole" && *word != "tiles") {
    const std::string what = fmt::format("`{}`", shorten(*word, 40));
    const std::string expected = "whole or tiles; `network: false` maps every layer by itself";
    if (!said) throw InputError(Diagnostic{"pliant sweep", 0, 0, "--fusion", what, expected, ""});
    return said->problem(what, expected);
  }
  reading.sweep.tiles = *word == "tiles";
  if (reading.sweep.tiles) refuse_networks(reading, said, "--fusion", Trait::kTiles);
}

/// What mappings are chosen by where the file does not say: what the goals of a design search ask of them.
Objective objective_of(const DesignGoals& goals) {
  bool energy = false, time = false, product = false;
  for (const DesignGoals::Goal& goal : goals.minimize) {
    energy |= goal.measure == DesignMeasure::kEnergy || goal.measure == DesignMeasure::kPower ||
              goal.measure == DesignMeasure::kTokensPerJ;
    time |= goal.measure == DesignMeasure::kRuntime || goal.measure == DesignMeasure::kLatency ||
            goal.measure == DesignMeasure::kTtft || goal.measure == DesignMeasure::kTpot ||
            goal.measure == DesignMeasure::kServedTokensPerS;
    product |= goal.measure == DesignMeasure::kEdp;
  }
  if (energy && !time && !product) return Objective::kEnergy;
  if (time && !energy && !product) return Objective::kRuntime;
  return Objective::kEdp;
}

/// After the limits: what is asked as a whole.
void choose_runs(Sweep& sweep) {
  sweep.deadlines = sweep.mapper == "exact" &&
                    std::ranges::find(sweep.objectives, Objective::kEdpOverUtilization) == sweep.objectives.end() &&
                    std::ranges::any_of(sweep.result_limits, limits_time);
  for (Workload& workload : sweep.workloads) {
    if (workload.graph && !sweep.network) {
      sweep.unused_graphs.push_back(workload.name);
      workload.graph.reset();
    }
    if (sweep.deadlines && !workload.graph) workload.graph = unrelated_layers(workload);
  }
}

/// Design numbers and counts of rows stay far from what 64 bits hold.
void check_number_of_designs(const Sweep& sweep, const Cursor& root, Count most) {
  Count total = 1;
  const auto times = [&](std::size_t n) {
    const auto product = checked_multiply(total, static_cast<Count>(std::max<std::size_t>(n, 1)));
    total = product && *product <= most ? *product : most + 1;
  };
  for (const SweepAxis& axis : sweep.axes) times(axis.values.size());
  times(sweep.flexibilities.size());
  times(sweep.factorizations.size());
  times(sweep.objectives.size());
  if (total > most)
    root.problem(fmt::format("more than {} million designs", most / 1'000'000), "fewer values, or several sweeps");
}

void note_technologies(SweepReading& reading) {
  std::set<std::string> names;
  for (const SweepReading::Base& base : reading.bases)
    for (const Level& level : base.accelerator.levels)
      if (level.is_memory() && !level.memory().technology.empty()) names.insert(level.memory().technology);
  for (const std::string& name : names) {
    const fs::path file = reading.library.configs() / "technology" / (name + ".yaml");
    std::error_code error;
    if (fs::is_regular_file(file, error)) reading.note_input("technology", name, read_source(file));
  }
}

/// The hash of what the file says, whatever its layout.
void note_sweep(SweepReading& reading) {
  Sweep& sweep = reading.sweep;
  std::string text = fmt::format("{}\n", sweep.name);
  for (const auto& [key, value] : sweep.settings) text += fmt::format("set {}={}\n", key, value);
  for (const SweepAxis& axis : sweep.axes) {
    text += fmt::format("axis {}\n", join(axis.keys, " "));
    for (const auto& values : axis.values) text += fmt::format("  {}\n", join(values, " | "));
  }
  for (const std::string& flexibility : sweep.flexibilities)
    text += fmt::format("flexibility {}\n", fs::path(flexibility).filename().string());
  for (const Constraint& constraint : sweep.constraints) text += fmt::format("constraint {}\n", constraint.text());
  for (const Constraint& limit : sweep.result_limits) text += fmt::format("constraint {}\n", limit.text());
  for (const auto& [key, value] : sweep.options()) text += fmt::format("{}={}\n", key, value);
  sweep.inputs.insert(sweep.inputs.begin(), {"sweep", fs::path(reading.file).filename().string(), sha256(text)});
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Sweep::options() const {
  std::vector<std::string> rules, wanted, extra;
  for (const Factorization rule : factorizations) rules.emplace_back(to_string(rule));
  for (const Objective objective : objectives) wanted.emplace_back(to_string(objective));
  for (const auto& [key, value] : mapper_options) extra.push_back(fmt::format("{}={}", key, value));
  std::vector<std::pair<std::string, std::string>> all{{"factorization", join(rules)},
                                                       {"objective", join(wanted)},
                                                       {"mapper", mapper},
                                                       {"mapper_options", join(extra)},
                                                       {"budget_seconds", yaml_number(budget_seconds)},
                                                       {"seed", fmt::format("{}", seed)},
                                                       {"flexion", flexion ? "true" : "false"}};
  if (gap > 0) all.emplace_back("gap", yaml_number(gap));
  const bool has_networks = std::ranges::any_of(
      workloads, [](const Workload& workload) { return workload.graph && has_edges(*workload.graph); });
  if (has_networks || !unused_graphs.empty()) all.emplace_back("network", network ? "true" : "false");
  if (tiles) all.emplace_back("fusion", "tiles");
  if (inferences > 1) all.emplace_back("inferences", fmt::format("{}", inferences));
  return all;
}

std::string objective_words(const Sweep& sweep) {
  if (!sweep.goals) return {};
  const Objective wanted = objective_of(*sweep.goals);
  std::string text;
  for (const Objective objective : sweep.objectives)
    if (objective != wanted && wanted != Objective::kEdp)
      text += fmt::format(
          "objective {}: designs count with mappings of least {}, which need not have the least {} that is minimized "
          "(`objective: {}`, or no objective, has)\n",
          to_string(objective), to_string(objective), to_string(wanted), to_string(wanted));
  return text;
}

std::string mapped_as_words(const Sweep& sweep) {
  std::vector<std::string> networks, layers, unrelated;
  for (const Workload& workload : sweep.workloads) {
    const bool unused = std::ranges::find(sweep.unused_graphs, workload.name) != sweep.unused_graphs.end();
    const bool related = workload.graph && has_edges(*workload.graph);
    (unused ? layers : related ? networks : unrelated).push_back(workload.name);
  }
  std::string text;
  if (!networks.empty())
    text += fmt::format(
        "{}: mapped as {}, tensors stay on chip {}where that is best (`network: false`, --layers: every layer by "
        "itself)\n",
        join(networks), networks.size() == 1 ? "a network" : "networks", sweep.tiles ? "or pass in tiles " : "");
  if (!layers.empty())
    text += fmt::format(
        "{}: mapped layer by layer, every tensor goes outside between layers; as networks (`network: true`) they gain "
        "more from larger buffers\n",
        join(layers));
  if (!unrelated.empty())
    text +=
        fmt::format("{}: mapped layer by layer; no `graph` says which tensors could stay on chip\n", join(unrelated));
  if (sweep.inferences > 1)
    text +=
        fmt::format("weights may stay on chip across {} inferences; figures are of one of them\n", sweep.inferences);
  if (sweep.deadlines) text += "limits on time are deadlines: every design has the best mappings that keep them\n";
  std::vector<std::string> filters;
  for (const Constraint& limit : sweep.result_limits)
    if ((!sweep.deadlines || !limits_time(limit)) && std::ranges::none_of(limit.names(), needs_serving))
      filters.push_back(limit.text());
  if (!filters.empty())
    text += fmt::format(
        "{}: of designs with mappings of least {}; one that breaks {} is left out, though others of its mappings may "
        "keep {}\n",
        join(filters), sweep.objectives.size() == 1 ? to_string(sweep.objectives[0]) : "objective",
        filters.size() == 1 ? "it" : "them", filters.size() == 1 ? "it" : "them");
  return text;
}

Sweep load_sweep(const Library& library, const fs::path& file, const SweepOverrides& overrides) {
  return parse_sweep_text(library, read_source(file), file.string(), overrides);
}

Sweep parse_sweep_text(const Library& library, std::string_view text, std::string_view name,
                       const SweepOverrides& overrides) {
  SweepReading reading{library, std::string(name), {}, {}, {}, {}};
  Sweep& sweep = reading.sweep;
  const YamlNode tree = parse_yaml(text, name, reading.problems);
  const Cursor root(tree, "", reading.problems);
  if (!root.only_keys(keys::kSweep, "a sweep: a map with accelerator, workloads and what varies"))
    reading.problems.throw_if_any();
  check_kind(root, "sweep");
  sweep.name = fs::path(name).stem().string();
  if (const auto c = root.find("name")) sweep.name = c->name().value_or("");
  if (const auto c = root.find("description")) sweep.description = c->text().value_or("");
  const auto set = root.find("set");
  if (set) read_settings(reading, *set);
  sweep.settings.insert(sweep.settings.end(), overrides.settings.begin(), overrides.settings.end());
  if (const auto c = root.require("accelerator", "a shipped name or a file")) read_accelerators(reading, *c, set);
  if (const auto c = root.require("workloads", "a list of shipped names or files")) read_workloads(reading, *c);
  if (const auto c = root.find("vary")) read_axes(reading, *c);
  read_flexibilities(reading, root.find("flexibility"));
  read_factorizations(reading, root.find("factorization"));
  read_objectives(reading, root.find("objective"));
  read_mapper(reading, root.find("mapper"), overrides);
  if (const auto c = root.find("budget_seconds")) sweep.budget_seconds = c->real().value_or(0);
  if (overrides.budget_seconds) sweep.budget_seconds = *overrides.budget_seconds;
  read_gap(reading, root.find("gap"), overrides);
  if (const auto c = root.find("seed")) sweep.seed = static_cast<std::uint64_t>(c->count(0).value_or(1));
  if (overrides.seed) sweep.seed = *overrides.seed;
  if (const auto c = root.find("flexion")) sweep.flexion = c->flag().value_or(true);
  read_network(reading, root, overrides);
  if (const auto c = root.find("constraints")) read_constraints(reading, *c);
  read_goals(reading, root);
  if (sweep.goals && !root.find("objective")) sweep.objectives = {objective_of(*sweep.goals)};
  read_fusion(reading, root, overrides);
  choose_runs(sweep);
  check_number_of_designs(sweep, root, overrides.most_designs);
  reading.problems.throw_if_any();
  note_technologies(reading);
  note_sweep(reading);
  return std::move(sweep);
}

}  // namespace pliant
