// SPDX-License-Identifier: Apache-2.0
#include "core/input/layer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/input/csv.h"
#include "core/input/layer_block.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

constexpr std::array<std::string_view, 4> kConvOperations{"conv", "depthwise", "transposed", "fc"};
constexpr std::array<std::string_view, 4> kOwnColumns{"name", "operation", "count", "from"};

/// Of a convolution, in either spelling.
bool is_required(std::string_view column) {
  constexpr std::array<std::string_view, 7> kRequired{"M", "C", "P", "Q", "K", "Y", "X"};
  return std::ranges::find(kRequired, column) != kRequired.end();
}

/// What another tool calls a column, or the nearest name.
std::string other_word(const std::string& name, const std::vector<std::string>& known) {
  if (std::ranges::find(known, "P") != known.end()) {
    if (name == "H" || name == "OH" || name == "height") return "P, the height of the output";
    if (name == "W" || name == "OW" || name == "width") return "Q, the width of the output";
    if (name == "padding" || name == "pad") return "P and Q alone: they are sizes of the output, so padding is in them";
  }
  return nearest(name, known);
}

/// `a;b` is the list [a, b], `Weights=b` the map {Weights: b}.
YamlNode names_of(const YamlNode& field) {
  YamlNode all = field;
  if (field.is_null()) return all;
  const bool named = field.text.find('=') != std::string::npos;
  all.kind = named ? YamlNode::Kind::kMap : YamlNode::Kind::kSequence;
  all.text.clear();
  for (std::size_t start = 0; start <= field.text.size();) {
    const std::size_t end = std::min(field.text.find(';', start), field.text.size());
    const std::string item = field.text.substr(start, end - start);
    const std::size_t equals = item.find('=');
    YamlNode name = field;
    name.text = equals == std::string::npos ? item : item.substr(equals + 1);
    if (named)
      all.entries.push_back({item.substr(0, std::min(equals, item.size())), field.at, name});
    else
      all.items.push_back(std::move(name));
    start = end + 1;
  }
  return all;
}

class TableReader {
 public:
  TableReader(std::shared_ptr<const std::string> file, Diagnostics& problems)
      : file_(std::move(file)), problems_(problems) {}

  LayerTable read(std::string_view text) {
    const std::vector<CsvRow> rows = parse_csv(text, file_, problems_);
    if (rows.empty()) {
      problems_.add({file_, 1, 1}, "", "the table is empty", "a header such as name,M,N,K,B,count");
      return {};
    }
    if (!read_header(rows.front())) return {};
    if (rows.size() == 1) {
      problems_.add({file_, rows.front().line, 1}, "", "a table without layers", "one row for each layer");
    }
    for (std::size_t i = 1; i < rows.size() && !problems_.full(); ++i) read_row(rows[i]);
    return std::move(table_);
  }

 private:
  bool read_header(const CsvRow& header) {
    std::vector<std::string> known(kOwnColumns.begin(), kOwnColumns.end());
    is_conv_ = std::ranges::any_of(header.fields, [](const CsvField& f) { return f.text == "operation"; });
    const Keys sizes = is_conv_ ? Keys(keys::kConv) : Keys(keys::kGemm);
    if (!is_conv_) std::erase(known, "operation");
    for (const std::string_view key : sizes) {
      if (key != "transposed") known.emplace_back(key);
    }
    const std::size_t before = problems_.size();
    if (header.fields.size() > known.size()) {
      problems_.add({file_, header.line, 1}, "", fmt::format("{} columns", header.fields.size()),
                    "at most one each of " + join(known));
      return false;
    }
    for (const CsvField& field : header.fields) {
      const Position at{file_, header.line, field.column};
      if (std::ranges::find(known, field.text) == known.end()) {
        problems_.add(at, shorten(field.text, 40), "unknown column", "one of " + join(known),
                      other_word(field.text, known));
      } else if (std::ranges::find(columns_, field.text) != columns_.end()) {
        problems_.add(at, field.text, "duplicate column", "each column once");
      }
      columns_.push_back(field.text);
    }
    const auto need = [&](std::string_view column) {
      if (std::ranges::find(columns_, column) == columns_.end()) {
        problems_.add({file_, header.line, 1}, std::string(column), "missing column",
                      is_conv_ ? "name,operation,B,M,C,P,Q,R,S,stride_p,stride_q,dilation_r,dilation_s,groups,count"
                               : "name,M,N,K,B,count or name,operation,...");
      }
    };
    need("name");
    if (!is_conv_) {
      for (const std::string_view column : {"M", "N", "K"}) need(column);
    }
    return problems_.size() == before;
  }

