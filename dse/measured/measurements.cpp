// SPDX-License-Identifier: Apache-2.0
#include "dse/measured/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/input/csv.h"
#include "core/input/diagnostics.h"
#include "core/input/inline_layer.h"
#include "core/input/source_text.h"
#include "dse/results/data_table.h"

namespace pliant {
namespace {

constexpr std::array<std::string_view, 5> kKinds{"gemm", "bmm", "conv", "attention", "copy"};
/// Rows about the card, not about a kernel.
constexpr std::array<std::string_view, 2> kOtherKinds{"device", "idle"};
constexpr double kBytesPerElement = 2;  // BF16 and FP16
constexpr Count kAlignedElements = 8;   // 16 bytes

/// One row of whatever file, by column; positions are those of the file.
struct Row {
  std::string file;
  int line = 1;
  std::vector<std::pair<std::string, Cell>> cells;

  [[noreturn]] void wrong(std::string_view key, const std::string& what, const std::string& expected) const {
    throw InputError(Diagnostic{file, line, 1, std::string(key), what, expected, ""});
  }
  const Cell* find(std::string_view key) const {
    const auto found = std::ranges::find(cells, key, &std::pair<std::string, Cell>::first);
    return found == cells.end() || std::holds_alternative<std::monostate>(found->second) ? nullptr : &found->second;
  }
  std::optional<double> number(std::string_view key) const {
    const Cell* cell = find(key);
    if (cell == nullptr) return std::nullopt;
    if (const auto* whole = std::get_if<std::int64_t>(cell)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(cell)) return *real;
    if (const auto* flag = std::get_if<bool>(cell)) return *flag ? 1 : 0;
    wrong(key, fmt::format("`{}` is no number", shorten(to_text(*cell), 40)), "a number");
  }
  double positive(std::string_view key) const {
    const auto value = number(key);
    if (!value) wrong(key, "is missing", "a column of that name");
    if (!(*value > 0) || !std::isfinite(*value)) wrong(key, fmt::format("{} is not above 0", *value), "more than 0");
    return *value;
  }
  Count count(std::string_view key, std::optional<Count> otherwise = {}) const {
    if (otherwise && find(key) == nullptr) return *otherwise;
    const double value = positive(key);
    if (value != std::floor(value) || value > 1e12)
      wrong(key, fmt::format("{} is no size", value), "a whole number from 1 on");
    return static_cast<Count>(value);
  }
};

Cell to_cell(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return std::monostate{};
}

std::vector<Row> json_rows(const std::string& text, const std::string& file) {
  std::vector<Row> rows;
  int line = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string_view one = std::string_view(text).substr(from, to - from);
    from = to + 1;
    ++line;
    if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Row& row = rows.emplace_back(Row{file, line, {}});
    const auto json = nlohmann::json::parse(one, nullptr, false);
    if (!json.is_object()) row.wrong("", "is no JSON object", "one object a line");
    for (const auto& [key, value] : json.items()) row.cells.emplace_back(key, to_cell(value));
  }
  return rows;
}

Cell to_cell(const std::string& text) {
  if (text.empty()) return std::monostate{};
  if (text == "true" || text == "false") return text == "true";
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return text;
}

std::vector<Row> csv_rows(const std::string& text, const std::string& file) {
  Diagnostics problems;
  const std::vector<CsvRow> table = parse_csv(text, std::make_shared<const std::string>(file), problems);
  problems.throw_if_any();
  std::vector<Row> rows;
  for (std::size_t i = 1; i < table.size(); ++i) {
    Row& row = rows.emplace_back(Row{file, table[i].line, {}});
    if (table[i].fields.size() != table[0].fields.size())
      row.wrong("", fmt::format("{} fields", table[i].fields.size()),
                fmt::format("{}, as in the header", table[0].fields.size()));
    for (std::size_t c = 0; c < table[0].fields.size(); ++c)
      row.cells.emplace_back(table[0].fields[c].text, to_cell(table[i].fields[c].text));
  }
  return rows;
}

std::vector<Row> parquet_rows(const std::filesystem::path& file) {
  std::vector<std::string> damaged;
  const DataTable table = read_table(file, TableKind::kLayers, damaged);
  if (!damaged.empty()) throw InputError(Diagnostic{file.string(), 0, 0, "", damaged.front(), "a Parquet file", ""});
  std::vector<Row> rows(table.rows());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].file = file.string();
    rows[r].line = static_cast<int>(r) + 1;
    for (const DataColumn& column : table.columns) rows[r].cells.emplace_back(column.name, column.cells[r]);
  }
  return rows;
}

double words_of_tensors(const Layer& layer) {
  double words = 0;
  for (std::size_t t = 0; t < layer.tensors.size(); ++t)
    words += static_cast<double>(layer.tensor_words(static_cast<int>(t)));
  return words;
}

void set_layer(Measurement& m, const std::string& text) {
  m.layers.push_back(parse_layer(text, m.name));
  m.bytes = kBytesPerElement * words_of_tensors(m.layers.back());
}

