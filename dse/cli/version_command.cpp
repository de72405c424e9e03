// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/version_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/version.h"
#include "dse/mappers/library_versions.h"
#include "dse/results/library_versions.h"
#include "dse/sweep/source_hash.h"

namespace pliant {

std::string version_text() {
  std::vector<LibraryVersion> libraries = core_library_versions();
  for (const auto& more : {task_library_versions(), table_library_versions()}) {
    libraries.insert(libraries.end(), more.begin(), more.end());
  }
  std::ranges::sort(libraries, {}, &LibraryVersion::name);

  std::string text = fmt::format("pliant {}\n  {:<14} {}\n  {:<14} {}\n", version(), "sources", source_hash(),
                                 "compiler", compiler_version());
  for (const auto& library : libraries) text += fmt::format("  {:<14} {}\n", library.name, library.version);
  return text;
}

}  // namespace pliant
