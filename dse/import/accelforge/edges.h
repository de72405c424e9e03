// SPDX-License-Identifier: Apache-2.0
// Einsums that read what others made: the graph of the workload.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/workload_graph.h"
#include "dse/import/accelforge/accelforge.h"
#include "dse/import/imported.h"

namespace pliant::accelforge {

class EinsumGraph {
 public:
  EinsumGraph(const Workload& workload, ImportLog& log) : workload_(workload), log_(log) {}

  /// `roles`: of the einsum's accesses, as its layer has them. The layer is `row` of the workload.
  void add_layer(const Einsum& einsum, const std::vector<Role>& roles, int row);
  /// A sum, a copy, a function of one or a product element by element: no MACs, but it moves its operands.
  void add_operator(const Einsum& einsum, Count words);
  /// Nothing when no einsum reads what another made.
  std::optional<WorkloadGraph> take();

 private:
  int source(const Access& access) const;
  int add_node(const Einsum& einsum, WorkloadGraph::Node node);

  const Workload& workload_;
  ImportLog& log_;
  WorkloadGraph graph_;
  std::vector<TensorExtents> extents_;  ///< by node
  std::map<std::string, int> made_by_;  ///< by tensor
  UniqueNames names_;
};

}  // namespace pliant::accelforge
