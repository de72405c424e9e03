// SPDX-License-Identifier: Apache-2.0
#include "dse/results/layer_schema.h"

#include "dse/results/arrow_columns.h"

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

}  // namespace

std::shared_ptr<arrow::Schema> layers_schema(const Provenance& provenance) {
  SchemaColumns all(TableKind::kLayers);
  all.design(provenance);
  const auto real = arrow::float64(), integer = arrow::int64();
  all.add("layer_index", integer);
  all.add("layer", kText);
  all.add("dims", loops_type());
  all.add("count", integer);
  all.add("macs", integer);
  all.add("status", kText);
  all.add("reason", kText);
  for (const char* name : {"energy_pj", "runtime_cycles", "compute_cycles", "edp_pj_cycles", "utilization", "latency_s",
                           "energy_mj", "power_w", "tops", "tops_per_w"})
    all.add(name, real);
  all.add("bound_by", kText);
  all.add("energy_by_level", energies_type());
  all.add("memories", memories_type());
  all.add("certificate", certificate_type());
  all.add("mapping", mapping_type());
  all.add("task_key", kText);
  all.add("on_chip", kText);
  return all.schema(provenance);
}

}  // namespace pliant
