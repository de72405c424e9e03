// SPDX-License-Identifier: Apache-2.0
#include "dse/import/checked_layer.h"

#include "core/input/load.h"
#include "core/input/units.h"

namespace pliant {

std::optional<Layer> checked_layer(const Layer& layer, const Position& at, std::string_view key, ImportLog& log) {
  try {
    return parse_layer_text(write_layer(layer), "layer");
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      log.problems().add(at, std::string(key), d.what, d.expected, d.did_you_mean);
    }
    return std::nullopt;
  }
}

bool sizes_fit(std::initializer_list<Count> sizes, const Position& at, std::string_view key, ImportLog& log) {
  Count product = 1;
  for (const Count size : sizes) {
    const auto next = checked_multiply(product, size);
    if (!next || *next >= kMaxCount) {
      log.problems().add(at, std::string(key), "the MACs of this layer are too many", "fewer than 2^62");
      return false;
    }
    product = *next;
  }
  return true;
}

}  // namespace pliant
