// SPDX-License-Identifier: Apache-2.0
// The named options of one mapper ("population=200"): read, checked, and refused with the known names.
#pragma once

#include <string_view>
#include <vector>

#include "dse/mappers/mapper.h"

namespace pliant {

/// One option: where its value goes and what it may be.
struct MapperOption {
  std::string_view name;
  double* value;
  double least, most;
};

/// Sets the values that SearchOptions::extra names. Throws InputError for an unknown name or a value out of range.
void read_mapper_options(std::string_view mapper, const SearchOptions& options, const std::vector<MapperOption>& known);

/// When a search must end, checked cheaply: the clock and the stop token are looked at every few hundred calls.
class Deadline {
 public:
  explicit Deadline(const SearchOptions& options, unsigned every = 256);
  /// True once the time is up or a stop was asked for; stays true.
  bool reached() { return over_ || (++calls_ % every_ == 0 && look()); }
  bool look();  ///< the same, looking now
  bool stopped() const { return stopped_; }
  bool over() const { return over_; }
  double seconds() const;  ///< since construction

 private:
  const SearchOptions& options_;
  double started_;
  unsigned every_, calls_ = 0;
  bool over_ = false, stopped_ = false;
};

}  // namespace pliant
