// SPDX-License-Identifier: Apache-2.0
#include "core/input/conventions_block.h"

#include "core/input/source_text.h"

namespace pliant {
namespace {

void read_preset(const Cursor& value, Conventions& conventions) {
  const std::vector<std::string> presets = Conventions::preset_names();
  const auto word = value.text("one of " + join(presets));
  if (!word) return;
  if (const auto known = Conventions::preset(*word)) {
    conventions = *known;
  } else {
    value.problem("unknown preset " + value.node().describe(), "one of " + join(presets), nearest(*word, presets));
  }
}

}  // namespace

void read_conventions(const Cursor& block, Conventions& conventions) {
  if (block.node().is_scalar()) return read_preset(block, conventions);
  const auto& options = convention_options();
  std::vector<std::string_view> known{"preset"};
  for (const ConventionOption& option : options) known.push_back(option.key);
  if (!block.only_keys(known, "a preset's name or a map of options")) return;
  if (const auto value = block.find("preset")) read_preset(*value, conventions);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto value = block.find(options[i].key);
    const auto choice = value ? value->choice(options[i].values) : std::nullopt;
    if (choice) set_convention(conventions, i, *choice);
  }
}

}  // namespace pliant
