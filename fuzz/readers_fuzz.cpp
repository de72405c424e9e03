// SPDX-License-Identifier: Apache-2.0
// Hostile input for every reader: the first byte chooses one, the rest is the text. Whatever is accepted must survive
// load, write, load unchanged; everything else must end in an InputError. Run from the root of the checkout, with the
// cases as a seed: build/fuzz/bin/readers_fuzz CORPUS tests/cases/bad tests/cases/ok configs/accelerators
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/input/load.h"
#include "fuzz/fuzz_reader.h"

namespace pliant {
namespace {

const Library& library() {
  static const Library shipped("configs");
  return shipped;
}

constexpr std::string_view kAccelerator = R"(name: small
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 64}
  - {memory: GLB, capacity: 64KiB, read_pj: 2, may_bypass: [weights]}
  - {fanout: PEs, rows: 4, cols: 8}
  - {memory: Reg, capacity: 16, read_pj: 0.1, keeps: [outputs]}
  - {compute: MAC, mac_pj: 0.2}
)";

const Accelerator& accelerator() {
  static const Accelerator small = parse_accelerator_text(library(), kAccelerator, "small.yaml");
  return small;
}

const Layer& layer() {
  static const Layer conv = parse_layer("conv:M=8,C=4,P=6,Q=6,R=3,S=3,B=2", "fuzz");
  return conv;
}

void require(bool holds) {
  if (!holds) std::abort();
}

void read_accelerator(std::string_view text, const std::vector<Setting>& settings) {
  const Accelerator read = parse_accelerator_text(library(), text, "fuzz.yaml", settings);
  require(parse_accelerator_text(library(), write_accelerator(read), "again.yaml") == read);
}

void read_one(unsigned choice, std::string_view text) {
  switch (choice % 8) {
    case 0: return read_accelerator(text, {});
    case 1: {
      // The first line is a setting.
      const std::size_t end = std::min(text.find('\n'), text.size());
      const Setting setting = parse_setting(text.substr(0, end));
      return read_accelerator(end == text.size() ? kAccelerator : text.substr(end), {setting});
    }
    case 2: {
      const Workload read = parse_workload_text(text, "fuzz.csv");
      Workload again = parse_workload_text(write_workload(read), "again.yaml");
      require(again == read);
      return;
    }
    case 3: {
      const Workload read = parse_workload_text(text, "fuzz.yaml");
      require(parse_workload_text(write_workload(read), "again.yaml") == read);
      return;
    }
    case 4: {
      const Layer read = parse_layer_text(text, "fuzz.yaml");
      require(parse_layer_text(write_layer(read), "again.yaml") == read);
      return;
    }
    case 5: {
      const Layer read = parse_layer(text, "--layer");
      require(parse_layer_text(write_layer(read), "again.yaml") == read);
      return;
    }
    case 6: {
      const MappingFile read = parse_mapping_text(text, "fuzz.yaml", layer(), accelerator());
      const std::string written = write_mapping(layer(), accelerator(), read.mapping, read.factorization);
      const MappingFile again = parse_mapping_text(written, "again.yaml", layer(), accelerator());
      require(again.mapping == read.mapping && again.factorization == read.factorization);
      return;
    }
    default: {
      if (text.starts_with("pliant: technology")) {
        parse_technology_text(text, "fuzz.yaml");
        return;
      }
      const Accelerator read = parse_flexibility_text(text, "fuzz.yaml", accelerator());
      require(parse_flexibility_text(write_flexibility(read), "again.yaml", accelerator()) == read);
      return;
    }
  }
}

}  // namespace
}  // namespace pliant

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return pliant::fuzz_reader(data, size, pliant::read_one);
}
