// SPDX-License-Identifier: Apache-2.0
#include "dse/import/accelforge/spatial.h"

#include <fmt/format.h>

#include <bit>

#include "core/input/source_text.h"

namespace pliant::accelforge {
namespace {

constexpr RoleSet kOperands =
    (1U << static_cast<unsigned>(Role::kInput)) | (1U << static_cast<unsigned>(Role::kWeight));
constexpr RoleSet kOutputs = 1U << static_cast<unsigned>(Role::kOutput);

}  // namespace

std::optional<SpatialSide> read_side(const Cursor& cursor, ComponentContext& context, ImportLog& log) {
  if (!cursor.expect_map("name and fanout")) return std::nullopt;
  context.refuse_unknown_keys(cursor, {"name", "fanout", "reuse", "may_reuse", "min_usage", "power_gateable"});
  SpatialSide side;
  const auto fanout = cursor.require("fanout", "how many copies");
  if (!fanout) return std::nullopt;
  constexpr double kMost = 1 << 20;
  const auto units = context.number(*fanout);
  if (!units) return std::nullopt;
  if (*units < 1 || *units > kMost || *units != static_cast<double>(static_cast<Count>(*units))) {
    fanout->problem(fmt::format("{} copies", *units), "a whole number of at least 1");
    return std::nullopt;
  }
  side.units = static_cast<Count>(*units);
  if (const auto reuse = cursor.find("reuse")) side.reused = context.tensors(*reuse);
  RoleSet may_reuse = side.reused != 0 ? side.reused : kAllRoles;
  if (const auto may = cursor.find("may_reuse")) may_reuse = context.tensors(*may);
  // A loop reuses one tensor, that which its dim does not index; a rule leaves only the loops that reuse its tensor.
  const RoleSet possible = side.reused == 0 ? kAllRoles : std::popcount(side.reused) == 1 ? side.reused : 0;
  const RoleSet operands = possible & kOperands, sent_once = operands & may_reuse;
  if (sent_once != 0 && sent_once != operands) {
    log.unsupported(cursor.node().at, cursor.path(), "a network that multicasts one operand and not the other");
  }
  side.multicast = operands == 0 || sent_once != 0;
  side.reduction = (possible & kOutputs) == 0 || (may_reuse & kOutputs) != 0;
  if (const auto usage = cursor.find("min_usage")) {
    log.choice(usage->node().at, usage->path(), "a wish for the mapper, not a property of the hardware: not read");
  }
  return side;
}

}  // namespace pliant::accelforge
