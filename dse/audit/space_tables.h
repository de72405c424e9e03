// SPDX-License-Identifier: Apache-2.0
// The accelerators of a design space, read again, and the best of everything in a box of them.
//
// An accelerator is taken apart into pieces: its levels, its widths, what its baseline has wired in, and the rest.
// Which axes a piece follows is found by moving one axis at a time; a table has the piece at all positions of those
// axes. Then every hardware point of the space (of very large spaces, a sample) is read and compared with what the
// tables make of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/flexibility_class.h"
#include "dse/audit/design_certificate.h"

namespace pliant::audit {

/// One accelerator that can run whatever a design of the box can, for no more; and what else holds for all of them.
struct BoxIdeal {
  Accelerator accelerator;
  double least_area_um2 = 0;
  bool contradicts = false;  ///< what is wired in fits no design of the box
};

class SpaceTables {
 public:
  /// Reads up to so many hardware points, else a sample of them.
  static constexpr std::int64_t kMostPoints = 2'000'000, kSample = 20'000;

  SpaceTables(const Library& library, const DesignTask& task);

  /// Why nothing can be said about the space; empty when all is well.
  const std::string& problem() const { return problem_; }
  std::int64_t points_read() const { return points_read_; }
  /// A text: why the auditor does not know what is best in the box.
  std::variant<BoxIdeal, std::string> ideal(const Box& box) const;
  /// The accelerator of a design; a text: why it contradicts itself.
  std::variant<Accelerator, std::string> design(std::int64_t design);

 private:
  /// A tile's size stands alone: there are many combinations of them. What is left of the accelerator comes last.
  using Piece = std::variant<Level, ElementBits, LevelFlexibility, Count, Accelerator>;
  using Parts = std::vector<Piece>;
  struct Table {
    std::vector<std::size_t> axes;
    std::vector<Piece> cells;  ///< the last axis varies fastest
  };
  static Parts taken_apart(const Accelerator& accelerator);
  static Accelerator put_together(const Parts& parts);
  Accelerator read(const std::vector<std::int32_t>& positions);
  void build();
  void compare_all();
  bool as_tables_say(const std::vector<std::int32_t>& positions);
  const Piece& at(const Table& table, const std::vector<std::int32_t>& positions) const;
  template <class Visit>
  void for_each_cell(const Table& table, const Box& box, const Visit& visit) const;
  Accelerator freed(const Accelerator& accelerator) const;

  const Library& library_;
  const DesignTask& task_;
  AcceleratorTemplate template_;
  std::optional<FlexibilityClass> all_classes_;  ///< contains every flexibility; nullopt: only lifting all rules does
  std::vector<Table> tables_;                    ///< by piece
  std::string problem_;
  std::int64_t points_read_ = 0;
};

/// Every mapping that `smaller` allows is allowed by `larger`, on the same hardware.
bool allows_all_of(const std::string& larger, const std::string& smaller);

}  // namespace pliant::audit
