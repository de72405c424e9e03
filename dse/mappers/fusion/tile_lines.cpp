// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/tile_lines.h"

#include <algorithm>
#include <cmath>

#include "core/legality.h"
#include "dse/mappers/fusion/uncut_run.h"

namespace pliant::fusion {

using residency::Reserved;

namespace {

/// Does the first leave at least as much room everywhere?
bool takes_no_more(const Reserved& a, const Reserved& b) {
  for (std::size_t l = 0; l < a.size(); ++l)
    for (std::size_t r = 0; r < kRoles; ++r)
      if (a[l][r] > b[l][r]) return false;
  return true;
}

}  // namespace

Task run_task(const RunShape& shape, const Reserved& reserved) {
  residency::Variant variant;
  variant.homes = shape.homes;
  variant.reserved = reserved;
  Task task = residency::variant_task(*shape.layer, variant);
  for (std::size_t d = 0; d < shape.sizes.size(); ++d) task.layer.dims[d].size = shape.sizes[d];
  task.layer.written_as.clear();  // it is another layer now
  task.objective = Objective::kEnergy;
  task.most_cycles = kInfinity;
  for (int l = 0; shape.sums && l < static_cast<int>(task.accelerator.levels.size()); ++l)
    if (task.accelerator.levels[static_cast<std::size_t>(l)].is_memory())
      task.accelerator.levels[static_cast<std::size_t>(l)].memory().bits.of[static_cast<std::size_t>(Role::kOutput)] =
          shape.layer->accelerator.partial_sum_bits(l, shape.layer->layer);
  if (shape.sums_in != residency::kOutside)
    task.accelerator.levels[static_cast<std::size_t>(shape.sums_in)]
        .memory()
        .may_bypass[static_cast<std::size_t>(Role::kOutput)] = false;
  return task;
}

int TileLines::shape(RunShape shape) {
  const auto [at, is_new] = known_shapes_.emplace(shape, static_cast<int>(shapes_.size()));
  if (!is_new) return at->second;
  const int id = at->second;
  const std::optional<UncutRun> uncut = uncut_run(*shape.layer, shape.sizes);
  shapes_.emplace_back().of = shape;
  if (!uncut) return id;
  shape.sizes = uncut->sizes;
  const int larger = this->shape(std::move(shape));
  shapes_[static_cast<std::size_t>(id)].uncut = larger;
  shapes_[static_cast<std::size_t>(id)].parts = uncut->parts;
  return id;
}

int TileLines::piece(int shape, Reserved reserved) {
  const auto [at, is_new] = known_pieces_.emplace(std::pair{shape, reserved}, static_cast<int>(pieces_.size()));
  if (is_new) {
    Piece piece;
    piece.shape = shape;
    piece.reserved = std::move(reserved);
    pieces_.push_back(std::move(piece));
  }
  return at->second;
}

double TileLines::floor(int shape, double slope) {
  Shape& of = shapes_[static_cast<std::size_t>(shape)];
  if (!of.floor) {
    const auto& levels = of.of.layer->accelerator.levels;
    of.floor = layer_floor(run_task(of.of, Reserved(levels.size())));
  }
  const double least = std::isinf(slope) ? of.floor->cycles : of.floor->energy_pj + slope * of.floor->cycles;
  return std::max(least, of_uncut(of, slope));
}

/// Its share of what is proven of the run of which it is a part.
double TileLines::of_uncut(const Shape& shape, double slope) {
  if (shape.uncut < 0) return 0;
  const Shape& larger = shapes_[static_cast<std::size_t>(shape.uncut)];
  if (larger.free < 0) return 0;
  const Piece& free = at(larger.free);
  if (free.infeasible) return kInfinity;
  const auto known = free.settled.find(slope);
  const double least = known != free.settled.end() ? known->second.least : below(free, slope, larger.floor->cycles);
  return least / shape.parts;
}

void TileLines::make_task(Piece& piece) {
  if (piece.layer) return;
  piece.layer = std::make_unique<NetworkLayer>();
  piece.layer->task = run_task(shapes_[static_cast<std::size_t>(piece.shape)].of, piece.reserved);
  piece.lines = std::make_unique<LayerLines>(mapper_, *piece.layer, options_);
}

const Task& TileLines::task(int piece) {
  make_task(at(piece));
  return at(piece).layer->task;
}

/// The least energy + slope * cycles is a concave function of the slope: between two slopes it is above their chord,
/// beyond one it grows at least by the fewest cycles.
double TileLines::below(const Piece& piece, double slope, double fewest_cycles) {
  if (std::isinf(slope)) return 0;
  const auto above = piece.settled.upper_bound(slope);
  if (above == piece.settled.begin()) return 0;
  const auto& [flat, a] = *std::prev(above);
  double least = a.least + (slope - flat) * fewest_cycles;
  if (above != piece.settled.end() && !std::isinf(above->first))
    least = std::max(least, a.least + (above->second.least - a.least) * (slope - flat) / (above->first - flat));
  return least;
}

bool TileLines::fits(Shape& shape, const Reserved& reserved, const Mapping& mapping) const {
  if (!shape.judge) shape.judge = std::make_unique<Task>(run_task(shape.of, reserved));
  Task& task = *shape.judge;
  for (std::size_t l = 0; l < reserved.size(); ++l)
    if (task.accelerator.levels[l].is_memory()) task.accelerator.levels[l].memory().reserved_words = reserved[l];
  return check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty();
}

/// Less room never helps, and a mapping that fits into less room is as good as it was.
TileLines::Known TileLines::bound(int id, double slope) {
  if (const auto known = at(id).settled.find(slope); known != at(id).settled.end()) return known->second;
  Shape& shape = shapes_[static_cast<std::size_t>(at(id).shape)];
  auto [memo, is_new] = at(id).known.try_emplace(slope, -1, 0.0);
  const int searches = shape.searches + (shape.uncut < 0 ? 0 : shapes_[static_cast<std::size_t>(shape.uncut)].searches);
  if (!is_new && memo->second.first == searches) return {memo->second.second, nullptr};
  Known best{floor(at(id).shape, slope), nullptr};
  for (const int other : shape.solved) {
    if (!takes_no_more(at(other).reserved, at(id).reserved)) continue;
    if (at(other).infeasible) return at(id).settled[slope] = {kInfinity, nullptr};
    best.least = std::max(best.least, below(at(other), slope, shape.floor->cycles));
    const auto known = at(other).settled.find(slope);
    if (known == at(other).settled.end()) continue;
    best.least = std::max(best.least, known->second.least);
    const LayerPoint* point = known->second.point;
    if (point == nullptr || at(id).misfits.contains(point)) continue;
    if (fits(shape, at(id).reserved, point->mapping)) return at(id).settled[slope] = known->second;
    at(id).misfits.insert(point);
  }
  memo->second = {searches, best.least};
  return best;
}

int TileLines::free_piece(int shape, std::size_t levels) {
  if (shapes_[static_cast<std::size_t>(shape)].free < 0) {
    const int free = piece(shape, Reserved(levels));
    shapes_[static_cast<std::size_t>(shape)].free = free;
  }
  return shapes_[static_cast<std::size_t>(shape)].free;
}

/// First the run of which it is a part, which bounds many; then with nothing taken: what is found bounds the shape
/// wherever it is asked for, and often fits.
bool TileLines::search(int id, double slope) {
  const int shape = at(id).shape, uncut = shapes_[static_cast<std::size_t>(shape)].uncut;
  const std::size_t levels = at(id).reserved.size();
  if (uncut >= 0)
    if (const int larger = free_piece(uncut, levels); !at(larger).settled.contains(slope)) {
      floor(uncut, slope);
      ++uncut_searches_;
      return search_one(larger, slope);
    }
  const int free = free_piece(shape, levels);
  return search_one(at(free).settled.contains(slope) ? id : free, slope);
}

bool TileLines::gave_up(int id, double slope) const {
  const auto& settled = pieces_[static_cast<std::size_t>(id)].settled;
  const auto known = settled.find(slope);
  return known != settled.end() && known->second.point == nullptr && !std::isinf(known->second.least);
}

bool TileLines::search_one(int id, double slope) {
  if (at(id).settled.contains(slope)) return true;
  if (options_.stop.stop_requested()) return false;
  Piece& piece = at(id);
  make_task(piece);
  Shape& shape = shapes_[static_cast<std::size_t>(piece.shape)];
  ++shape.searches;
  if (std::ranges::find(shape.solved, id) == shape.solved.end()) shape.solved.push_back(id);
  const LayerLines::Line* line = piece.lines->at(slope);
  piece.infeasible = line == nullptr && piece.lines->infeasible();
  if (line == nullptr && !piece.infeasible) {
    complete_ = false;
    piece.settled[slope] = {floor(piece.shape, slope), nullptr};
    return true;
  }
  piece.settled[slope] = line == nullptr ? Known{kInfinity, nullptr} : Known{line->least, &line->point};
  return true;
}

std::vector<LineProof> TileLines::proofs(int piece) const {
  const Piece& of = pieces_[static_cast<std::size_t>(piece)];
  return of.lines ? of.lines->proofs() : std::vector<LineProof>{};
}

std::uint64_t TileLines::searches() const {
  std::uint64_t sum = 0;
  for (const Piece& piece : pieces_)
    if (piece.lines) sum += piece.lines->searches();
  return sum;
}

}  // namespace pliant::fusion
