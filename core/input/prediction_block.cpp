// SPDX-License-Identifier: Apache-2.0
#include "core/input/prediction_block.h"

#include <fmt/format.h>

#include "core/input/accelerator_tree.h"
#include "core/input/diagnostics.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "core/input/yaml_text.h"

namespace pliant {
namespace {

double quantity(const Cursor& block, std::string_view key, std::string_view expected,
                Parsed<double> (*parse)(std::string_view)) {
  const auto c = block.find(key);
  const auto text = c ? c->text(expected) : std::nullopt;
  if (!text) return 0;
  const Parsed<double> value = parse(*text);
  if (const auto* error = std::get_if<UnitError>(&value)) {
    c->problem(error->what, error->expected, error->did_you_mean);
    return 0;
  }
  return std::get<double>(value);
}

void read_achievable(const Cursor& shares, const Accelerator& accelerator, std::vector<double>& achievable) {
  if (!shares.expect_map("shares by level, such as {DRAM: 0.88}")) return;
  const std::vector<Cursor> entries = shares.entries();
  std::vector<std::string> known;
  for (const Level& level : accelerator.levels)
    if (!level.is_fanout()) known.push_back(level.name);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string& name = shares.entry(i).key;
    const int level = accelerator.find_level(name);
    if (level < 0 || accelerator.levels[static_cast<std::size_t>(level)].is_fanout()) {
      entries[i].problem(fmt::format("no memory or compute level `{}`", shorten(name, 40)), "one of " + join(known),
                         nearest(name, known));
      continue;
    }
    const double share = entries[i].positive_real().value_or(1);
    if (share > 1) entries[i].problem("more than 1", "a share above 0 and at most 1");
    achievable[static_cast<std::size_t>(level)] = share;
  }
}

}  // namespace

PredictionFigures read_prediction(const Cursor& block, const Accelerator& accelerator) {
  PredictionFigures prediction;
  prediction.achievable.assign(accelerator.levels.size(), 1);
  if (!block.only_keys(keys::kPrediction,
                       "{overhead: TIME, power_limit: POWER, idle_power: POWER, achievable: SHARES}"))
    return prediction;
  if (!accelerator.clock_hz)
    block.problem("a prediction of an accelerator without a clock", "`clock: 1 GHz` on the accelerator");
  prediction.overhead_s = quantity(block, "overhead", "a time such as 3 us", parse_time);
  prediction.idle_w = quantity(block, "idle_power", "a power such as 80 W", parse_watts);
  if (const auto c = block.find("power_limit")) {
    prediction.power_limit_w = quantity(block, "power_limit", "a power such as 700 W", parse_watts);
    if (*prediction.power_limit_w <= prediction.idle_w)
      c->problem("a limit that leaves nothing beside the idle power", "more than `idle_power`");
  }
  if (const auto c = block.find("achievable")) read_achievable(*c, accelerator, prediction.achievable);
  return prediction;
}

std::optional<PredictionFigures> load_prediction(const Library& library, std::string_view name_or_path,
                                                 const std::vector<Setting>& settings, const Accelerator& accelerator) {
  const std::filesystem::path file = library.find_accelerator(name_or_path);
  Diagnostics problems;
  const AcceleratorTree tree = complete_accelerator_tree(
      read_accelerator_files(library, read_source(file), file.string(), file.parent_path(), problems), file.string(),
      settings, problems);
  const Cursor root(tree.stages.back(), "", problems);
  const auto block = root.find("prediction");
  std::optional<PredictionFigures> prediction;
  if (block) prediction = read_prediction(*block, accelerator);
  problems.throw_if_any();
  return prediction;
}

std::string write_prediction(const PredictionFigures& prediction, const Accelerator& accelerator) {
  std::vector<std::string> items{fmt::format("overhead: {} s", yaml_number(prediction.overhead_s))};
  if (prediction.power_limit_w)
    items.push_back(fmt::format("power_limit: {} W", yaml_number(*prediction.power_limit_w)));
  items.push_back(fmt::format("idle_power: {} W", yaml_number(prediction.idle_w)));
  std::vector<std::string> shares;
  for (std::size_t l = 0; l < prediction.achievable.size(); ++l)
    if (prediction.achievable[l] != 1)
      shares.push_back(
          fmt::format("{}: {}", yaml_text(accelerator.levels[l].name), yaml_number(prediction.achievable[l])));
  if (!shares.empty()) items.push_back("achievable: " + yaml_map(shares));
  return yaml_map(items);
}

}  // namespace pliant
