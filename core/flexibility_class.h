// SPDX-License-Identifier: Apache-2.0
// The 16 TOPS classes, and F. A class names the axes that are flexible, one bit each for T, O, P and S, with +F behind
// them where layers may pass tiles to each other; a degree says how much:
//
//     InFlex-1011     the baseline's one choice on every axis, whatever the bits
//     PartFlex-1011   the partial settings where a bit is 1, the baseline's choice where it is 0
//     FullFlex-1011   no rule where a bit is 1, the baseline's choice where it is 0; `1011` is short for it
//     1011+F          besides, any tiles between layers; without +F none: tensors are whole on chip or outside
//
// An accelerator that has the blocks `baseline:` and `partial:` can be made into any of them. What is not an axis stays
// as the accelerator has it: which dims may loop at a memory, and how many dims a side of an array takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/accelerator.h"

namespace pliant {

struct FlexibilityClass {
  enum class Degree : std::uint8_t { kInFlex, kPartFlex, kFullFlex };
  Degree degree = Degree::kFullFlex;
  PerAxis<bool> flexible{};
  bool fusion = false;
  std::string variant;  ///< of the partial settings, "B" in PartFlex-0001-B; usually empty

  std::string bits() const;  ///< "1011", "1011+F"
  std::string name() const;  ///< "PartFlex-0001-B"
  bool operator==(const FlexibilityClass&) const = default;
};

/// How a class may be written, for diagnostics.
inline constexpr std::string_view kClassSpelling =
    "four bits T O P S such as \"1011\", with +F for fused tiles, or FullFlex-1011+F, PartFlex-1011, PartFlex-0001-B, "
    "InFlex-0000";

/// nullopt when the text is no class.
std::optional<FlexibilityClass> parse_flexibility_class(std::string_view text);
/// Does it look like a class rather than a file: digits, perhaps with a + behind them, or a degree in front?
bool looks_like_class(std::string_view text);

std::string_view axis_letter(Axis axis);  ///< "T", "O", "P", "S", "F"
std::string_view axis_key(Axis axis);     ///< of a flexibility block: "tiles", "orders", "parallel", "shape", "fusion"
std::string_view axis_name(Axis axis);    ///< "tile sizes", "loop order", "parallel dims", "array shape", "fused tiles"

/// A rule that contradicts the hardware or another rule.
struct RuleProblem {
  Axis axis = Axis::kTiles;
  std::string level;
  std::string what, expected;
};
/// Fixed tiles that fit no buffer or cannot nest, tiles that no loop can form, blocks larger than the array.
std::vector<RuleProblem> rule_problems(const Accelerator& accelerator, const Flexibility& flexibility);

/// Memories in which layers could pass tiles to each other: on chip, outside every fanout, for inputs and outputs.
std::vector<int> tile_homes(const Accelerator& accelerator);
/// F of a class, by level; nullopt when the accelerator has no partial settings for it.
std::optional<std::vector<FusionRule>> fusion_of_class(const Accelerator& accelerator, const FlexibilityClass& wanted);

/// Axes whose rules come from elsewhere: they need no settings and stay as they are.
struct LeftOut {
  PerAxis<bool> axes{};
  bool fusion = false;
};
/// Why the accelerator cannot be made into that class; nullopt when it can.
std::optional<RuleProblem> class_problem(const Accelerator& accelerator, const FlexibilityClass& wanted,
                                         const LeftOut& leave_out = {});
/// The accelerator in that class. There must be no class_problem.
Accelerator apply_class(Accelerator accelerator, const FlexibilityClass& wanted, const LeftOut& leave_out = {});

/// How free a design is on each axis. The freest of its on-chip memories at which anything may loop (T, O), or of its
/// fanouts of more than one unit (P, S), decides.
PerAxis<Freedom> axis_freedom(const Accelerator& accelerator, const Flexibility& flexibility);

/// The same of F, over the memories that could hold tiles. No rules at all leave everything free.
Freedom fusion_freedom(const Accelerator& accelerator);

/// The class a design belongs to by its rules: InFlex-0000, FullFlex if every flexible axis is full, else PartFlex. It
/// has an F where the design says something about tiles between layers and allows some.
FlexibilityClass class_of(const Accelerator& accelerator, const Flexibility& flexibility);

}  // namespace pliant
