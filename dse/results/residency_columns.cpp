// SPDX-License-Identifier: Apache-2.0
#include "dse/results/residency_columns.h"

namespace pliant {

namespace {

std::shared_ptr<arrow::DataType> steps_type() {
  const auto real = [](const char* name) { return arrow::field(name, arrow::float64()); };
  const auto room = arrow::struct_({arrow::field("level", kText), arrow::field("words", arrow::int64())});
  return arrow::list(arrow::struct_({arrow::field("node", kText), arrow::field("count", arrow::int64()),
                                     real("energy_pj"), real("runtime_cycles"), real("outside_energy_pj"),
                                     real("outside_runtime_cycles"), arrow::field("on_chip", arrow::list(room)),
                                     arrow::field("bound_by", kText), arrow::field("under", kText)}));
}

std::shared_ptr<arrow::DataType> tensors_type() {
  const auto whole = [](const char* name) { return arrow::field(name, arrow::int64()); };
  return arrow::list(
      arrow::struct_({arrow::field("node", kText), whole("elements"), whole("from_step"), whole("to_step"),
                      arrow::field("level", kText), arrow::field("tiles", arrow::boolean())}));
}

void append_steps(arrow::ListBuilder& list, const DesignRow& row) {
  if (!row.residency) return must(list.AppendNull());
  must(list.Append());
  const DesignRow::Residency& residency = *row.residency;
  auto& entry = static_cast<arrow::StructBuilder&>(*list.value_builder());
  for (std::size_t s = 0; s < residency.result->network.steps.size(); ++s) {
    const TaskResult::Network::Step& step = residency.result->network.steps[s];
    must(entry.Append());
    must(child<arrow::StringBuilder>(entry, 0).Append(residency.nodes[s]));
    must(child<arrow::Int64Builder>(entry, 1).Append(residency.counts[s]));
    append_reals(entry, 2, {step.energy_pj, step.runtime_cycles, step.outside_energy_pj, step.outside_runtime_cycles});
    auto& rooms = child<arrow::ListBuilder>(entry, 6);
    must(rooms.Append());
    auto& room = static_cast<arrow::StructBuilder&>(*rooms.value_builder());
    for (const TaskResult::Network::Room& taken : step.taken) {
      must(room.Append());
      must(child<arrow::StringBuilder>(room, 0).Append(residency.accelerator->levels[taken.level].name));
      must(child<arrow::Int64Builder>(room, 1).Append(taken.words));
    }
    must(child<arrow::StringBuilder>(entry, 7).Append(step.bound_by));
    must(child<arrow::StringBuilder>(entry, 8).Append(step.under));
  }
}

void append_tensors(arrow::ListBuilder& list, const DesignRow& row) {
  if (!row.residency) return must(list.AppendNull());
  must(list.Append());
  const DesignRow::Residency& residency = *row.residency;
  auto& entry = static_cast<arrow::StructBuilder&>(*list.value_builder());
  for (const TaskResult::Network::Tensor& tensor : residency.result->network.tensors) {
    if (tensor.last_read == tensor.made_by) continue;
    must(entry.Append());
    must(child<arrow::StringBuilder>(entry, 0).Append(residency.nodes[static_cast<std::size_t>(tensor.made_by)]));
    must(child<arrow::Int64Builder>(entry, 1).Append(tensor.elements));
    must(child<arrow::Int64Builder>(entry, 2).Append(tensor.made_by));
    must(child<arrow::Int64Builder>(entry, 3).Append(tensor.last_read));
    auto& level = child<arrow::StringBuilder>(entry, 4);
    must(tensor.level < 0 ? level.AppendNull()
                          : level.Append(residency.accelerator->levels[static_cast<std::size_t>(tensor.level)].name));
    must(child<arrow::BooleanBuilder>(entry, 5).Append(tensor.tiles));
  }
}

}  // namespace

void residency_columns(RowColumns<DesignRow>& all, const std::vector<DesignRow>& rows) {
  using Residency = DesignRow::Residency;
  using Network = TaskResult::Network;
  const auto residency = [](const DesignRow& row) { return row.residency ? &*row.residency : nullptr; };
  const auto outside = [](const DesignRow& row) -> const Network* {
    const bool known = row.residency && row.residency->result->network.outside_runtime_cycles > 0;
    return known ? &row.residency->result->network : nullptr;
  };
  all.add<arrow::StringBuilder>("mapped_as", kText, rows, [](arrow::StringBuilder& b, const DesignRow& row) {
    must(b.Append(row.residency ? "network" : "layers"));
  });
  all.real_of("operators_energy_pj", residency, [](const Residency& r) { return r.operators_energy_pj; });
  all.real_of("operators_runtime_cycles", residency, [](const Residency& r) { return r.operators_runtime_cycles; });
  const auto network = [](const DesignRow& row) { return row.residency ? &row.residency->result->network : nullptr; };
  all.real_of("loads_energy_pj", network, [](const Network& n) { return n.loads_energy_pj; });
  all.real_of("loads_runtime_cycles", network, [](const Network& n) { return n.loads_runtime_cycles; });
  const auto whole = [&](const char* name, std::int64_t Residency::*member) {
    all.add<arrow::Int64Builder>(name, arrow::int64(), rows, [&](arrow::Int64Builder& b, const DesignRow& row) {
      must(row.residency ? b.Append((*row.residency).*member) : b.AppendNull());
    });
  };
  whole("weights_on_chip", &Residency::weights_on_chip);
  all.real_of("outside_energy_pj", outside, [](const Network& n) { return n.outside_energy_pj; });
  all.real_of("outside_runtime_cycles", outside, [](const Network& n) { return n.outside_runtime_cycles; });
  const auto without_tiles = [](const DesignRow& row) -> const Network* {
    const bool known = row.residency && row.residency->result->network.whole_runtime_cycles > 0;
    return known ? &row.residency->result->network : nullptr;
  };
  all.real_of("whole_energy_pj", without_tiles, [](const Network& n) { return n.whole_energy_pj; });
  all.real_of("whole_runtime_cycles", without_tiles, [](const Network& n) { return n.whole_runtime_cycles; });
  whole("tensors", &Residency::tensors);
  whole("tensors_on_chip", &Residency::tensors_on_chip);
  whole("tensors_in_tiles", &Residency::tensors_in_tiles);
  all.real_of("most_on_chip_bits", residency, [](const Residency& r) { return r.most_on_chip_bits; });
  all.add<arrow::ListBuilder>("residency_steps", steps_type(), rows, append_steps);
  all.add<arrow::ListBuilder>("residency_tensors", tensors_type(), rows, append_tensors);
}

}  // namespace pliant
