// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/report_command.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <filesystem>
#include <ostream>

#include "core/input/diagnostics.h"
#include "dse/cli/command_line.h"
#include "dse/report/chart.h"
#include "dse/report/layer_details.h"
#include "dse/report/page.h"
#include "dse/report/render.h"
#include "dse/report/report_data.h"
#include "dse/report/write_report_charts.h"
#include "dse/results/atomic_file.h"

namespace pliant {

namespace {

namespace options = boost::program_options;
namespace fs = std::filesystem;

constexpr const char* kUsage = R"(usage: pliant report DATASET [-o report.html] [--png DIR]

One HTML file of what a sweep found, from its dataset alone. It opens in a browser without a network:

  frontier      area against EDP, energy or runtime; filter, hover, click a design
  design        energy and traffic by memory and tensor, utilization and roofline of its layers, mappings as loop nests
  flexibility   what each of the 16 classes gains and costs on each workload; flexion, with the sets drawn to scale
  hardware      array shapes, buffer sizes, numbers of MAC units
  provenance    inputs, versions, how many layers are proven optimal

With --png every chart is a picture, a Vega-Lite specification and a CSV file of its points. docs/report.md explains them.

examples:
  pliant report out/demo -o report.html
  pliant report out/demo --png figures --scale 3

)";

constexpr std::size_t kLayers = 40'000;

options::options_description described_options() {
  options::options_description all("options");
  auto add = all.add_options();
  add("output,o", options::value<std::string>(), "the page; default report.html, unless --png is given");
  add("png", options::value<std::string>(), "folder for every chart as .png, .vl.json and .csv");
  add("scale", options::value<double>()->default_value(2), "pixels of a picture per pixel of its specification");
  add("layers", options::value<std::size_t>()->default_value(kLayers),
      "layers whose mappings go along at most; designs on a frontier come first, the page says what was left out");
  add("help", "print this");
  return all;
}

InputError bad_option(std::string what, std::string expected) {
  return InputError(Diagnostic{.file = "pliant report",
                               .key = "",
                               .what = std::move(what),
                               .expected = std::move(expected),
                               .did_you_mean = {}});
}

int make_report(const options::variables_map& values, std::ostream& out, std::ostream& err) {
  if (!values.count("dataset")) throw bad_option("no dataset named", "the folder that `pliant sweep` wrote");
  const double scale = values["scale"].as<double>();
  if (!(scale >= 0.1 && scale <= 20)) throw bad_option("--scale out of range", "a number from 0.1 to 20");
  const fs::path dataset = values["dataset"].as<std::string>();
  const ReportData data = read_report_data(dataset);
  for (const std::string& what : data.damaged)
    err << what << "; left out (run the sweep again to have it computed again)\n";
  if (data.parts_missing > 0)
    err << fmt::format("{} of {} parts are not there yet; the report is of what there is\n", data.parts_missing,
                       data.manifest->parts);
  const std::vector<std::size_t> order = rows_by_interest(data);

  if (values.count("output") || !values.count("png")) {
    const fs::path page = values.count("output") ? values["output"].as<std::string>() : "report.html";
    if (page.has_parent_path()) make_folder(page.parent_path());
    const LayerDetails details = read_layer_details(dataset, data, order, values["layers"].as<std::size_t>());
    const std::string text = report_page(data, details);
    write_atomically(page, text);
    out << fmt::format("{}: {} designs x workloads, {} layers with mappings, {:.1f} MB\n", page.string(),
                       data.designs.rows(), details.layer_rows, static_cast<double>(text.size()) / 1e6);
    if (details.designs < data.designs.rows())
      out << fmt::format("layers of {} rows were left out; --layers N takes more along\n",
                         data.designs.rows() - details.designs);
  }
  if (values.count("png")) {
    const fs::path folder = values["png"].as<std::string>();
    const auto files = write_report_charts(dataset, data, folder, scale);
    out << fmt::format("{}: {} files\n", folder.string(), files);
  }
  return 0;
}

}  // namespace

int report_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"pliant report", kUsage, described_options(), "dataset"};
  return run_command(line, args, out, err, [&](const options::variables_map& values) {
    try {
      return make_report(values, out, err);
    } catch (const RenderError& error) {
      err << "pliant report: " << error.what() << "\n";
      return 1;
    }
  });
}

}  // namespace pliant
