// SPDX-License-Identifier: Apache-2.0
#include "core/version.h"

#include <fmt/format.h>

#include <boost/version.hpp>
#include <nlohmann/json.hpp>

namespace pliant {

std::string version() { return PLIANT_VERSION; }

std::string compiler_version() {
#if defined(__clang__)
  return fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::vector<LibraryVersion> core_library_versions() {
  return {
      {"Boost", fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100)},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"nlohmann-json",
       fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      // The headers of yaml-cpp name no version; this is what CMake found.
      {"yaml-cpp", PLIANT_YAML_CPP_VERSION},
  };
}

}  // namespace pliant
