// SPDX-License-Identifier: Apache-2.0
// Table 3 of the flexibility paper: area of the reference design with flexibility on one axis, on all, and in part.
#include <array>

#include "costmodel/area.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/study_table.h"

namespace pliant {

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
  return result;
}

}  // namespace pliant
