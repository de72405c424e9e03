// SPDX-License-Identifier: Apache-2.0
// Table 3 of the flexibility paper: area of the reference design with flexibility on one axis, on all, and in part; the
// same by component, and for other arrays and buffers; what flexibility may cost in energy, and what it takes to
// configure the design again between layers.
#include <fmt/format.h>

#include <array>

#include "core/flexibility_class.h"
#include "costmodel/area.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/flexibility_overheads.h"
#include "dse/studies/flexibility_parts.h"
#include "dse/studies/flexibility_price.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// Table 3's overheads shared out over the bits of their parts, at the reference design and at others.
void by_component(const StudyContext& context, StudyResult& result) {
  const Accelerator reference = load_accelerator(context.library, "flexref");
  const std::vector<FlexibilityPart> parts = flexibility_parts(reference);
  PerAxis<double> um2_per_bit{};
  for (const Axis axis : kTableAxes) {
    const auto a = static_cast<std::size_t>(axis);
    um2_per_bit[a] = reference.flexibility_area_um2[a] / part_bits(parts, axis);
    result.found(fmt::format("{}: area of a bit that Table 3 leaves (um2)", axis_name(axis)), um2_per_bit[a]);
  }
  DataTable table = table_of({"axis", "part", "bits", "area_um2"});
  for (const FlexibilityPart& part : parts) {
    const double area = part.bits * um2_per_bit[static_cast<std::size_t>(part.axis)];
    result.found(fmt::format("{}: {} (um2)", axis_name(part.axis), part.name), area);
    add_row(table, std::string(axis_name(part.axis)), std::string(part.name), part.bits, area);
  }
  result.tables.emplace_back("parts", std::move(table));

  DataTable sizes = table_of({"array", "buffer", "parts_percent", "model_percent"});
  for (const char* side : {"16", "32", "64", "128"})
    for (const char* buffer : {"25KiB", "100KiB", "1600KiB"}) {
      const Accelerator other =
          load_accelerator(context.library, "flexref", {{"rows", side}, {"cols", side}, {"Buffer.capacity", buffer}});
      double overhead = 0;
      for (const Axis axis : kTableAxes)
        overhead += um2_per_bit[static_cast<std::size_t>(axis)] * part_bits(flexibility_parts(other), axis);
      const Area area = area_um2(other);
      double model = 0;
      for (const double one : area.flexibility) model += one;
      const double base = area.total() - model;
      result.found(fmt::format("FullFlex overhead of {0}x{0} PEs with {1}, by parts (%)", side, buffer),
                   100 * overhead / base);
      result.found(fmt::format("FullFlex overhead of {0}x{0} PEs with {1}, as the model scales it (%)", side, buffer),
                   100 * model / base);
      add_row(sizes, fmt::format("{0}x{0}", side), std::string(buffer), 100 * overhead / base, 100 * model / base);
    }
  result.tables.emplace_back("sizes", std::move(sizes));
}

}  // namespace

StudyResult run_area_study(const StudyContext& context) {
  struct Column {
    const char* name;
    const char* flexibility;
  };
  constexpr std::array kColumns = {Column{"InFlex", "InFlex-0000"}, Column{"T-Flex", "1000"},
                                   Column{"O-Flex", "0100"},        Column{"P-Flex", "0010"},
                                   Column{"S-Flex", "0001"},        Column{"PartFlex", "PartFlex-1111"},
                                   Column{"FullFlex", "1111"}};
  const Accelerator reference = load_accelerator(context.library, "flexref");
  StudyResult result;
  DataTable table = table_of({"design", "flexibility", "area_um2", "overhead_percent"});
  double base = 0;
  for (const Column& column : kColumns) {
    const double area = area_um2(choose_flexibility(context.library, column.flexibility, reference)).total();
    if (base == 0) base = area;
    const double overhead = 100 * (area / base - 1);
    result.found(std::string(column.name) + " area (um2)", area);
    if (area != base) result.found(std::string(column.name) + " overhead (%)", overhead);
    add_row(table, std::string(column.name), std::string(column.flexibility), area, overhead);
  }
  Chart chart{"table3_area", "Area that flexibility adds", {}, table};
  chart.spec = {{"mark", "bar"},
                {"width", 420},
                {"encoding",
                 {{"x", {{"field", "design"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                  {"y", {{"field", "overhead_percent"}, {"type", "quantitative"}, {"title", "overhead, %"}}}}}};
  result.charts.push_back(std::move(chart));
  result.tables.emplace_back("area", std::move(table));
  by_component(context, result);
  const PartCosts parts = parts_by_the_node(context, result);
  reconfiguration_share(context, result);
  if (!context.quick) flexibility_price(context, parts, result);
  return result;
}

}  // namespace pliant
