// SPDX-License-Identifier: Apache-2.0
// What is asked about serving a language model.
#pragma once

#include <optional>
#include <string>

#include "core/accelerator.h"
#include "core/mapping.h"
#include "costmodel/task.h"
#include "dse/import/llm/model.h"
#include "dse/mappers/mapper.h"

namespace pliant::serving {

/// tp * pp * ep chips. Each of the ep groups attends for its share of the sequences and has its share of the experts;
/// within a group pp stages follow one another; within a stage tp chips share every matrix.
struct Division {
  Count tp = 1, pp = 1, ep = 1;
  Count chips() const { return tp * pp * ep; }
  bool operator==(const Division&) const = default;
};
std::string to_string(const Division& division);  ///< "TP 4 x PP 2"

struct Request {
  std::string model_name;
  LanguageModel model;
  Accelerator accelerator;
  std::optional<double> memory_bytes;  ///< of one chip, instead of what the accelerator says
  Factorization factorization = Factorization::kPerfect;
  Objective objective = Objective::kRuntime;  ///< or energy
  Count prompt = 1024, output = 128, batch = 1;
  Count chunk = 0;  ///< tokens of a prompt at once; 0 = all
  std::optional<int> weight_bits, kv_bits;
  double skew = 0;  ///< of the experts
  Division division;
  double gap = 0.01;  ///< how far apart bounds of the decode phase may be before more contexts are searched
  SearchOptions search;
};

/// Cycles and energy of something, and what no mappings do better: least cycles, or least energy, as is asked for.
struct Spent {
  double cycles = 0, energy_pj = 0, least = 0;
  double value(Objective objective) const { return objective == Objective::kEnergy ? energy_pj : cycles; }
  Spent& operator+=(const Spent& other) {
    cycles += other.cycles;
    energy_pj += other.energy_pj;
    least += other.least;
    return *this;
  }
  Spent operator*(double times) const { return {cycles * times, energy_pj * times, least * times}; }
};

}  // namespace pliant::serving
