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

std::shared_ptr<arrow::DataType> areas_type() {
  return arrow::list(arrow::struct_({arrow::field("component", kText), arrow::field("area_um2", arrow::float64())}));
}

std::shared_ptr<arrow::DataType> level_energies_type() {
  return arrow::list(arrow::struct_({arrow::field("level", kText), arrow::field("energy_pj", arrow::float64())}));
}

void append_level_energies(arrow::ListBuilder& list, const DesignRow& row) {
  if (!row.cost) return must(list.AppendNull());
  must(list.Append());
  auto& entry = static_cast<arrow::StructBuilder&>(*list.value_builder());
  for (const auto& [level, energy] : row.cost->energy_by_level) {
    must(entry.Append());
    must(child<arrow::StringBuilder>(entry, 0).Append(level));
    must(child<arrow::DoubleBuilder>(entry, 1).Append(energy));
  }
}

std::shared_ptr<arrow::DataType> sets_type() {
  const auto real = [](const char* name) { return arrow::field(name, arrow::float64()); };
  return arrow::list(
      arrow::struct_({arrow::field("axis", kText), real("c"), real("a"), real("w"), real("a_and_w"), real("c_and_w")}));
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

void serving_columns(RowColumns<DesignRow>& all, const std::vector<DesignRow>& rows) {
  using Cost = DesignRow::Serving::Cost;
  const auto cost = [](const DesignRow& row) {
    return row.serving && row.serving->cost ? &*row.serving->cost : nullptr;
  };
  const auto step = [](const DesignRow& row) {
    return row.serving && row.serving->cost && row.serving->cost->tpot_s ? &*row.serving->cost->tpot_s : nullptr;
  };
  all.real_of("ttft_s", cost, [](const Cost& c) { return c.ttft_s; });
  all.real_of("tpot_s", step, [](double t) { return t; });
  all.real_of("served_tokens_per_s", cost, [](const Cost& c) { return c.tokens_per_s; });
  all.real_of("tokens_per_j", cost, [](const Cost& c) { return c.tokens_per_j; });
  all.real_of("serving_gap", cost, [](const Cost& c) { return c.gap; });
  all.add<arrow::Int64Builder>("largest_batch", arrow::int64(), rows, [](arrow::Int64Builder& b, const DesignRow& row) {
    must(row.serving && row.serving->largest_batch ? b.Append(*row.serving->largest_batch) : b.AppendNull());
  });
}

}  // namespace

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
  all.add<arrow::ListBuilder>("energy_by_level", level_energies_type(), rows, append_level_energies);
  const auto in_time = [](const DesignRow& row) { return row.in_time ? &*row.in_time : nullptr; };
  using InTime = DesignRow::InTime;
  all.real_of("latency_s", in_time, [](const InTime& t) { return t.physical.latency_s; });
  all.real_of("energy_mj", in_time, [](const InTime& t) { return t.physical.energy_mj; });
  all.real_of("power_w", in_time, [](const InTime& t) { return t.physical.power_w; });
  all.real_of("chip_power_w", in_time, [](const InTime& t) { return t.power.chip_w; });
  all.real_of("off_chip_power_w", in_time, [](const InTime& t) { return t.power.off_chip_w; });
  all.real_of("leakage_power_w", in_time, [](const InTime& t) { return t.power.leakage_w; });
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
  serving_columns(all, rows);
  return all.table(provenance);
}

}  // namespace pliant