void read_gemm(const Row& row, Measurement& m) {
  const Count M = row.count("M"), N = row.count("N"), K = row.count("K");
  const Count B = m.kind == KernelKind::kBatchedGemm ? row.count("B") : 1;
  m.name = B > 1 ? fmt::format("gemm:B={},M={},N={},K={}", B, M, N, K) : fmt::format("gemm:M={},N={},K={}", M, N, K);
  m.aligned = N % kAlignedElements == 0 && K % kAlignedElements == 0;
  set_layer(m, m.name);
}

void read_convolution(const Row& row, Measurement& m) {
  const Count C = row.count("C"), M = row.count("M");
  m.name = fmt::format("conv:B={},M={},C={},P={},Q={},R={},S={},stride={}", row.count("B", 1), M, C, row.count("P"),
                       row.count("Q"), row.count("R"), row.count("S"), row.count("stride", 1));
  m.aligned = C % kAlignedElements == 0 && M % kAlignedElements == 0;
  set_layer(m, m.name);
}

/// Heads that share keys and values are rows of one product; the scores live on the chip.
void read_attention(const Row& row, Measurement& m) {
  const Count B = row.count("B", 1), H = row.count("H"), HK = row.count("HK", H), Lq = row.count("Lq"),
              Lk = row.count("Lk"), D = row.count("D");
  const bool causal = row.number("causal").value_or(0) != 0;
  if (H % HK != 0) row.wrong("HK", fmt::format("{} heads do not share {}", H, HK), "a divisor of H");
  m.name = fmt::format("attention:B={},H={},HK={},Lq={},Lk={},D={}{}", B, H, HK, Lq, Lk, D, causal ? ",causal" : "");
  const Count batch = B * HK, rows = Lq * (H / HK);
  m.layers = {make_gemm("scores", {batch, rows, Lk, D}), make_gemm("values", {batch, rows, D, Lk})};
  m.bytes = kBytesPerElement * static_cast<double>(batch) * static_cast<double>(2 * rows * D + 2 * Lk * D);
  m.exponentials = static_cast<double>(batch) * static_cast<double>(rows) * static_cast<double>(Lk);
  // Of the last Lq rows of a square, each sees the keys up to its own.
  if (causal) m.share = (static_cast<double>(Lk) - 0.5 * static_cast<double>(Lq - 1)) / static_cast<double>(Lk);
  m.exponentials *= m.share;
  m.aligned = D % kAlignedElements == 0;
}

std::optional<Measurement> read_row(const Row& row) {
  const Cell* kind = row.find("kind");
  const std::string word = kind == nullptr ? "gemm" : to_text(*kind);
  if (std::ranges::find(kOtherKinds, word) != kOtherKinds.end()) return std::nullopt;
  const auto found = std::ranges::find(kKinds, word);
  if (found == kKinds.end())
    row.wrong("kind", fmt::format("unknown kind `{}`", shorten(word, 40)), "gemm, bmm, conv, attention or copy");
  Measurement m;
  m.kind = static_cast<KernelKind>(found - kKinds.begin());
  m.seconds = row.positive("seconds");
  if (row.find("joules") != nullptr) m.joules = row.positive("joules");
  m.warm_bytes = row.number("warm_bytes").value_or(0);
  if (!(m.warm_bytes >= 0)) row.wrong("warm_bytes", "is below 0", "0 or more");
  switch (m.kind) {
    case KernelKind::kGemm:
    case KernelKind::kBatchedGemm: read_gemm(row, m); break;
    case KernelKind::kConvolution: read_convolution(row, m); break;
    case KernelKind::kAttention: read_attention(row, m); break;
    case KernelKind::kCopy:
      m.bytes = row.positive("bytes");
      m.name = fmt::format("copy:bytes={:.0f}", m.bytes);
      break;
  }
  m.warm_bytes = std::min(m.warm_bytes, m.bytes);
  return m;
}

}  // namespace

std::string_view to_string(KernelKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::vector<Measurement> read_measurements(const std::filesystem::path& file) {
  const std::string ending = file.extension().string(), name = file.string();
  std::vector<Row> rows;
  if (ending == ".jsonl" || ending == ".json") {
    rows = json_rows(read_source(file), name);
  } else if (ending == ".csv") {
    rows = csv_rows(read_source(file), name);
  } else if (ending == ".parquet") {
    rows = parquet_rows(file);
  } else {
    throw InputError(
        Diagnostic{name, 0, 0, "", fmt::format("ends in `{}`", ending), "a file of .jsonl, .csv or .parquet", ""});
  }
  std::vector<Measurement> all;
  for (const Row& row : rows)
    if (auto one = read_row(row)) all.push_back(std::move(*one));
  if (all.empty()) throw InputError(Diagnostic{name, 0, 0, "", "no kernels in it", "at least one row", ""});
  return all;
}

}  // namespace pliant
