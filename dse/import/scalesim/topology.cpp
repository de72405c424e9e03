// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "core/input/csv.h"
#include "core/input/load.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/scalesim/scalesim.h"

namespace pliant {
namespace {

constexpr std::array<std::string_view, 7> kConvColumns{"IFMAP height", "IFMAP width", "filter height", "filter width",
                                                       "channels",     "num filter",  "strides"};
constexpr std::array<std::string_view, 3> kGemmColumns{"M", "N", "K"};

std::string squeezed(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      all += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return all;
}

/// ceil((in - filter + stride) / stride), as SCALE-Sim has it: an input that is already padded.
Count outputs_along(Count in, Count filter, Count stride) {
  return (in - filter) / stride + 1 + ((in - filter) % stride != 0);
}

class TopologyReader {
 public:
  TopologyReader(const SourceFile& file, ImportLog& log)
      : file_(file), name_(std::make_shared<const std::string>(file.name)), log_(log) {}

  Workload read() {
    Workload workload;
    workload.name = name_of_file(file_);
    workload.description = "imported from SCALE-Sim";
    check_source_text(file_.text, file_.name);
    std::string text = file_.text;
    const std::string first = text.substr(0, std::min(text.find('\n'), text.size()));
    // Some tables are separated by tabs.
    if (first.find(',') == std::string::npos) std::ranges::replace(text, '\t', ',');
    const std::vector<CsvRow> rows = parse_csv(text, name_, log_.problems());
    if (rows.empty() || rows.front().fields.size() <= kGemmColumns.size()) {
      log_.problems().add({name_, 1, 1}, "", "no header", "Layer name, IFMAP Height, ... or Layer, M, N, K");
      return workload;
    }
    read_header(rows.front());
    for (std::size_t i = 1; i < rows.size() && !log_.problems().full(); ++i) read_row(rows[i], workload);
    if (workload.layers.empty() && log_.problems().empty()) {
      log_.problems().add({name_, rows.front().line, 1}, "", "no layers", "at least one row");
    }
    return workload;
  }

 private:
  void read_header(const CsvRow& row) {
    header_ = row;
    gemm_ = row.fields.size() > 1 && squeezed(row.fields[1].text) == "m";
    numbers_ = gemm_ ? kGemmColumns.size() : kConvColumns.size();
    for (std::size_t c = numbers_ + 1; c < row.fields.size(); ++c) {
      const std::string column = squeezed(row.fields[c].text);
      if (column.starts_with("sparsity")) {
        sparsity_ = c;
      } else if (column == "batchsize") {
        batch_ = c;
      } else if (!column.empty()) {
        log_.choice(at(row, c), row.fields[c].text, "a column SCALE-Sim does not read is not read here either");
      }
    }
  }

  void read_row(const CsvRow& row, Workload& workload) {
    const auto blank = [](const CsvField& field) { return field.text.empty(); };
    if (std::ranges::all_of(row.fields, blank)) return;
    if (std::ranges::all_of(row.fields.begin() + 1, row.fields.end(), blank)) {
      log_.choice(at(row, 0), "",
                  fmt::format("`{}` has no numbers: a heading, no layer", shorten(row.fields[0].text, 60)));
      return;
    }
    if (row.fields.size() > 1 && squeezed(row.fields[1].text) == squeezed(header_.fields[1].text)) {
      log_.choice(at(row, 0), "", "a second header, skipped");
      return;
    }
    std::array<Count, kConvColumns.size()> values{};
    bool good = row.good;
    for (std::size_t i = 0; i < numbers_; ++i) {
      const auto value = number(row, i + 1, gemm_ ? kGemmColumns[i] : kConvColumns[i]);
      good = good && value.has_value();
      values[i] = value.value_or(1);
    }
    if (!good || !is_dense(row)) return;
    const std::string name = names_(import_name(row.fields[0].text, fmt::format("layer_{}", row.line)));
    const auto layer = gemm_ ? gemm(row, name, values) : conv(row, name, values);
    if (layer && fits(row, *layer)) workload.layers.push_back({*layer, 1});
  }

