// SPDX-License-Identifier: Apache-2.0
// The library for the common case. After `cmake --install`, a program says
//
//     find_package(Pliant REQUIRED)
//     target_link_libraries(my_program PRIVATE Pliant::pliant)
//
// and includes <pliant/pliant.h>:
//
//     load      load_accelerator(), load_workload(), load_layer(), choose_flexibility(), load_sweep()
//     map       map_layer() here; make_mapper() and run_mapper() for everything else
//     price     price() of costmodel/report.h, check_legality() of core/legality.h
//     sweep     run_sweep()
//     read      read_table() and write_table() for a sweep's dataset, non_dominated() for its frontier
//     ask       ask() here: every question of the command line, by the same names, with the same JSON
//
// Bad input throws InputError with positions; a full disk or another failure of storage throws StorageError. Nothing
// prints or exits. examples/cpp has a program with types, main.cpp, and one that asks every question, ask.cpp.
#pragma once

#include <concepts>
#include <functional>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/input/load.h"
#include "core/legality.h"
#include "core/version.h"
#include "costmodel/report.h"
#include "dse/answers/face.h"
#include "dse/mappers/mapper.h"
#include "dse/results/data_table.h"
#include "dse/results/pareto.h"
#include "dse/sweep/run_sweep.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// How map_layer() searches; the defaults are those of `pliant map`.
struct MapRequest {
  Factorization factorization = Factorization::kPerfect;
  Objective objective = Objective::kEdp;
  std::string mapper = "exact";  ///< one of mapper_names()
  SearchOptions options = {};
};

/// The best mapping of one layer under the accelerator's own flexibility, judged and priced again. InputError for a
/// mapper that does not exist.
SearchResult map_layer(const Accelerator& accelerator, const Layer& layer, const MapRequest& request = {});

/// A question as the command line has it, `pliant COMMAND WORDS --OPTION VALUE`:
///
///     ask(library, {"map", {}, {{"accelerator", "eyeriss"}, {"workload", "resnet50"}, {"layer", "conv1"}}});
///     ask(library, {"show", {"accelerator", "eyeriss"}, {}});
///     ask(library, {"query", {"results/demo"}, {{"where", {"class == 1*11", "area_um2 < 1e6"}}, {"limit", 5}}});
///
/// Commands: show, map, eval, serve, flexion, count, validate, sweep, design, import, export, study, pareto, query,
/// report, audit, verify. docs/options.md has their options, docs/json.md what they answer.
struct Question {
  /// A text, a number, several texts, or true for an option without a value; false: not given.
  struct Value {
    std::vector<std::string> texts;
    bool given = true;

    Value(const char* text) : texts{text} {}
    Value(std::string text) : texts{std::move(text)} {}
    Value(std::vector<std::string> several) : texts(std::move(several)), given(!texts.empty()) {}
    Value(std::initializer_list<std::string> several) : Value(std::vector<std::string>(several)) {}
    template <std::integral Number>
    Value(Number number) : texts{std::to_string(number)} {}
    Value(double number);
    Value(bool flag) : given(flag) {}
  };

  std::string command;
  std::vector<std::string> words = {};
  std::vector<std::pair<std::string, Value>> options = {};  ///< by name, without dashes
};

struct Answer {
  int code = 0;         ///< the program's exit code: 0 done, 1 something is wrong with the data, 3 no mapping, 4 an
                        ///< audit could not decide, 130 stopped
  std::string text;     ///< what the program prints, with --json unless AskOptions want the text for people
  std::string remarks;  ///< warnings, and why there is no mapping

  /// nlohmann::json::parse_error of the text for people, or when there is no answer.
  nlohmann::ordered_json json() const { return nlohmann::ordered_json::parse(text); }
};

struct AskOptions {
  std::stop_token stop = {};
  bool json = true;                                          ///< false: the text for people
  std::function<void(const std::string&)> on_progress = {};  ///< a line now and then, from any thread
};

/// InputError for what the command line would refuse with exit code 2. Who wants more of what happens meanwhile derives
/// from Face and calls answer() of dse/answers/answers.h.
Answer ask(const Library& library, const Question& question, const AskOptions& options = {});

}  // namespace pliant
