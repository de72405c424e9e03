// SPDX-License-Identifier: Apache-2.0
// Hostile files for the readers of other tools' formats: the first byte chooses one, the rest is the file. Whatever is
// accepted must be good in our own formats; everything else must end in an InputError.
// Run from the root of the checkout: build/fuzz/bin/import_fuzz CORPUS
#include <cstdint>
#include <string>
#include <string_view>

#include "core/input/load.h"
#include "dse/import/formats.h"
#include "fuzz/fuzz_reader.h"

namespace pliant {
namespace {

void read_one(unsigned choice, std::string_view text) {
  const auto& formats = import_formats();
  const ImportFormat& format = formats[choice / 2 % formats.size()];
  ImportOptions options;
  options.lenient = choice % 2 == 1;
  options.prefill = 64;
  const std::string name = format.name == "onnx" ? "fuzz.onnx" : "fuzz";
  if (text.empty()) return;  // no text means a file on disk
  const Imported imported = import_sources(format.name, {{name, std::string(text)}}, options);
  static const Library library("configs");
  for (const ImportedText& one : imported.accelerators) parse_accelerator_text(library, one.yaml, "again");
  for (const Workload& one : imported.workloads) parse_workload_text(write_workload(one), "again.yaml");
  for (const Layer& one : imported.layers) parse_layer_text(write_layer(one), "again");
}

}  // namespace
}  // namespace pliant

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return pliant::fuzz_reader(data, size, pliant::read_one);
}
