// SPDX-License-Identifier: Apache-2.0
// A proof as data: the task, the optimum, and a partition of the map-space in which every part is closed by something.
// docs/audit.md describes the file. A mapper fills it in; whoever checks it needs nothing of the mapper.
//
// A choice is an unrolling (the factor of every dim at every fanout) and a way to keep (the tensors of every memory).
// Every mapping belongs to exactly one choice, so parts are sets of choices.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/load.h"
#include "costmodel/task.h"

namespace pliant::audit {

using Factors = std::vector<Count>;   ///< by fanout, outermost first, and by dim: rows times columns
using Kept = std::vector<TensorSet>;  ///< by memory, outermost first

/// What closes a part.
enum class ClosedBy : std::uint8_t {
  kFloor,         ///< MACs, their nearest memory and the steps of the unrolling
  kChoiceBounds,  ///< tensors moved once, or sharing a memory's capacity; no tiles are looked at
  kTables,        ///< the least energy and port loads over all tiles of the choice
  kSearch,        ///< a search through the tiles of the choice
  kLeft,          ///< nothing: the search ended early
};
std::string_view to_string(ClosedBy by);  ///< "floor", "choice-bounds", "tables", "search", "left"
std::optional<ClosedBy> parse_closed_by(std::string_view text);

struct Member {
  Factors unrolling;
  Kept kept;
  double lower_bound = 0;
};

/// A set of choices, and a number that no mapping in it is below.
struct Part {
  ClosedBy closed_by = ClosedBy::kLeft;
  double lower_bound = 0;
  /// Which choices: those named, those of all unrollings with at least so many steps, or all that no other part has.
  enum class Scope : std::uint8_t { kNamed, kSlow, kRest } scope = Scope::kNamed;
  double least_steps = 0;       ///< kSlow
  std::vector<Member> members;  ///< kNamed
  /// How many choices it has; parts add up to the map-space. Not stated where there are too many to count.
  std::optional<std::uint64_t> choices;
};

struct Certificate {
  Task task;
  std::optional<Mapping> mapping;  ///< none: nothing legal exists, or nothing was found
  double value = std::numeric_limits<double>::infinity();
  double lower_bound = 0;
  bool certified = false;   ///< nothing is better than `value`
  bool infeasible = false;  ///< no legal mapping exists
  std::vector<Part> parts;
};

/// Steps of an unrolling that spreads every dim as far as its factors say: cycles per MAC times the product over dims
/// of the iterations left, rounded up. No mapping of the unrolling takes fewer cycles.
double least_steps(const Task& task, const Factors& unrolling);

/// The file, and back; InputError names what is wrong in it.
std::string write_certificate(const Certificate& certificate);
Certificate read_certificate(const Library& library, std::string_view text, const std::string& file);

}  // namespace pliant::audit
