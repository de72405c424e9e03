// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/shipped_configs.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

namespace pliant {

namespace fs = std::filesystem;

namespace {

// The folder of the running program, links resolved; empty if the system does not tell.
fs::path running_program_dir() {
  std::error_code error;
#if defined(__APPLE__)
  std::uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string name(size, '\0');
  if (_NSGetExecutablePath(name.data(), &size) != 0) return {};
  return fs::canonical(name.c_str(), error).parent_path();
#else
  return fs::read_symlink("/proc/self/exe", error).parent_path();
#endif
}

}  // namespace

std::optional<fs::path> shipped_configs(const fs::path& program_dir, const char* from_env) {
  std::error_code error;
  if (from_env != nullptr && *from_env != '\0') {
    // An explicit wish is never replaced by something else.
    if (fs::is_directory(from_env, error)) return fs::path(from_env);
    return std::nullopt;
  }
  // build/<preset>/bin, then <prefix>/bin.
  for (const char* relative : {"../../../configs", "../share/pliant/configs"}) {
    const fs::path candidate = (program_dir / relative).lexically_normal();
    if (fs::is_directory(candidate, error)) return candidate;
  }
  return std::nullopt;
}

std::optional<fs::path> shipped_configs() {
  return shipped_configs(running_program_dir(), std::getenv("PLIANT_CONFIGS"));
}

}  // namespace pliant
