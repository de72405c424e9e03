// SPDX-License-Identifier: Apache-2.0
#include "dse/results/layer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "dse/results/layer_schema.h"
#include "dse/results/leaf_file.h"

namespace pliant {

/// Named, for LayerRows keeps one of these: what a class with a name keeps must have one as well.
namespace layer_leaves {

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();

using Texts = LeafValues<std::string_view>;
using Reals = LeafValues<double>;
using Integers = LeafValues<std::int64_t>;

/// How much of the path to a leaf is there. Everything can be null, so that a list is two steps: itself and its items.
enum Path { kNoList = 0, kEmptyList = 1, kItem = 4, kEmptyInnerList = 4, kInnerText = 6, kInnerItem = 7 };

/// Entries of a list inside the items of another.
class InnerList {
 public:
  explicit InnerList(Path whole) : whole_(whole) {}
  Levels levels;

  void no_row() { levels.add(kNoList, 0); }
  void begin(std::size_t outer) { next_ = outer == 0 ? 0 : 1; }
  void item() {
    levels.add(whole_, next_);
    next_ = 2;
  }
  void end() {
    if (next_ < 2) levels.add(kEmptyInnerList, next_);
  }

 private:
  int whole_, next_ = 0;
};

struct InnerLoops {
  std::string_view name;
  InnerList list{kInnerItem};
  Texts dim{};
  Integers bound{};

  void add(const Layer& layer, int of, Count size) {
    list.item();
    dim.push_back(layer.dims[static_cast<std::size_t>(of)].name);
    bound.push_back(size);
  }
  void write(LeafFile& file) const {
    file.set_levels(list.levels);
    file.texts(fmt::format("mapping.{}.dim", name), dim.all());
    file.integers(fmt::format("mapping.{}.bound", name), bound.all());
  }
};

class MappingLeaves {
 public:
  void no_row() {
    levels_.add(kNoList, 0);
    for (InnerLoops* loops : {&temporal_, &rows_, &cols_, &padded_}) loops->list.no_row();
    keeps_.no_row();
  }

  void add(const LayerRow& row) {
    const Mapping& mapping = row.result->mapping;
    const Layer& layer = *row.layer;
    if (mapping.levels.empty()) throw std::logic_error("a solved layer without a mapping");
    for (std::size_t l = 0; l < mapping.levels.size(); ++l) {
      const LevelMapping& level = mapping.levels[l];
      levels_.add(kItem, l == 0 ? 0 : 1);
      level_.push_back(row.accelerator->levels[l].name);
      for (InnerLoops* loops : {&temporal_, &rows_, &cols_, &padded_}) loops->list.begin(l);
      keeps_.begin(l);
      for (const Loop& loop : level.temporal) temporal_.add(layer, loop.dim, loop.bound);
      for (const SpatialLoop& loop : level.spatial)
        (loop.side == Side::kRows ? rows_ : cols_).add(layer, loop.dim, loop.bound);
      for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
        if ((level.keeps >> t & 1U) == 0) continue;
        keeps_.item();
        kept_.push_back(layer.tensors[t].name);
      }
      // Padding belongs to the whole mapping; it is told where the dims are whole, at the outermost level.
      for (std::size_t d = 0; l == 0 && d < mapping.padded.size(); ++d)
        if (mapping.padded[d] != layer.dims[d].size) padded_.add(layer, static_cast<int>(d), mapping.padded[d]);
      for (InnerLoops* loops : {&temporal_, &rows_, &cols_, &padded_}) loops->list.end();
      keeps_.end();
    }
  }

  void write(LeafFile& file) const {
    file.set_levels(levels_);
    file.texts("mapping.level", level_.all());
    temporal_.write(file);
    rows_.write(file);
    cols_.write(file);
    file.set_levels(keeps_.levels);
    file.texts("mapping.keeps", kept_.all());
    padded_.write(file);
  }

