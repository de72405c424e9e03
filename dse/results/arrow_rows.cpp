// SPDX-License-Identifier: Apache-2.0
#include "dse/results/arrow_rows.h"

#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "dse/results/arrow_columns.h"
#include "dse/results/columns.h"
#include "dse/results/residency_columns.h"

namespace pliant {
namespace {

std::shared_ptr<arrow::DataType> loops_type() {
  return arrow::list(arrow::struct_({arrow::field("dim", kText), arrow::field("bound", arrow::int64())}));
}

std::shared_ptr<arrow::DataType> mapping_type() {
  return arrow::list(arrow::struct_({
      arrow::field("level", kText),
      arrow::field("temporal", loops_type()),
      arrow::field("rows", loops_type()),
      arrow::field("cols", loops_type()),
      arrow::field("keeps", arrow::list(kText)),
      arrow::field("padded", loops_type()),
  }));
}

std::shared_ptr<arrow::DataType> certificate_type() {
  return arrow::struct_({
      arrow::field("value", arrow::float64()),
      arrow::field("lower_bound", arrow::float64()),
      arrow::field("gap", arrow::float64()),
      arrow::field("certified", arrow::boolean()),
      arrow::field("mappings_covered", kText),
      arrow::field("evaluations", arrow::int64()),
      arrow::field("ended_by", kText),
  });
}

std::shared_ptr<arrow::DataType> energies_type() {
  return arrow::list(arrow::struct_({arrow::field("level", kText), arrow::field("energy_pj", arrow::float64())}));
}

std::shared_ptr<arrow::DataType> memories_type() {
  const auto real = [](const char* name) { return arrow::field(name, arrow::float64()); };
  const auto tensor = arrow::struct_({arrow::field("tensor", kText), real("reads"), real("fills"), real("updates"),
                                      real("words_read"), real("words_written"), real("energy_pj")});
  return arrow::list(
      arrow::struct_({arrow::field("level", kText), real("instances"), real("capacity_words"), real("used_words"),
                      real("read_cycles"), real("write_cycles"), real("bus_cycles"), real("leakage_pj"),
                      real("gb_per_s"), arrow::field("tensors", arrow::list(tensor))}));
}

std::shared_ptr<arrow::DataType> areas_type() {
  return arrow::list(arrow::struct_({arrow::field("component", kText), arrow::field("area_um2", arrow::float64())}));
}

std::shared_ptr<arrow::DataType> sets_type() {
  const auto real = [](const char* name) { return arrow::field(name, arrow::float64()); };
  return arrow::list(
      arrow::struct_({arrow::field("axis", kText), real("c"), real("a"), real("w"), real("a_and_w"), real("c_and_w")}));
}

const TaskResult* solved(const LayerRow& row) {
  return row.result->status == TaskStatus::kSolved ? row.result.get() : nullptr;
}

std::optional<Physical> in_time(const LayerRow& row) {
  if (solved(row) == nullptr || row.accelerator == nullptr) return std::nullopt;
  return physical(row.accelerator->clock_hz, row.result->energy_pj, row.result->runtime_cycles,
                  static_cast<double>(row.layer->macs()));
}

void append_loop(arrow::ListBuilder& list, const std::string& dim, Count bound) {
  auto& loop = static_cast<arrow::StructBuilder&>(*list.value_builder());
  must(loop.Append());
  must(child<arrow::StringBuilder>(loop, 0).Append(dim));
  must(child<arrow::Int64Builder>(loop, 1).Append(bound));
}

void append_mapping(arrow::ListBuilder& list, const LayerRow& row) {
  if (solved(row) == nullptr) return must(list.AppendNull());
  must(list.Append());
  auto& entry = static_cast<arrow::StructBuilder&>(*list.value_builder());
  const Mapping& mapping = row.result->mapping;
  const Layer& layer = *row.layer;
  for (std::size_t l = 0; l < mapping.levels.size(); ++l) {
    const LevelMapping& level = mapping.levels[l];
    must(entry.Append());
    must(child<arrow::StringBuilder>(entry, 0).Append(row.accelerator->levels[l].name));
    auto& temporal = child<arrow::ListBuilder>(entry, 1);
    must(temporal.Append());
    for (const Loop& loop : level.temporal) append_loop(temporal, layer.dims[loop.dim].name, loop.bound);
    for (const Side side : {Side::kRows, Side::kCols}) {
      auto& loops = child<arrow::ListBuilder>(entry, side == Side::kRows ? 2 : 3);
      must(loops.Append());
      for (const SpatialLoop& loop : level.spatial)
        if (loop.side == side) append_loop(loops, layer.dims[loop.dim].name, loop.bound);
    }
    auto& keeps = child<arrow::ListBuilder>(entry, 4);
    must(keeps.Append());
    for (std::size_t t = 0; t < layer.tensors.size(); ++t) {
      if (level.keeps >> t & 1U)
        must(static_cast<arrow::StringBuilder&>(*keeps.value_builder()).Append(layer.tensors[t].name));
    }
    // Padding belongs to the whole mapping; it is told where the dims are whole, at the outermost level.
    auto& padded = child<arrow::ListBuilder>(entry, 5);
    must(padded.Append());
    if (l > 0) continue;
    for (std::size_t d = 0; d < mapping.padded.size(); ++d)
      if (mapping.padded[d] != layer.dims[d].size) append_loop(padded, layer.dims[d].name, mapping.padded[d]);
  }
}

void append_certificate(arrow::StructBuilder& b, const LayerRow& row) {
  const TaskResult& r = *row.result;
  const bool found = r.status == TaskStatus::kSolved;
  must(b.Append());
  const auto real = [&](int i, double value) {
    auto& column = child<arrow::DoubleBuilder>(b, i);
    must(found ? column.Append(value) : column.AppendNull());
  };
  real(0, r.value);
  real(1, r.lower_bound);
  real(2, r.gap);
  // That there is no legal mapping is proven as well.
  must(child<arrow::BooleanBuilder>(b, 3).Append(found ? r.certified : r.status == TaskStatus::kNoLegalMapping));
  auto& covered = child<arrow::StringBuilder>(b, 4);
  must(r.mappings_covered.empty() ? covered.AppendNull() : covered.Append(r.mappings_covered));
  must(child<arrow::Int64Builder>(b, 5).Append(static_cast<std::int64_t>(r.evaluations)));
  auto& ended = child<arrow::StringBuilder>(b, 6);
  const std::string_view end = to_string(r.ended_by);
  must(end.empty() ? ended.AppendNull() : ended.Append(end));
}

void append_energies(arrow::ListBuilder& list, const LayerRow& row) {
  if (solved(row) == nullptr) return must(list.AppendNull());
  must(list.Append());
  auto& entry = static_cast<arrow::StructBuilder&>(*list.value_builder());
  for (const TaskResult::LevelEnergy& level : row.result->energy_by_level) {
    must(entry.Append());
    must(child<arrow::StringBuilder>(entry, 0).Append(level.level));
    must(child<arrow::DoubleBuilder>(entry, 1).Append(level.energy_pj));
  }
}

/// Not a number without a clock.
double gb_per_s(const LayerRow& row, const TaskResult::Memory& memory) {
  const auto time = in_time(row);
  if (!time) return std::numeric_limits<double>::quiet_NaN();
  const int word_bits = row.accelerator->levels[static_cast<std::size_t>(memory.level)].memory().word_bits;
  double words = 0;
  for (const TaskResult::Memory::Traffic& t : memory.tensors) words += t.words_read + t.words_written;
  return gigabytes_per_second(words * word_bits, time->latency_s);
}

void append_memories(arrow::ListBuilder& list, const LayerRow& row) {
  if (solved(row) == nullptr) return must(list.AppendNull());
  must(list.Append());
  auto& entry = static_cast<arrow::StructBuilder&>(*list.value_builder());
  for (const TaskResult::Memory& m : row.result->memories) {
    must(entry.Append());
    must(child<arrow::StringBuilder>(entry, 0).Append(row.accelerator->levels[m.level].name));
    append_reals(entry, 1,
                 {m.instances, m.capacity_words, m.used_words, m.read_cycles, m.write_cycles, m.bus_cycles,
                  m.leakage_pj, gb_per_s(row, m)});
    auto& tensors = child<arrow::ListBuilder>(entry, 9);
    must(tensors.Append());
    auto& item = static_cast<arrow::StructBuilder&>(*tensors.value_builder());
    for (const TaskResult::Memory::Traffic& t : m.tensors) {
      must(item.Append());
      must(child<arrow::StringBuilder>(item, 0).Append(row.layer->tensors[t.tensor].name));
      append_reals(item, 1, {t.reads, t.fills, t.updates, t.words_read, t.words_written, t.energy_pj});
    }
  }
}

void append_areas(arrow::ListBuilder& list, const DesignRow& row) {
  if (!row.hardware) return must(list.AppendNull());
  must(list.Append());
  auto& entry = static_cast<arrow::StructBuilder&>(*list.value_builder());
  for (const auto& [component, area] : row.hardware->area_by_component) {
    must(entry.Append());
    must(child<arrow::StringBuilder>(entry, 0).Append(component));
    must(child<arrow::DoubleBuilder>(entry, 1).Append(area));
  }
}

void append_sets(arrow::ListBuilder& list, const DesignRow& row) {
  if (!row.flexion) return must(list.AppendNull());
  must(list.Append());
  auto& entry = static_cast<arrow::StructBuilder&>(*list.value_builder());
  for (std::size_t i = 0; i < row.flexion->sets.size(); ++i) {
    const DesignRow::Flexion::Sets& sets = row.flexion->sets[i];
    must(entry.Append());
    must(child<arrow::StringBuilder>(entry, 0).Append(std::string(1, "TOPS"[i])));
    append_reals(entry, 1, {sets.c, sets.a, sets.w, sets.a_and_w, sets.c_and_w});
  }
}

}  // namespace

std::shared_ptr<arrow::Table> layers_table(const Provenance& provenance, const std::vector<LayerRow>& rows) {
  RowColumns<LayerRow> all(TableKind::kLayers, rows);
  all.design(provenance);
  all.integer("layer_index", [](const LayerRow& row) { return row.layer_index; });
  all.text("layer", [](const LayerRow& row) { return row.layer->name; });
  all.add<arrow::ListBuilder>("dims", loops_type(), rows, [](arrow::ListBuilder& list, const LayerRow& row) {
    must(list.Append());
    for (const auto& dim : row.layer->dims) append_loop(list, dim.name, dim.size);
  });
  all.integer("count", [](const LayerRow& row) { return row.count; });
  all.integer("macs", [](const LayerRow& row) { return row.layer->macs(); });
  all.text("status", [](const LayerRow& row) { return std::string(to_string(row.result->status)); });
  all.optional_text("reason", [](const LayerRow& row) { return row.result->reason; });
  all.real_of("energy_pj", solved, [](const TaskResult& r) { return r.energy_pj; });
  all.real_of("runtime_cycles", solved, [](const TaskResult& r) { return r.runtime_cycles; });
  all.real_of("compute_cycles", solved, [](const TaskResult& r) { return r.compute_cycles; });
  all.real_of("edp_pj_cycles", solved, [](const TaskResult& r) { return r.energy_pj * r.runtime_cycles; });
  all.real_of("utilization", solved, [](const TaskResult& r) { return r.utilization; });
  all.real_of("latency_s", in_time, [](const Physical& p) { return p.latency_s; });
  all.real_of("energy_mj", in_time, [](const Physical& p) { return p.energy_mj; });
  all.real_of("power_w", in_time, [](const Physical& p) { return p.power_w; });
  all.real_of("tops", in_time, [](const Physical& p) { return p.tops; });
  all.real_of("tops_per_w", in_time, [](const Physical& p) { return p.tops_per_w; });
  all.optional_text("bound_by", [](const LayerRow& row) { return row.result->bound_by; });
  all.add<arrow::ListBuilder>("energy_by_level", energies_type(), rows, append_energies);
  all.add<arrow::ListBuilder>("memories", memories_type(), rows, append_memories);
  all.add<arrow::StructBuilder>("certificate", certificate_type(), rows, append_certificate);
  all.add<arrow::ListBuilder>("mapping", mapping_type(), rows, append_mapping);
  all.text("task_key", [](const LayerRow& row) { return row.key.text(); });
  return all.table(provenance);
}

std::shared_ptr<arrow::Table> designs_table(const Provenance& provenance, const std::vector<DesignRow>& rows) {
  RowColumns<DesignRow> all(TableKind::kDesigns, rows);
  all.design(provenance);
  all.integer("layers", [](const DesignRow& row) { return row.layers; });
  all.integer("layers_without_mapping", [](const DesignRow& row) { return row.layers_without_mapping; });
  all.integer("macs", [](const DesignRow& row) { return row.macs; });
  all.text("status", [](const DesignRow& row) { return row.status; });
  all.optional_text("reason", [](const DesignRow& row) { return row.reason; });
  const auto cost = [](const DesignRow& row) { return row.cost ? &*row.cost : nullptr; };
  using Cost = DesignRow::Cost;
  all.real_of("energy_pj", cost, [](const Cost& c) { return c.energy_pj; });
  all.real_of("runtime_cycles", cost, [](const Cost& c) { return c.runtime_cycles; });
  all.real_of("edp_pj_cycles", cost, [](const Cost& c) { return c.edp_pj_cycles; });
  all.real_of("sum_layer_edp_pj_cycles", cost, [](const Cost& c) { return c.sum_layer_edp_pj_cycles; });
  all.real_of("utilization", cost, [](const Cost& c) { return c.utilization; });
  const auto in_time = [](const DesignRow& row) { return row.in_time ? &*row.in_time : nullptr; };
  using InTime = DesignRow::InTime;
  all.real_of("latency_s", in_time, [](const InTime& t) { return t.physical.latency_s; });
  all.real_of("energy_mj", in_time, [](const InTime& t) { return t.physical.energy_mj; });
  all.real_of("power_w", in_time, [](const InTime& t) { return t.physical.power_w; });
  all.real_of("tops", in_time, [](const InTime& t) { return t.physical.tops; });
  all.real_of("tops_per_w", in_time, [](const InTime& t) { return t.physical.tops_per_w; });
  all.real_of("inferences_per_s", in_time, [](const InTime& t) { return t.inferences_per_s; });
  const auto tokens = [](const DesignRow& row) {
    return row.in_time && row.in_time->tokens_per_s ? &*row.in_time->tokens_per_s : nullptr;
  };
  all.real_of("tokens_per_s", tokens, [](double t) { return t; });
  all.add<arrow::BooleanBuilder>("certified", arrow::boolean(), rows,
                                 [](arrow::BooleanBuilder& b, const DesignRow& row) {
                                   must(row.cost ? b.Append(row.cost->certified) : b.AppendNull());
                                 });
  all.real_of("max_gap", cost, [](const Cost& c) { return c.max_gap; });
  const auto hardware = [](const DesignRow& row) { return row.hardware ? &*row.hardware : nullptr; };
  all.real_of("area_um2", hardware, [](const DesignRow::Hardware& h) { return h.area_um2; });
  all.real_of("flexibility_area_um2", hardware, [](const DesignRow::Hardware& h) { return h.flexibility_area_um2; });
  all.optional_text("flexibility_area_from", [](const DesignRow& row) {
    return row.hardware ? row.hardware->flexibility_area_from : std::string();
  });
  all.add<arrow::ListBuilder>("area_by_component", areas_type(), rows, append_areas);
  const auto whole = [&](const char* name, std::int64_t DesignRow::Hardware::*member) {
    all.add<arrow::Int64Builder>(name, arrow::int64(), rows, [&](arrow::Int64Builder& b, const DesignRow& row) {
      must(row.hardware ? b.Append((*row.hardware).*member) : b.AppendNull());
    });
  };
  whole("array_rows", &DesignRow::Hardware::array_rows);
  whole("array_cols", &DesignRow::Hardware::array_cols);
  whole("compute_units", &DesignRow::Hardware::compute_units);
  all.real_of("buffer_bits", hardware, [](const DesignRow::Hardware& h) { return h.buffer_bits; });
  const auto clocked = [](const DesignRow& row) {
    return row.hardware && row.hardware->clock_hz ? &*row.hardware : nullptr;
  };
  all.real_of("clock_hz", clocked, [](const DesignRow::Hardware& h) { return *h.clock_hz; });
  all.real_of("peak_tops", clocked, [](const DesignRow::Hardware& h) { return *h.peak_tops; });
  const auto flexion = [](const DesignRow& row) { return row.flexion ? &*row.flexion : nullptr; };
  constexpr std::array<const char*, 5> kSuffix = {"_t", "_o", "_p", "_s", ""};
  for (std::size_t i = 0; i < kSuffix.size(); ++i)
    all.real_of(fmt::format("h_f{}", kSuffix[i]), flexion, [i](const DesignRow::Flexion& f) { return f.h_f[i]; });
  for (std::size_t i = 0; i < kSuffix.size(); ++i)
    all.real_of(fmt::format("w_f{}", kSuffix[i]), flexion, [i](const DesignRow::Flexion& f) { return f.w_f[i]; });
  all.add<arrow::ListBuilder>("flexion_sets", sets_type(), rows, append_sets);
  residency_columns(all, rows);
  return all.table(provenance);
}

}  // namespace pliant