  std::optional<Layer> gemm(const CsvRow& row, const std::string& name, const auto& v) {
    if (too_many(row, {v[0], v[1], v[2]})) return std::nullopt;
    return make_gemm(name, {.M = v[0], .N = v[1], .K = v[2]});
  }

  std::optional<Layer> conv(const CsvRow& row, const std::string& name, const auto& v) {
    const auto [height, width, R, S, C, M, stride] = v;
    if (R > height || S > width) {
      log_.problems().add(at(row, 3), "filter",
                          fmt::format("a {} x {} filter does not fit a {} x {} input", R, S, height, width),
                          "an input that is already padded");
      return std::nullopt;
    }
    ConvShape shape{.M = M,
                    .C = C,
                    .P = outputs_along(height, R, stride),
                    .Q = outputs_along(width, S, stride),
                    .R = R,
                    .S = S,
                    .stride_p = stride,
                    .stride_q = stride};
    const bool has_batch = batch_ && *batch_ < row.fields.size() && !row.fields[*batch_].text.empty();
    if (has_batch) shape.B = number(row, *batch_, "batch size").value_or(1);
    if (row.fields[0].text.find("DP") != std::string::npos) {
      log_.choice(at(row, 0), "", fmt::format("`{}` is called DP: every channel has its own {} filters", name, M));
      const auto filters = checked_multiply(C, M);
      if (!filters) return too_many(row, {C, M, C, M}), std::nullopt;
      shape.groups = C;
      shape.M = *filters;
    }
    if (too_many(row, {shape.B, M, C, shape.P, shape.Q, R, S})) return std::nullopt;
    return make_conv(name, shape);
  }

  /// Notes sizes whose product does not fit a Count.
  bool too_many(const CsvRow& row, std::initializer_list<Count> sizes) {
    Count product = 1;
    for (const Count size : sizes) {
      const auto next = checked_multiply(product, size);
      if (!next || *next >= kMaxCount) {
        log_.problems().add(at(row, 1), "", "the MACs of this layer are too many", "fewer than 2^62");
        return true;
      }
      product = *next;
    }
    return false;
  }

  bool fits(const CsvRow& row, const Layer& layer) {
    const auto sum = checked_add(macs_, layer.macs());
    if (sum && *sum < kMaxCount) {
      macs_ = *sum;
      return true;
    }
    log_.problems().add(at(row, 1), "", "the MACs of all layers up to this one are too many", "fewer than 2^62");
    return false;
  }

  bool is_dense(const CsvRow& row) {
    if (!sparsity_ || *sparsity_ >= row.fields.size() || row.fields[*sparsity_].text.empty()) return true;
    const std::string& ratio = row.fields[*sparsity_].text;
    const std::size_t colon = ratio.find(':');
    if (colon != std::string::npos && ratio.substr(0, colon) == ratio.substr(colon + 1)) return true;
    log_.unsupported(at(row, *sparsity_), "sparsity",
                     fmt::format("the sparsity {} of `{}`", shorten(ratio, 20), shorten(row.fields[0].text, 40)));
    return false;
  }

  std::optional<Count> number(const CsvRow& row, std::size_t column, std::string_view name) {
    const std::string text = column < row.fields.size() ? row.fields[column].text : "";
    const auto parsed = parse_count(text);
    const Count* value = std::get_if<Count>(&parsed);
    if (value != nullptr && *value >= 1) return *value;
    log_.problems().add(at(row, std::min(column, row.fields.size() - 1)), std::string(name),
                        text.empty() ? "no value" : fmt::format("`{}` is not a size", shorten(text, 40)),
                        "a whole number of at least 1");
    return std::nullopt;
  }

  Position at(const CsvRow& row, std::size_t field) const { return {name_, row.line, row.fields[field].column}; }

  const SourceFile& file_;
  std::shared_ptr<const std::string> name_;
  ImportLog& log_;
  CsvRow header_;
  bool gemm_ = false;
  std::size_t numbers_ = 0;
  std::optional<std::size_t> sparsity_, batch_;
  UniqueNames names_;
  Count macs_ = 0;
};

}  // namespace

Workload read_scalesim_topology(const SourceFile& file, ImportLog& log) { return TopologyReader(file, log).read(); }

}  // namespace pliant