  void read_row(const CsvRow& row) {
    if (!row.good) return;
    if (row.fields.size() != columns_.size()) {
      const bool more = row.fields.size() > columns_.size();
      const int column = more ? row.fields[columns_.size()].column : row.fields.back().column;
      problems_.add({file_, row.line, column}, "",
                    more ? "more fields than the header" : "fewer fields than the header",
                    fmt::format("{} fields", columns_.size()));
      return;
    }
    // The row as the tree a YAML file would give.
    YamlNode shape, name, operation, count, from;
    shape.kind = YamlNode::Kind::kMap;
    shape.at = {file_, row.line, 1};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      YamlNode value;
      value.kind = row.fields[i].text.empty() ? YamlNode::Kind::kNull : YamlNode::Kind::kScalar;
      value.text = row.fields[i].text;
      value.at = {file_, row.line, row.fields[i].column};
      if (columns_[i] == "name") {
        name = value;
      } else if (columns_[i] == "operation") {
        operation = value;
      } else if (columns_[i] == "count") {
        count = value;
      } else if (columns_[i] == "from") {
        from = names_of(value);
      } else {
        shape.entries.push_back({columns_[i], value.at, value});
      }
    }
    Workload::Entry entry;
    const auto layer_name = read_layer_name(Cursor(name, "name", problems_));
    if (!count.is_null()) {
      entry.count = Cursor(count, "count", problems_).count().value_or(1);
    } else if (std::ranges::find(columns_, "count") != columns_.end()) {
      Cursor(count, "count", problems_).problem("no value", "how often the layer occurs");
    }
    const auto layer = is_conv_ ? conv_layer(shape, operation, layer_name.value_or("?"))
                                : read_shape("gemm", Cursor(shape, "", problems_), layer_name.value_or("?"));
    if (layer) {
      entry.layer = *layer;
      table_.layers.push_back(std::move(entry));
      table_.positions.push_back(name.at);
      if (std::ranges::find(columns_, "from") != columns_.end()) table_.from.push_back(std::move(from));
    }
  }

  std::optional<Layer> conv_layer(YamlNode& shape, const YamlNode& operation, const std::string& name) {
    const Cursor cursor(operation, "operation", problems_);
    const auto kind = cursor.choice(kConvOperations);
    if (!kind) return std::nullopt;
    const std::string_view word = kConvOperations[*kind];
    if (word == "transposed") shape.value_of("transposed", shape.at) = scalar("true", shape.at);
    if (word == "fc" && !all_one(shape)) return std::nullopt;
    // An empty field of what need not be there.
    std::erase_if(shape.entries, [](const YamlEntry& e) { return e.value.is_null() && !is_required(e.key); });
    if (word == "depthwise") {
      if (!is_depthwise(shape)) return std::nullopt;
      std::erase_if(shape.entries,
                    [](const YamlEntry& e) { return e.key == "M" || e.key == "K" || e.key == "groups"; });
    }
    return read_shape(word == "depthwise" ? "depthwise" : "conv", Cursor(shape, "", problems_), name);
  }

  static YamlNode scalar(std::string text, const Position& at) {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.text = std::move(text);
    node.at = at;
    return node;
  }

  /// A fully connected layer is a convolution with one position and a 1x1 window; nobody need write that down.
  bool all_one(YamlNode& shape) {
    bool good = true;
    const bool maestro = shape.find("K") != nullptr;
    for (const std::string_view key : {maestro ? "Y" : "P", maestro ? "X" : "Q", "R", "S"}) {
      YamlNode& value = shape.value_of(key, shape.at);
      if (value.is_null()) value = scalar("1", shape.at);
      if (value.text == "1") continue;
      Cursor(value, std::string(key), problems_)
          .problem(fmt::format("{} in a row of operation fc", value.describe()), "1");
      good = false;
    }
    return good;
  }

  /// Depthwise: as many groups and outputs as channels, where the table lists them.
  bool is_depthwise(const YamlNode& shape) {
    const YamlNode* channels = shape.find("C");
    bool good = true;
    for (const std::string_view key : {"M", "K", "groups"}) {
      const YamlNode* value = shape.find(key);
      if (value == nullptr || value->is_null() || channels == nullptr || value->text == channels->text) continue;
      Cursor(*value, std::string(key), problems_)
          .problem(fmt::format("{} in a depthwise row with C = {}", value->describe(), channels->describe()),
                   "the same as C");
      good = false;
    }
    return good;
  }

  std::shared_ptr<const std::string> file_;
  Diagnostics& problems_;
  std::vector<std::string> columns_;
  bool is_conv_ = false;
  LayerTable table_;
};

}  // namespace

bool looks_like_csv(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#') || line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    return line.find(',') != std::string_view::npos && line.find(':') == std::string_view::npos &&
           !line.starts_with('{') && !line.starts_with('[');
  }
  return false;
}

LayerTable read_layer_table(std::string_view text, std::string_view file, Diagnostics& problems) {
  check_source_text(text, file);
  return TableReader(std::make_shared<const std::string>(file), problems).read(text);
}

}  // namespace pliant
