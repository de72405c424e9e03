// SPDX-License-Identifier: Apache-2.0
// Imports of texts that a test writes itself.
#pragma once

#include <string>
#include <string_view>

#include "dse/import/formats.h"

namespace pliant {

inline Imported import_text(std::string_view format, std::string_view name, std::string_view text,
                            const ImportOptions& options = {}) {
  return import_sources(format, {{std::string(name), std::string(text)}}, options);
}

/// Everything that is wrong, one line each; "" when nothing is.
inline std::string import_error(std::string_view format, std::string_view name, std::string_view text,
                                const ImportOptions& options = {}) {
  try {
    import_text(format, name, text, options);
  } catch (const InputError& error) {
    std::string all;
    for (const Diagnostic& diagnostic : error.diagnostics()) all += diagnostic.text() + "\n";
    return all;
  }
  return "";
}

}  // namespace pliant
