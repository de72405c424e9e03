// SPDX-License-Identifier: Apache-2.0
// What AccelForge says of one memory or compute: sizes in bits, energies in joules, throughputs per second.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "core/accelerator.h"
#include "dse/import/accelforge/accelforge.h"
#include "dse/import/accelforge/tensor_set.h"
#include "dse/import/templates/named_values.h"

namespace pliant::accelforge {

class ComponentContext {
 public:
  ComponentContext(const std::map<std::string, std::string>& variables, int word_bits, ImportLog& log);

  /// The node is there for products of two tensors.
  bool enabled(const Cursor& node);
  /// One MAC a cycle: the compute's throughput is the clock that turns seconds into cycles.
  void find_clock(const Cursor& nodes);
  /// `stated` becomes false where energies are left to AccelForge's component models.
  Memory memory(const Cursor& node, const std::string& name, bool& stated);
  Compute compute(const Cursor& node, bool& stated);

  /// A number or an expression; notes what is wrong.
  std::optional<double> number(const Cursor& cursor);
  RoleSet tensors(const Cursor& cursor);
  void refuse_unknown_keys(const Cursor& node, std::initializer_list<std::string_view> known);

 private:
  struct Action {
    std::optional<double> joules, per_second;
    double bits = 1;
  };
  void set_clock(const Cursor& compute);
  std::map<std::string, Action> actions(const Cursor& node);
  /// Seconds that one action takes where the node's total_latency says so.
  std::optional<double> seconds_per_action(const Cursor& node, bool& separate_ports);
  void set_bandwidth(const Cursor& node, const std::map<std::string, Action>& all, Memory& memory);
  void set_tensors(const Cursor& node, const std::string& name, Memory& memory);
  void set_word(const Cursor& node, Memory& memory);

  NamedValues values_;
  int word_bits_;
  double clock_ = 0;  ///< cycles per second; 0 = not known
  std::map<std::string, RoleSet> kept_;
  ImportLog* log_;
};

}  // namespace pliant::accelforge
