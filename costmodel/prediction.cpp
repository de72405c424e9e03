// SPDX-License-Identifier: Apache-2.0
#include "costmodel/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/input/diagnostics.h"

namespace pliant {

namespace {

constexpr double kPicojoules = 1e12;

double leak_pj_per_cycle(const Accelerator& accelerator) {
  double leak = 0;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    const auto copies = static_cast<double>(accelerator.instances(static_cast<int>(l)));
    if (level.is_memory()) leak += copies * level.memory().leak_pj_per_cycle;
    if (level.is_compute()) leak += copies * level.compute().leak_pj_per_cycle;
  }
  return leak;
}

}  // namespace

Accelerator achievable_accelerator(const Accelerator& accelerator, const PredictionFigures& prediction) {
  Accelerator real = accelerator;
  for (std::size_t l = 0; l < real.levels.size(); ++l) {
    const double share = l < prediction.achievable.size() ? prediction.achievable[l] : 1;
    Level& level = real.levels[l];
    if (level.is_compute()) {
      level.compute().cycles_per_mac /= share;
      level.compute().leak_pj_per_cycle = 0;
    }
    if (!level.is_memory()) continue;
    Memory& memory = level.memory();
    memory.leak_pj_per_cycle = 0;
    for (auto* rate : {&memory.read_words_per_cycle, &memory.write_words_per_cycle, &memory.bus_words_per_cycle})
      if (*rate) **rate *= share;
    for (Bandwidth& own : memory.bandwidth_of)
      for (auto* rate : {&own.read, &own.write, &own.bus})
        if (*rate) **rate *= share;
  }
  return real;
}

double standing_w(const Accelerator& accelerator, const PredictionFigures& prediction) {
  return std::max(prediction.idle_w, leak_pj_per_cycle(accelerator) * accelerator.clock_hz.value_or(0) / kPicojoules);
}

Predictor::Predictor(const Accelerator& accelerator, const PredictionFigures& prediction)
    : hz_(accelerator.clock_hz.value_or(0)),
      overhead_s_(prediction.overhead_s),
      standing_w_(standing_w(accelerator, prediction)),
      moving_w_(prediction.power_limit_w ? *prediction.power_limit_w - standing_w_
                                         : std::numeric_limits<double>::infinity()) {
  if (moving_w_ <= 0)
    throw InputError(Diagnostic{"", 0, 0, "prediction.power_limit",
                                fmt::format("{:.4g} W leave nothing for the work: {} draws {:.4g} W whatever runs",
                                            *prediction.power_limit_w, accelerator.name, standing_w_),
                                "more than that", ""});
}

Predicted Predictor::of(double energy_pj, double cycles) const {
  const double busy = cycles / hz_, energy = energy_pj / kPicojoules, by_power = energy / moving_w_;
  const double seconds = std::max(busy, by_power) + overhead_s_;
  return {seconds, energy + standing_w_ * seconds, by_power > busy};
}

double Predictor::value(Objective objective, double energy_pj, double cycles) const {
  const Predicted predicted = of(energy_pj, cycles);
  Totals totals;
  totals.energy_pj = predicted.joules * kPicojoules;
  totals.cycles = predicted.seconds * hz_;
  totals.utilization = 1;
  return objective_value(objective, totals);
}

}  // namespace pliant
