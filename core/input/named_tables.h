// SPDX-License-Identifier: Apache-2.0
// The technology tables that an accelerator's file names, with problems noted at the key that names them.
#pragma once

#include <set>
#include <string>

#include "core/input/cursor.h"
#include "core/input/load_technology.h"

namespace pliant {

class NamedTables {
 public:
  explicit NamedTables(TechnologyTables& tables) : tables_(tables) {}
  /// nullptr when there is no such table or it is wrong; that is noted at `where`, once for each table.
  const Technology* get(const Cursor& where, const std::string& name);

 private:
  TechnologyTables& tables_;
  std::set<std::string> unreadable_;  ///< tables whose problems are noted already
};

}  // namespace pliant
