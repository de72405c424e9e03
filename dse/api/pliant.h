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
//
// Bad input throws InputError with positions; a full disk or another failure of storage throws StorageError. Nothing
// prints or exits. examples/cpp is a complete program.
#pragma once

#include <string>

#include "core/input/load.h"
#include "core/legality.h"
#include "core/version.h"
#include "costmodel/report.h"
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

}  // namespace pliant
