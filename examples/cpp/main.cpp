// SPDX-License-Identifier: Apache-2.0
// Maps one layer, prices the mapping again, runs a small sweep and reads its dataset back.
#include <pliant/pliant.h>

#include <filesystem>
#include <iostream>

namespace {

void map_one_layer(const pliant::Library& library) {
  const pliant::Accelerator accelerator = pliant::load_accelerator(library, "eyeriss");
  const pliant::Workload workload = pliant::load_workload(library, "alexnet");
  const pliant::Layer layer = pliant::resolve_layer("gemm:M=64,N=64,K=64", &workload);

  const pliant::SearchResult found = pliant::map_layer(accelerator, layer);
  if (!found.mapping) throw std::runtime_error("no mapping of " + layer.name);
  const pliant::CostReport report = pliant::price(layer, accelerator, *found.mapping);
  std::cout << layer.name << " on " << accelerator.name << ": " << report.totals.cycles << " cycles, "
            << report.totals.energy_pj << " pJ, " << (found.certified ? "certified" : "not certified") << "\n";
}

void sweep_and_read(const pliant::Library& library, const std::filesystem::path& file,
                    const std::filesystem::path& dataset) {
  pliant::SweepRunOptions options;
  options.dataset = dataset;
  const pliant::SweepOutcome outcome = pliant::run_sweep(library, pliant::load_sweep(library, file), options);
  if (!outcome.dataset_complete) throw std::runtime_error("the sweep did not finish");

  std::vector<std::string> damaged;
  const pliant::DataTable designs = pliant::read_table(dataset, pliant::TableKind::kDesigns, damaged);
  if (!damaged.empty()) throw std::runtime_error(damaged.front());
  const pliant::DataColumn* classes = designs.find("class");
  const pliant::DataColumn* edp = designs.find("edp_pj_cycles");
  if (classes == nullptr || edp == nullptr) throw std::runtime_error("a column is missing");
  for (std::size_t row = 0; row < designs.rows(); ++row) {
    std::cout << pliant::to_text(classes->cells[row]) << "  EDP " << pliant::to_text(edp->cells[row]) << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: pliant_example SWEEP.yaml DATASET_FOLDER\n";
    return 2;
  }
  try {
    const pliant::Library library{EXAMPLE_CONFIGS};
    std::cout << "Pliant " << pliant::version() << "\n";
    map_one_layer(library);
    sweep_and_read(library, argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
