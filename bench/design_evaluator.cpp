// SPDX-License-Identifier: Apache-2.0
// The values of designs by number, as a design search sees them: for samplers that are compared with it.
//
//     design_evaluator SWEEP [SETTING ...]
//
// prints the space as a line of JSON; then answers lines of design numbers, each with a line of JSON: the values by
// goal of every design (null when it has none), and the seconds of all searches so far.
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/input/settings.h"
#include "dse/answers/dataset_options.h"
#include "dse/answers/shipped_configs.h"
#include "dse/design/design_rows.h"
#include "dse/design/run_design.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/serving_task.h"

namespace {

using namespace pliant;
using nlohmann::json;

class Evaluator {
 public:
  Evaluator(const Library& library, std::shared_ptr<const Sweep> sweep)
      : sweep_(std::move(sweep)),
        space_(library, sweep_),
        layers_(*sweep_),
        goals_(*sweep_, layers_),
        rows_(*sweep_, layers_, goals_),
        pool_(*sweep_, nullptr, 1, {}) {}

  json space() const {
    json axes = json::array();
    for (const SweepAxis& axis : sweep_->axes) axes.push_back(axis.values.size());
    return {{"designs", space_.size()},
            {"axes", axes},
            {"inner", space_.size() / space_.hardware_points()},
            {"goals", sweep_->goals->minimize.size()}};
  }

  json values(std::int64_t id) {
    if (!space_.allowed(id)) return nullptr;
    const auto design = std::make_shared<const DesignPoint>(space_.design(id));
    const std::vector<PoolAnswer> answers = pool_.answer(design, layers_);
    const OpenedDesign opened = rows_.make(
        design, answers, solve_all_serving(*sweep_, *design, {}),
        [&](const std::string& name) { return space_.value(id, name); }, pool_);
    return opened.within_limits ? json(opened.values) : json(nullptr);
  }

  double seconds() const { return pool_.search_seconds(); }
  std::int64_t searches() const { return pool_.solved(); }

 private:
  std::shared_ptr<const Sweep> sweep_;
  DesignSpace space_;
  DistinctLayers layers_;
  GoalBounds goals_;
  DesignRows rows_;
  TaskPool pool_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const Library library(shipped_configs().value_or("configs"));
    SweepOverrides overrides;
    overrides.most_designs = kMostDesignsOfSearch;
    for (int k = 2; k < argc; ++k) overrides.settings.push_back(parse_setting(argv[k]));
    Evaluator evaluator(library, std::make_shared<const Sweep>(
                                     load_sweep(library, find_sweep(library, argc > 1 ? argv[1] : ""), overrides)));
    std::cout << evaluator.space() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      json all = json::array();
      std::istringstream numbers(line);
      for (std::int64_t id = 0; numbers >> id;) all.push_back(evaluator.values(id));
      std::cout << json{{"values", all}, {"seconds", evaluator.seconds()}, {"searches", evaluator.searches()}}
                << std::endl;
    }
  } catch (const InputError& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  return 0;
}