 private:
  Levels levels_;
  Texts level_, kept_;
  InnerLoops temporal_{"temporal"}, rows_{"rows"}, cols_{"cols"}, padded_{"padded"};
  InnerList keeps_{kInnerText};
};

/// Several leaves whose names begin alike.
template <std::size_t N>
void write_reals(LeafFile& file, std::string_view begin, const std::array<std::string_view, N>& names,
                 const std::array<Reals, N>& values) {
  for (std::size_t k = 0; k < N; ++k) file.reals(fmt::format("{}{}", begin, names[k]), values[k].all());
}

/// What is not finite is null.
double finite(double value) { return std::isfinite(value) ? value : kNull; }

class MemoryLeaves {
 public:
  void no_row() {
    levels_.add(kNoList, 0);
    traffic_.no_row();
  }

  void add(const LayerRow& row, const std::optional<Physical>& time) {
    const std::vector<TaskResult::Memory>& memories = row.result->memories;
    if (memories.empty()) {
      levels_.add(kEmptyList, 0);
      traffic_.levels.add(kEmptyList, 0);
    }
    for (std::size_t i = 0; i < memories.size(); ++i) {
      const TaskResult::Memory& m = memories[i];
      const Level& level = row.accelerator->levels[static_cast<std::size_t>(m.level)];
      levels_.add(kItem, i == 0 ? 0 : 1);
      level_.push_back(level.name);
      traffic_.begin(i);
      double words = 0;
      for (const TaskResult::Memory::Traffic& t : m.tensors) {
        traffic_.item();
        tensor_.push_back(row.layer->tensors[static_cast<std::size_t>(t.tensor)].name);
        const std::array numbers = {t.reads, t.fills, t.updates, t.words_read, t.words_written, t.energy_pj};
        for (std::size_t k = 0; k < numbers.size(); ++k) of_tensors_[k].push_back(finite(numbers[k]));
        words += t.words_read + t.words_written;
      }
      traffic_.end();
      const double gb_per_s = time ? gigabytes_per_second(words * level.memory().word_bits, time->latency_s)
                                   : kNull;  // null without a clock
      const std::array numbers = {m.instances,    m.capacity_words, m.used_words, m.read_cycles,
                                  m.write_cycles, m.bus_cycles,     m.leakage_pj, gb_per_s};
      for (std::size_t k = 0; k < numbers.size(); ++k) of_memories_[k].push_back(finite(numbers[k]));
    }
  }

  void write(LeafFile& file) const {
    file.set_levels(levels_);
    file.texts("memories.level", level_.all());
    write_reals(file, "memories.",
                {"instances", "capacity_words", "used_words", "read_cycles", "write_cycles", "bus_cycles", "leakage_pj",
                 "gb_per_s"},
                of_memories_);
    file.set_levels(traffic_.levels);
    file.texts("memories.tensors.tensor", tensor_.all());
    write_reals(file, "memories.tensors.", {"reads", "fills", "updates", "words_read", "words_written", "energy_pj"},
                of_tensors_);
  }

 private:
  Levels levels_;
  Texts level_, tensor_;
  std::array<Reals, 8> of_memories_;
  InnerList traffic_{kInnerItem};
  std::array<Reals, 6> of_tensors_;
};

/// Copies of texts, at places where they stay.
class TextRoom {
 public:
  std::string_view keep(std::string_view text) {
    if (text.size() > left_.size()) {
      chunks_.emplace_back(std::max(text.size(), kChunk));
      left_ = chunks_.back();
    }
    std::ranges::copy(text, left_.begin());
    const std::string_view kept(left_.data(), text.size());
    left_ = left_.subspan(text.size());
    return kept;
  }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 16;
  std::deque<std::vector<char>> chunks_;
  std::span<char> left_;
};

struct EnergyLeaves {
  Levels levels;
  Texts level;
  Reals energy_pj;

