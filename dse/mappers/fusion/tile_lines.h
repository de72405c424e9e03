// SPDX-License-Identifier: Apache-2.0
// The runs that groups ask for: a layer cut to tiles, with some operands at home in a memory and so much room taken.
// Each is an ordinary task; its least energy + slope * cycles is searched once and shared.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "dse/mappers/layer_floor.h"
#include "dse/mappers/network_lines.h"
#include "dse/mappers/residency/variants.h"

namespace pliant::fusion {

/// A run without the room that is left for it.
struct RunShape {
  const Task* layer = nullptr;  ///< of the whole layer; equal layers are one task
  std::vector<Count> sizes;     ///< by dim
  std::array<residency::Home, kRoles> homes{residency::kOutside, residency::kOutside, residency::kOutside};
  int sums_in = residency::kOutside;  ///< a memory that must not be bypassed: sums come back to it
  bool sums = false;                  ///< what it makes stays as wide as partial sums: another run adds to it
  auto operator<=>(const RunShape&) const = default;
};

class TileLines {
 public:
  TileLines(const Mapper& mapper, const SearchOptions& options) : mapper_(mapper), options_(options) {}

  int shape(RunShape shape);
  /// The shape with so many words taken.
  int piece(int shape, residency::Reserved reserved);

  /// No run of the shape has less energy + slope * cycles, whatever room it has.
  double floor(int shape, double slope);

  struct Known {
    double least = 0;
    const LayerPoint* point = nullptr;  ///< what reaches it, once that is known
  };
  Known bound(int piece, double slope);
  /// Learns more of the piece. False when the time is up.
  bool search(int piece, double slope);
  /// A search of it found nothing, and did not prove that there is nothing.
  bool gave_up(int piece, double slope) const;

  const Task& task(int piece);
  /// All runs that were asked for.
  int count() const { return static_cast<int>(pieces_.size()); }
  const RunShape& shape_of(int piece) const {
    return shapes_[static_cast<std::size_t>(pieces_[static_cast<std::size_t>(piece)].shape)].of;
  }
  const residency::Reserved& reserved(int piece) const { return pieces_[static_cast<std::size_t>(piece)].reserved; }
  /// What its searches proved, where parts are recorded.
  std::vector<LineProof> proofs(int piece) const;
  std::uint64_t searches() const;
  /// Grows with what floors know.
  int searches_of_uncut() const { return uncut_searches_; }
  /// Every search ended with a mapping or the proof that there is none.
  bool complete() const { return complete_; }

 private:
  struct Shape {
    RunShape of;
    std::optional<LayerFloor> floor;
    int uncut = -1;               ///< the shape of which it is a part
    double parts = 1;             ///< that make up that one
    int free = -1;                ///< the piece with nothing taken, once it is asked for
    std::vector<int> solved;      ///< pieces that were searched
    int searches = 0;             ///< of them
    std::unique_ptr<Task> judge;  ///< the run in some room, for the legality checker
  };
  struct Piece {
    int shape = 0;
    residency::Reserved reserved;
    std::unique_ptr<NetworkLayer> layer;  ///< LayerLines refers to it
    std::unique_ptr<LayerLines> lines;
    std::map<double, Known> settled;                 ///< by slope
    std::set<const LayerPoint*> misfits;             ///< mappings that need more room
    std::map<double, std::pair<int, double>> known;  ///< by slope: a bound, and Shape::searches when it was found
    bool infeasible = false;
  };
  Piece& at(int piece) { return pieces_[static_cast<std::size_t>(piece)]; }
  void make_task(Piece& piece);
  int free_piece(int shape, std::size_t levels);
  double of_uncut(const Shape& shape, double slope);
  bool search_one(int piece, double slope);
  bool fits(Shape& shape, const residency::Reserved& reserved, const Mapping& mapping) const;
  static double below(const Piece& piece, double slope, double fewest_cycles);

  const Mapper& mapper_;
  const SearchOptions& options_;
  std::vector<Shape> shapes_;
  std::vector<Piece> pieces_;
  std::map<RunShape, int> known_shapes_;
  std::map<std::pair<int, residency::Reserved>, int> known_pieces_;
  bool complete_ = true;
  int uncut_searches_ = 0;
};

/// The task of a run: the layer with its dims cut.
Task run_task(const RunShape& shape, const residency::Reserved& reserved);

}  // namespace pliant::fusion
