// SPDX-License-Identifier: Apache-2.0
#include "dse/import/templates/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/input/source_text.h"
#include "dse/import/templates/rendered_text.h"

namespace pliant {
namespace {

std::string without_dashes(std::string_view text) {
  // {%- and -%} trim blanks, which never matters in these files.
  const std::size_t first = text.find_first_not_of(" \t\r\n-"), last = text.find_last_not_of(" \t\r\n-");
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

class Cutter {
 public:
  explicit Cutter(const SourceFile& file) : rest_(file.text), name_(std::make_shared<const std::string>(file.name)) {}

  std::vector<TemplatePiece> cut() {
    while (!rest_.empty()) {
      if (raw_ && !rest_.starts_with("{%")) {
        text_ += rest_.front();
        advance(1);
      } else if (rest_.starts_with("{{") || rest_.starts_with("{%") || rest_.starts_with("{#")) {
        markup();
      } else if (rest_.front() == '#' && starts_comment()) {
        comment();
      } else {
        text_ += rest_.front();
        advance(1);
      }
    }
    flush();
    return std::move(pieces_);
  }

 private:
  bool starts_comment() const {
    return column_ == 1 || (!text_.empty() && (text_.back() == ' ' || text_.back() == '\t'));
  }

  Position here() const { return {name_, line_, column_}; }

  void advance(std::size_t bytes) {
    for (const char c : rest_.substr(0, bytes)) {
      ++column_;
      if (c != '\n') continue;
      flush();
      ++line_;
      column_ = 1;
    }
    rest_.remove_prefix(bytes);
    if (text_.empty()) start_ = here();
  }

  void flush() {
    if (!text_.empty()) pieces_.push_back({TemplatePiece::Kind::kText, std::move(text_), start_});
    text_.clear();
    start_ = here();
  }

  void comment() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    text_ += rest_.substr(0, end);
    advance(end);
  }

  void markup() {
    const char kind = rest_[1];
    const Position at = here();
    const std::string_view close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
    const std::size_t end = rest_.find(close, 2);
    if (end == std::string_view::npos) {
      refuse_template(at, fmt::format("`{}` without `{}`", rest_.substr(0, 2), close), "a closed Jinja tag");
    }
    const std::string inside = without_dashes(rest_.substr(2, end - 2));
    const bool ends_raw = raw_ && kind == '%' && inside == "endraw";
    if (raw_ && !ends_raw) {
      text_ += rest_.front();
      return advance(1);
    }
    flush();
    advance(end + 2);
    start_ = here();
    if (kind == '%' && (inside == "raw" || ends_raw)) {
      raw_ = !ends_raw;
    } else if (kind != '#') {
      pieces_.push_back({kind == '{' ? TemplatePiece::Kind::kValue : TemplatePiece::Kind::kTag, inside, at});
    }
  }

  std::string_view rest_;
  std::shared_ptr<const std::string> name_;
  std::vector<TemplatePiece> pieces_;
  std::string text_;
  int line_ = 1, column_ = 1;
  Position start_ = here();
  bool raw_ = false;
};

}  // namespace

std::vector<TemplatePiece> cut_template(const SourceFile& file) {
  check_source_text(file.text, file.name);
  return Cutter(file).cut();
}

}  // namespace pliant