  void add(const std::vector<TaskResult::LevelEnergy>& energies, TextRoom& texts) {
    if (energies.empty()) levels.add(kEmptyList, 0);
    for (const TaskResult::LevelEnergy& one : energies) {
      levels.add(kItem, &one == energies.data() ? 0 : 1);
      level.push_back(texts.keep(one.level));
      energy_pj.push_back(one.energy_pj);
    }
  }
};

std::optional<Physical> in_time(const LayerRow& row) {
  if (row.accelerator == nullptr) return std::nullopt;
  return physical(row.accelerator->clock_hz, row.result->energy_pj, row.result->runtime_cycles,
                  static_cast<double>(row.layer->macs()));
}

/// All that comes from the answer.
class AnswerLeaves {
 public:
  void add(const LayerRow& row) {
    const TaskResult& r = *row.result;
    const bool solved = r.status == TaskStatus::kSolved;
    status_.push_back(to_string(r.status));
    reason_.push_back(texts_.keep(r.reason));
    bound_by_.push_back(texts_.keep(r.bound_by));
    const auto time = solved ? in_time(row) : std::nullopt;
    const Physical in = time.value_or(Physical{kNull, kNull, kNull, kNull, kNull});
    const double edp = r.energy_pj * r.runtime_cycles;
    const std::array cost = {r.energy_pj, r.runtime_cycles, r.compute_cycles, edp, r.utilization};
    const std::array times = {in.latency_s, in.energy_mj, in.power_w, in.tops, in.tops_per_w};
    const std::array proof = {r.value, r.lower_bound, r.gap};
    for (std::size_t k = 0; k < cost.size(); ++k) cost_[k].push_back(solved ? cost[k] : kNull);
    for (std::size_t k = 0; k < times.size(); ++k) times_[k].push_back(times[k]);
    for (std::size_t k = 0; k < proof.size(); ++k) proof_[k].push_back(solved ? proof[k] : kNull);
    // That there is no legal mapping is proven as well.
    certified_.push_back(solved ? r.certified : r.status == TaskStatus::kNoLegalMapping);
    covered_.push_back(texts_.keep(r.mappings_covered));
    evaluations_.push_back(static_cast<std::int64_t>(r.evaluations));
    ended_by_.push_back(to_string(r.ended_by));
    if (solved) {
      energies_.add(r.energy_by_level, texts_);
      memories_.add(row, time);
      mapping_.add(row);
    } else {
      energies_.levels.add(kNoList, 0);
      memories_.no_row();
      mapping_.no_row();
    }
  }

  /// From `status` to `mapping`.
  void write(LeafFile& file, const Levels& each) const {
    file.set_levels(each);
    file.texts("status", status_.all());
    file.optional_texts("reason", reason_.all());
    write_reals(file, "", {"energy_pj", "runtime_cycles", "compute_cycles", "edp_pj_cycles", "utilization"}, cost_);
    write_reals(file, "", {"latency_s", "energy_mj", "power_w", "tops", "tops_per_w"}, times_);
    file.optional_texts("bound_by", bound_by_.all());
    file.set_levels(energies_.levels);
    file.texts("energy_by_level.level", energies_.level.all());
    file.reals("energy_by_level.energy_pj", energies_.energy_pj.all());
    memories_.write(file);
    Levels inside = each;  // the certificate is there, and what is in it
    inside.there.assign(each.there.all().size(), 2);
    file.set_levels(inside);
    write_reals(file, "certificate.", {"value", "lower_bound", "gap"}, proof_);
    file.truths("certificate.certified", certified_.all());
    file.optional_texts("certificate.mappings_covered", covered_.all());
    file.integers("certificate.evaluations", evaluations_.all());
    file.optional_texts("certificate.ended_by", ended_by_.all());
    mapping_.write(file);
  }

 private:
  TextRoom texts_;
  Texts status_, reason_, bound_by_, covered_, ended_by_;
  std::array<Reals, 5> cost_, times_;
  std::array<Reals, 3> proof_;
  LeafValues<std::uint8_t> certified_;
  Integers evaluations_;
  EnergyLeaves energies_;
  MemoryLeaves memories_;
  MappingLeaves mapping_;
};

/// What all rows have, column by column.
class RowLeaves {
 public:
  RowLeaves(LeafFile& file, const std::vector<LayerRow>& rows) : file_(file), rows_(rows) {
    each_.there.assign(rows.size(), 1);
    each_.continues.assign(rows.size(), 0);
    file_.set_levels(each_);
  }
  const Levels& each() const { return each_; }

  void integers(std::string_view leaf, auto get) { file_.integers(leaf, gathered<std::int64_t>(get)); }
  void reals(std::string_view leaf, auto get) { file_.reals(leaf, gathered<double>(get)); }
  void texts(std::string_view leaf, auto get) { file_.texts(leaf, gathered<std::string_view>(get)); }
  void optional_texts(std::string_view leaf, auto get) { file_.optional_texts(leaf, gathered<std::string_view>(get)); }

