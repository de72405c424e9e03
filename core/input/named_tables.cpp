// SPDX-License-Identifier: Apache-2.0
#include "core/input/named_tables.h"

namespace pliant {

const Technology* NamedTables::get(const Cursor& where, const std::string& name) {
  try {
    return &tables_.get(name);
  } catch (const InputError& error) {
    if (!unreadable_.insert(name).second) return nullptr;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      if (diagnostic.line > 0) {
        where.problems().add(diagnostic);
      } else {
        where.problem(diagnostic.what, diagnostic.expected, diagnostic.did_you_mean);
      }
    }
  }
  return nullptr;
}

}  // namespace pliant
