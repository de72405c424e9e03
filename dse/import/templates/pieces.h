// SPDX-License-Identifier: Apache-2.0
// A template cut into its pieces: text, {{values}} and {% tags %}.
#pragma once

#include <string>
#include <vector>

#include "dse/import/imported.h"

namespace pliant {

struct TemplatePiece {
  enum class Kind { kText, kValue, kTag };
  Kind kind = Kind::kText;
  std::string text;  ///< at most one line of text; the inside of a value or tag
  Position at;
};

/// Tags in comments of the YAML (after #) stay text, and so does what stands between raw and endraw.
std::vector<TemplatePiece> cut_template(const SourceFile& file);

}  // namespace pliant