  void axis(const AxisColumn& axis, std::size_t i) {
    const auto value = [i](const LayerRow& row) -> const AxisValue& { return row.design->axes[i]; };
    const std::string& leaf = axis.column;
    switch (axis.kind) {
      case AxisColumn::Kind::kInteger:
        return integers(leaf, [&](const LayerRow& row) { return std::get<std::int64_t>(value(row)); });
      case AxisColumn::Kind::kReal:
        return reals(leaf, [&](const LayerRow& row) { return std::get<double>(value(row)); });
      case AxisColumn::Kind::kText:
        return texts(leaf, [&](const LayerRow& row) { return std::string_view(std::get<std::string>(value(row))); });
    }
  }

  void dims() {
    Levels levels;
    Texts name;
    Integers size;
    for (const LayerRow& row : rows_) {
      const std::vector<Dim>& all = row.layer->dims;
      if (all.empty()) levels.add(kEmptyList, 0);
      for (const Dim& dim : all) {
        levels.add(kItem, &dim == all.data() ? 0 : 1);
        name.push_back(dim.name);
        size.push_back(dim.size);
      }
    }
    file_.set_levels(levels);
    file_.texts("dims.dim", name.all());
    file_.integers("dims.bound", size.all());
    file_.set_levels(each_);
  }

 private:
  template <class Value>
  std::vector<Value> gathered(auto get) const {
    std::vector<Value> values;
    values.reserve(rows_.size());
    for (const LayerRow& row : rows_) values.push_back(get(row));
    return values;
  }

  LeafFile& file_;
  const std::vector<LayerRow>& rows_;
  Levels each_;
};

}  // namespace layer_leaves

struct LayerRows::Leaves {
  std::vector<LayerRow> rows;  ///< without their answers
  layer_leaves::AnswerLeaves answers;
};

LayerRows::LayerRows() = default;
LayerRows::~LayerRows() = default;
LayerRows::LayerRows(LayerRows&& from) noexcept = default;
LayerRows& LayerRows::operator=(LayerRows&& from) noexcept = default;

void LayerRows::add(LayerRow row) {
  if (!leaves_) leaves_ = std::make_unique<Leaves>();
  leaves_->answers.add(row);
  row.result.reset();
  leaves_->rows.push_back(std::move(row));
}

std::string LayerRows::parquet(const Provenance& provenance) const {
  const Leaves none, &leaves = leaves_ ? *leaves_ : none;
  const std::vector<LayerRow>& rows = leaves.rows;
  LeafFile file(*layers_schema(provenance));
  layer_leaves::RowLeaves all(file, rows);
  using Text = std::string_view;
  all.integers("design_id", [](const LayerRow& row) { return row.design->design_id; });
  for (std::size_t i = 0; i < provenance.axes.size(); ++i) all.axis(provenance.axes[i], i);
  all.texts("flexibility", [](const LayerRow& row) { return Text(row.design->flexibility); });
  all.optional_texts("class", [](const LayerRow& row) { return Text(row.design->class_bits); });
  all.texts("factorization", [](const LayerRow& row) { return Text(row.design->factorization); });
  all.texts("objective", [](const LayerRow& row) { return Text(row.design->objective); });
  all.texts("mapper", [](const LayerRow& row) { return Text(row.design->mapper); });
  all.texts("workload", [](const LayerRow& row) { return Text(row.workload); });
  all.integers("layer_index", [](const LayerRow& row) { return row.layer_index; });
  all.texts("layer", [](const LayerRow& row) { return Text(row.layer->name); });
  all.dims();
  all.integers("count", [](const LayerRow& row) { return row.count; });
  all.integers("macs", [](const LayerRow& row) { return row.layer->macs(); });
  leaves.answers.write(file, all.each());
  std::vector<std::string> keys;
  keys.reserve(rows.size());
  for (const LayerRow& row : rows) keys.push_back(row.key.text());
  file.set_levels(all.each());
  all.texts("task_key", [&](const LayerRow& row) { return Text(keys[static_cast<std::size_t>(&row - rows.data())]); });
  all.optional_texts("on_chip", [](const LayerRow& row) { return Text(row.on_chip); });
  return file.finish();
}

}  // namespace pliant
