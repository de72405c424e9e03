// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/input/diagnostics.h"
#include "dse/answers/dataset_options.h"
#include "dse/answers/json_schema.h"
#include "dse/report/chart.h"
#include "dse/report/layer_details.h"
#include "dse/report/page.h"
#include "dse/report/render.h"
#include "dse/report/report_data.h"
#include "dse/report/write_report_charts.h"
#include "dse/results/atomic_file.h"

namespace pliant {

namespace {

namespace fs = std::filesystem;

int make_report(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const double scale = *arguments.real("scale");
  if (!(scale >= 0.1 && scale <= 20)) throw arguments.bad("--scale", "out of range", "a number from 0.1 to 20");
  const fs::path dataset = dataset_of(arguments);
  const ReportData data = read_report_data(dataset);
  const bool complete = tell_if_incomplete(dataset, TableKind::kDesigns, data.damaged, err);
  const std::vector<std::size_t> order = rows_by_interest(data);
  nlohmann::ordered_json told{{"schema", kJsonSchema}, {"designs", data.designs.rows()}, {"complete", complete}};
  const bool json = arguments.has("json");

  if (arguments.has("output") || !arguments.has("png")) {
    const fs::path page = arguments.text("output").value_or("report.html");
    if (std::error_code error; fs::is_directory(page, error))
      throw arguments.bad("-o", fmt::format("{} is a folder", page.string()), "a file such as report.html");
    if (page.has_parent_path()) make_folder(page.parent_path());
    const LayerDetails details = read_layer_details(dataset, data, order, *arguments.whole("layers"));
    const std::string text = report_page(data, details);
    write_atomically(page, text);
    told["page"] = {{"file", page.string()},
                    {"bytes", text.size()},
                    {"layers", details.layer_rows},
                    {"designs_without_layers", data.designs.rows() - details.designs}};
    if (!json)
      out << fmt::format("{}: {} designs x workloads, {} layers with mappings, {:.1f} MB\n", page.string(),
                         data.designs.rows(), details.layer_rows, static_cast<double>(text.size()) / 1e6);
    if (!json && details.designs < data.designs.rows())
      out << fmt::format("layers of {} rows were left out; --layers N includes more\n",
                         data.designs.rows() - details.designs);
  }
  if (const auto png = arguments.text("png")) {
    const fs::path folder = *png;
    const auto files = write_report_charts(dataset, data, folder, scale);
    told["pictures"] = {{"folder", folder.string()}, {"files", files}};
    if (!json) out << fmt::format("{}: {} files\n", folder.string(), files);
  }
  if (json) out << told.dump(2) << "\n";
  return exit_code(arguments, complete);
}

}  // namespace

int answer_report(const Arguments& arguments, Face& face) {
  try {
    return make_report(arguments, face.out, face.err);
  } catch (const RenderError& error) {
    face.err << "pliant report: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace pliant
