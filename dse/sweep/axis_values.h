// SPDX-License-Identifier: Apache-2.0
// What may stand behind a key of `vary:`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/input/cursor.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// The values of one key: a single one, a list, or a range {from, to, step} or {from, to, times}. Empty after noting a
/// problem.
std::vector<std::string> read_axis_values(const Cursor& cursor);

/// One entry of `vary:`: a key with values; `zip: {a: [...], b: [...]}`; `pairs: {keys: [a, b], values: [[...]]}`;
/// `shapes: {units: 256, rows: a, cols: b}`, all rows x cols that make exactly so many units.
std::optional<SweepAxis> read_axis(const Cursor& entry, const std::string& key);

/// A value as YAML on one line, as --set takes it.
std::string flow_text(const YamlNode& node);

}  // namespace pliant
