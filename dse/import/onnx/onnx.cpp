// SPDX-License-Identifier: Apache-2.0
#include "dse/import/onnx/onnx.h"

#include <filesystem>

#include "dse/import/onnx/graph.h"

namespace pliant {

bool is_onnx(const SourceFile& file) { return std::filesystem::path(file.name).extension() == ".onnx"; }

void import_onnx(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                 Imported& imported) {
  for (const SourceFile& file : files) {
    const onnx::Graph graph = onnx::read_graph(file);
    const auto values = onnx::infer_shapes(graph, file, options, log);
    if (!log.problems().empty()) continue;
    Workload workload = onnx::collect_layers(graph, values, file, log);
    workload.name = options.name.empty() ? name_of_file(file) : options.name;
    if (workload.layers.empty() && log.problems().empty()) {
      log.problems().add(Diagnostic{file.name, 0, 0, "", "no convolution and no matrix product", "at least one", ""});
    }
    imported.workloads.push_back(std::move(workload));
  }
}

}  // namespace pliant
