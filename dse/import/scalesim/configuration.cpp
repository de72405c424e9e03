// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "core/input/yaml_text.h"
#include "dse/import/scalesim/scalesim.h"
#include "dse/import/text_forms.h"

namespace pliant {
namespace {

/// SCALE-Sim counts words and says sizes in kB; its words are bytes.
constexpr int kWordBits = 8;
constexpr Count kWordsPerKb = 1024;
/// Its SRAMs are double buffered: one half works while the other is filled.
constexpr int kBuffers = 2;
/// SCALE-Sim states no energies. Off-chip words and MACs take these, on-chip memories the technology table.
constexpr std::string_view kOnChipTechnology = "cmos_45nm";
constexpr double kDramPjPerByte = 64;
constexpr double kMacPjAssumed = 0.2;

struct Value {
  std::string text;
  Position at;
};

/// The dims a dataflow spreads over the array: one row of SCALE-Sim's table of Sr and Sc, for convolutions and GEMMs.
struct Dataflow {
  std::string_view name, stationary, conv_rows, conv_cols, gemm_rows, gemm_cols;
};
constexpr std::array<Dataflow, 3> kDataflows{{
    {"os", "outputs", "[P, Q, B]", "[M]", "[M]", "[N]"},
    {"ws", "weights", "[C, R, S]", "[M]", "[K]", "[N]"},
    {"is", "inputs", "[C, R, S]", "[P, Q, B]", "[K]", "[M]"},
}};

class ConfigurationReader {
 public:
  ConfigurationReader(const SourceFile& file, ImportLog& log) : file_(file), log_(log) {}

  ImportedText read() {
    check_source_text(file_.text, file_.name);
    read_lines();
    refuse_what_has_no_counterpart();
    const Count rows = size("arrayheight", 1), cols = size("arraywidth", 1);
    const Count inputs = size("ifmapsramszkb", kWordsPerKb), weights = size("filtersramszkb", kWordsPerKb),
                outputs = size("ofmapsramszkb", kWordsPerKb);
    const Dataflow& flow = dataflow();
    const std::string bandwidth = fill_bandwidth();
    const Value* run = find("general.run_name");
    ImportedText accelerator{import_name(run != nullptr ? run->text : "", name_of_file(file_)), ""};
    note_choices();
    std::string& text = accelerator.yaml;
    text = fmt::format(
        "pliant: accelerator\nname: {}\ndescription: {}x{} systolic array, {} dataflow, imported from SCALE-Sim\n"
        "word_bits: {}\ntechnology: {}\nlevels:\n  - {{memory: DRAM, capacity: unbounded, read_pj: {}}}\n",
        accelerator.name, rows, cols, flow.name, kWordBits, kOnChipTechnology, yaml_number(kDramPjPerByte));
    const auto sram = [&](std::string_view name, std::string_view role, Count words, std::string_view limit) {
      text += fmt::format("  - {{memory: {}, capacity: {}, keeps: [{}], buffers: {}{}}}\n", name, words, role, kBuffers,
                          limit);
    };
    sram("IfmapSRAM", "inputs", inputs, bandwidth);
    sram("FilterSRAM", "weights", weights, bandwidth);
    sram("OfmapSRAM", "outputs", outputs, "");
    text += fmt::format(
        "  - {{fanout: Array, rows: {}, cols: {}, systolic: {}}}\n  - {{memory: Register, capacity: 1, keeps: [{}]}}\n"
        "  - {{compute: MAC, mac_pj: {}}}\nflexibility:\n  parallel:\n    Array: {{rows: {}, cols: {}}}\n  gemm:\n"
        "    parallel:\n      Array: {{rows: {}, cols: {}}}\n",
        rows, cols, flow.stationary, flow.stationary, yaml_number(kMacPjAssumed), flow.conv_rows, flow.conv_cols,
        flow.gemm_rows, flow.gemm_cols);
    return accelerator;
  }

 private:
  void read_lines() {
    std::string_view text = file_.text;
    std::string section;
    for (int line = 1; !text.empty(); ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string own = trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (own.empty() || own.front() == '#' || own.front() == ';') continue;
      if (own.front() == '[' && own.back() == ']') {
        section = lower(own.substr(1, own.size() - 2));
        continue;
      }
      const std::size_t mark = own.find_first_of(":=");
      if (mark == std::string::npos) {
        log_.problems().add(position_in(file_, line), "", fmt::format("`{}` is not a setting", shorten(own, 40)),
                            "KEY : VALUE");
        continue;
      }
      const std::string key = fmt::format("{}.{}", section, lower(trimmed(own.substr(0, mark))));
      values_[key] = {trimmed(own.substr(mark + 1)), position_in(file_, line)};
    }
  }

