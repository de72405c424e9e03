// SPDX-License-Identifier: Apache-2.0
#include "dse/report/compact_json.h"

#include <arrow/util/base64.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "dse/results/arrow_status.h"

namespace pliant {

using nlohmann::ordered_json;

namespace {

ordered_json compact_cell(const Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return *number;
  if (const auto* number = std::get_if<double>(&cell)) return compact_number(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

}  // namespace

ordered_json compact_number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < kExact) return static_cast<std::int64_t>(value);
  return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
}

ordered_json compact_column(const DataColumn& column) {
  std::map<Cell, std::size_t> known;
  ordered_json values = ordered_json::array(), codes = ordered_json::array();
  const std::size_t most = column.cells.size() / 4 + 1;
  for (const Cell& cell : column.cells) {
    const auto [found, is_new] = known.try_emplace(cell, known.size());
    if (is_new) values.push_back(compact_cell(cell));
    codes.push_back(found->second);
    if (known.size() > most) break;
  }
  ordered_json json{{"name", column.name}};
  if (known.size() <= most) {
    json["values"] = std::move(values);
    json["codes"] = std::move(codes);
    return json;
  }
  json["values"] = ordered_json::array();
  for (const Cell& cell : column.cells) json["values"].push_back(compact_cell(cell));
  return json;
}

std::string base64(std::string_view bytes) { return arrow::util::base64_encode(bytes); }

std::string gzip(std::string_view bytes) {
  const auto codec = require_value(arrow::util::Codec::Create(arrow::Compression::GZIP), "compressing");
  const auto* input = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto length = static_cast<std::int64_t>(bytes.size());
  std::string packed(static_cast<std::size_t>(codec->MaxCompressedLen(length, input)), '\0');
  const std::int64_t size = require_value(codec->Compress(length, input, static_cast<std::int64_t>(packed.size()),
                                                          reinterpret_cast<std::uint8_t*>(packed.data())),
                                          "compressing");
  packed.resize(static_cast<std::size_t>(size));
  return packed;
}

}  // namespace pliant
