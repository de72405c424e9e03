// SPDX-License-Identifier: Apache-2.0
// What every fuzzer of readers does with its bytes: the first chooses a reader, the rest is the file. A reader may only
// end well or in an InputError whose diagnostics say something; anything else is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/input/diagnostics.h"

namespace pliant {

template <class Read>
int fuzz_reader(const std::uint8_t* data, std::size_t size, const Read& read) {
  if (size == 0) return 0;
  try {
    read(data[0], std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      if (diagnostic.what.empty()) std::abort();
    }
  }
  return 0;
}

}  // namespace pliant