  const Value* find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

  Count size(const std::string& key, Count scale) {
    const Value* value = find("architecture_presets." + key);
    if (value == nullptr) {
      log_.problems().add(position_in(file_, 1), key, "missing key", "a size in [architecture_presets]");
      return 1;
    }
    const auto parsed = parse_count(value->text);
    const Count* count = std::get_if<Count>(&parsed);
    const auto scaled = count != nullptr && *count >= 1 ? checked_multiply(*count, scale) : std::nullopt;
    if (!scaled) {
      log_.problems().add(value->at, key, fmt::format("`{}` is not a size", shorten(value->text, 40)),
                          "a whole number of at least 1");
    }
    return scaled.value_or(1);
  }

  const Dataflow& dataflow() {
    const Value* value = find("architecture_presets.dataflow");
    for (const Dataflow& flow : kDataflows) {
      if (value != nullptr && lower(value->text) == flow.name) return flow;
    }
    log_.problems().add(
        value != nullptr ? value->at : position_in(file_, 1), "Dataflow",
        value != nullptr ? fmt::format("unknown dataflow `{}`", shorten(value->text, 40)) : "missing key",
        "os, ws or is");
    return kDataflows.front();
  }

  /// Words a cycle from DRAM into each of the two operand SRAMs, when the file limits them.
  std::string fill_bandwidth() {
    const Value* mode = find("run_presets.interfacebandwidth");
    const Value* value = find("architecture_presets.bandwidth");
    if (mode == nullptr || lower(mode->text) != "user" || value == nullptr) {
      log_.choice(mode != nullptr ? mode->at : position_in(file_, 1), "InterfaceBandwidth",
                  "calculated by SCALE-Sim so that nothing stalls: no limit here");
      return "";
    }
    const auto parsed = parse_real(trimmed(value->text.substr(0, value->text.find(','))));
    const double* words = std::get_if<double>(&parsed);
    if (words == nullptr || !(*words > 0)) {
      log_.problems().add(value->at, "Bandwidth", fmt::format("`{}` is not a bandwidth", shorten(value->text, 40)),
                          "words per cycle");
      return "";
    }
    log_.choice(value->at, "Bandwidth",
                "limits the filling of the IFMAP and the filter SRAM; the OFMAP SRAM's way to DRAM is not limited, "
                "because its port also serves the array here");
    return fmt::format(", write_bandwidth: {}", yaml_number(*words));
  }

  void refuse_what_has_no_counterpart() {
    const Value* sparse = find("sparsity.sparsitysupport");
    if (sparse != nullptr && lower(sparse->text) == "true") {
      log_.unsupported(sparse->at, "SparsitySupport", "sparse computation");
    }
    const Value* ramulator = find("run_presets.useramulatortrace");
    if (ramulator != nullptr && lower(ramulator->text) == "true") {
      log_.unsupported(ramulator->at, "UseRamulatorTrace", "a DRAM timing trace");
    }
    for (const char* key : {"layout.ifmapcustomlayout", "layout.filtercustomlayout"}) {
      const Value* layout = find(key);
      if (layout != nullptr && lower(layout->text) == "true") {
        log_.unsupported(layout->at, key, "a layout of words over banks");
      }
    }
  }

  void note_choices() {
    const Position at = position_in(file_, 1);
    log_.choice(
        at, "energy",
        fmt::format("SCALE-Sim states none: on-chip memories follow the table {}, a DRAM word takes {} pJ, a MAC {} pJ",
                    kOnChipTechnology, kDramPjPerByte, kMacPjAssumed));
    log_.choice(at, "SRAM", "words are bytes; double buffered, so that a tile may fill half of each");
    log_.choice(at, "timing",
                "cycles are those of the loop nest, with the array's fill and drain for every tile that stays in it");
  }

  const SourceFile& file_;
  ImportLog& log_;
  std::map<std::string, Value> values_;  ///< "section.key" in small letters
};

}  // namespace

ImportedText read_scalesim_configuration(const SourceFile& file, ImportLog& log) {
  return ConfigurationReader(file, log).read();
}

}  // namespace pliant
