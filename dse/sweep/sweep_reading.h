// SPDX-License-Identifier: Apache-2.0
// The reader of sweep files in parts: what they share, and one function for each block of the file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/cursor.h"
#include "dse/sweep/sweep.h"

namespace pliant {

struct SweepReading {
  const Library& library;
  std::string file;
  Diagnostics problems;
  Sweep sweep;
  /// An accelerator of the sweep with the values of `set:`.
  struct Base {
    std::unique_ptr<AcceleratorTemplate> reader;
    Accelerator accelerator;
  };
  std::vector<Base> bases;       ///< one for each of sweep.accelerators; fewer when one cannot be read
  std::set<std::string> varied;  ///< the keys of `vary:` so far

  /// A file beside the sweep, else what the library finds.
  std::string beside(const std::string& name) const;
  void note_input(std::string what, const std::string& name, const std::string& content);
  /// What another reader found, told where the sweep names it; problems inside another file keep their own place.
  void relay(const Cursor& at, const InputError& error);
};

/// The items of a list; a single value stands for a list of one.
std::vector<Cursor> one_or_list(const Cursor& c);

void read_workloads(SweepReading& reading, const Cursor& workloads);
void read_axes(SweepReading& reading, const Cursor& vary);
void read_flexibilities(SweepReading& reading, const std::optional<Cursor>& flexibility);
void read_factorizations(SweepReading& reading, const std::optional<Cursor>& factorization);
void read_objectives(SweepReading& reading, const std::optional<Cursor>& objective);
void read_mapper(SweepReading& reading, const std::optional<Cursor>& mapper, const SweepOverrides& overrides);
void read_gap(SweepReading& reading, const std::optional<Cursor>& gap, const SweepOverrides& overrides);
/// After everything that a constraint may name.
void read_constraints(SweepReading& reading, const Cursor& constraints);
/// Seconds and watts need a clock, of every accelerator: false, and a problem, when `name` has no value.
bool check_clock(const SweepReading& reading, const Cursor& at, const std::string& name);
/// After the workloads.
void read_goals(SweepReading& reading, const Cursor& root);

/// Adds an axis with a column for each of its keys.
void add_axis(SweepReading& reading, const SweepAxis& axis);

}  // namespace pliant
