// SPDX-License-Identifier: Apache-2.0
#include "dse/import/templates/jinja.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/input/source_text.h"
#include "dse/import/templates/pieces.h"
#include "dse/import/templates/rendered_text.h"

namespace pliant {
namespace {

constexpr int kDeepestInclude = 16;
constexpr int kMostFiles = 256;
/// Pieces rendered: loops in loops end here and not after a day.
constexpr int kMostSteps = 500'000;

/// "set N = 8" -> ("set", "N = 8").
std::pair<std::string, std::string> first_word(const std::string& text) {
  std::size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
  const std::size_t rest = std::min(text.find_first_not_of(" \t\n", end), text.size());
  return {text.substr(0, end), text.substr(rest)};
}

class Renderer {
 public:
  Renderer(const std::map<std::string, std::string>& variables, ImportLog& log) : log_(log) {
    for (const auto& [name, text] : variables) {
      const auto number = plain_number(text);
      const bool truth = text == "True" || text == "False";
      variables_[name] = truth    ? Worth::of_truth(text == "True")
                         : number ? Worth::of_number(*number)
                                  : Worth::of_text(text);
    }
  }

  RenderedText render(const SourceFile& file) {
    RenderedText text;
    render_into(file, text);
    return text;
  }

 private:
  using Pieces = std::vector<TemplatePiece>;

  void render_into(const SourceFile& file, RenderedText& out) {
    const Pieces pieces = cut_template(file);
    folders_.push_back(std::filesystem::path(file.name).parent_path());
    run(pieces, 0, pieces.size(), out);
    folders_.pop_back();
  }

  void run(const Pieces& pieces, std::size_t i, std::size_t end, RenderedText& out) {
    while (i < end) {
      const TemplatePiece& piece = pieces[i];
      if (++steps_ > kMostSteps) refuse_template(piece.at, "a template that repeats too much", "fewer repetitions");
      if (piece.kind == TemplatePiece::Kind::kTag) {
        i = run_tag(pieces, i, end, out);
        continue;
      }
      if (piece.kind == TemplatePiece::Kind::kText) {
        out.add(std::string_view(piece.text).substr(std::min(skip_, piece.text.size())), piece.at);
        skip_ = 0;
      } else {
        const bool has_next = i + 1 < end && pieces[i + 1].kind == TemplatePiece::Kind::kText;
        print(piece, has_next ? pieces[i + 1].text : "", out);
      }
      ++i;
    }
  }

  /// {{value}}; an included file is followed by the path to the part that is meant: {{MODEL}}.workload.
  void print(const TemplatePiece& piece, std::string_view next, RenderedText& out) {
    const Worth worth = evaluate(piece.text, piece.at);
    if (!include_here_.empty()) {
      const std::string file = std::exchange(include_here_, "");
      return including(piece.at, [&] { render_into({file, read_source(file)}, out); });
    }
    if (worth.kind != Worth::Kind::kDocument)
      return out.add(guarded(piece.at, [&] { return worth.shown(); }), piece.at);
    std::size_t length = 0;
    while (length + 1 < next.size() && next[length] == '.' &&
           std::isalpha(static_cast<unsigned char>(next[length + 1])) != 0) {
      ++length;
      while (length < next.size() &&
             (std::isalnum(static_cast<unsigned char>(next[length])) != 0 || next[length] == '_'))
        ++length;
    }
    skip_ = length;
    add_as_flow(part_of(documents_[worth.document], std::string(next.substr(0, length)), piece.at), out);
  }

  const YamlNode& part_of(const YamlNode& tree, const std::string& path, const Position& at) const {
    const YamlNode* node = &tree;
    std::string_view rest = path;
    while (!rest.empty()) {
      if (rest.front() == '.') rest.remove_prefix(1);
      const std::string_view key = rest.substr(0, std::min(rest.find('.'), rest.size()));
      rest.remove_prefix(key.size());
      node = node->is_map() ? node->find(key) : nullptr;
      if (node == nullptr)
        refuse_template(at, fmt::format("the included file has no `{}`", path), "a key of that file");
    }
    return *node;
  }

  /// Returns the piece to go on with.
  std::size_t run_tag(const Pieces& pieces, std::size_t i, std::size_t end, RenderedText& out) {
    const TemplatePiece& piece = pieces[i];
    const auto [word, rest] = first_word(piece.text);
    if (word == "if") return run_if(pieces, i, end, out);
    if (word == "for") return run_for(pieces, i, end, rest, out);
    if (word == "set") {
      const auto [name, value] = first_word(rest);
      if (name.empty() || !value.starts_with("="))
        refuse_template(piece.at, "a `set` without `=`", "{% set NAME = VALUE %}");
      variables_[name] = evaluate(value.substr(1), piece.at);
    } else if (word == "assert") {
      const Worth claim = evaluate("[" + rest + "]", piece.at);
      if (!claim.list.empty() && !guarded(piece.at, [&] { return claim.list[0].holds(); })) {
        refuse_template(piece.at, "the file's own check failed: " + shorten(rest, 160), "values for which it holds");
      }
    } else {
      refuse_template(piece.at, fmt::format("the Jinja tag `{}`", shorten(piece.text, 60)),
                      "set, if, for, raw or assert");
    }
    return i + 1;
  }

  /// The next of elif, else, endif (or endfor) that belongs to the tag before piece i.
  std::size_t find_end(const Pieces& pieces, std::size_t i, std::size_t end, const Position& at) const {
    int open = 0;
    for (; i < end; ++i) {
      if (pieces[i].kind != TemplatePiece::Kind::kTag) continue;
      const std::string word = first_word(pieces[i].text).first;
      const bool closes = word == "endif" || word == "endfor";
      if (open == 0 && (closes || word == "elif" || word == "else")) return i;
      open += word == "if" || word == "for" ? 1 : closes ? -1 : 0;
    }
    refuse_template(at, "a Jinja block without its end", "{% endif %} or {% endfor %}");
  }

  std::size_t run_if(const Pieces& pieces, std::size_t i, std::size_t end, RenderedText& out) {
    const Position& at = pieces[i].at;
    bool done = false;
    for (;;) {
      const auto [word, rest] = first_word(pieces[i].text);
      if (word == "endif") return i + 1;
      if (word != "if" && word != "elif" && word != "else")
        refuse_template(pieces[i].at, "an `if` closed by a `for`", "");
      const std::size_t next = find_end(pieces, i + 1, end, at);
      const bool taken = !done && (word == "else" || condition(rest, pieces[i].at));
      if (taken) run(pieces, i + 1, next, out);
      done |= taken;
      i = next;
    }
  }

  bool condition(const std::string& text, const Position& at) {
    const Worth worth = evaluate(text, at);
    return guarded(at, [&] { return worth.holds(); });
  }

  /// for i in range(4); names set inside do not outlive the loop.
  std::size_t run_for(const Pieces& pieces, std::size_t i, std::size_t end, const std::string& head,
                      RenderedText& out) {
    const Position& at = pieces[i].at;
    const std::size_t in = head.find(" in ");
    const std::size_t close = find_end(pieces, i + 1, end, at);
    if (in == std::string::npos || pieces[close].text != "endfor") {
      refuse_template(at, fmt::format("the loop `{}`", shorten(head, 60)), "{% for NAME in LIST %} ... {% endfor %}");
    }
    const Worth list = evaluate(head.substr(in + 4), at);
    if (list.kind != Worth::Kind::kList)
      refuse_template(at, "a loop over something that is no list", "a list or range()");
    const std::string name = first_word(head.substr(0, in)).first;
    const bool pairs = head.substr(0, in).find(',') != std::string::npos;
    if (pairs && !list.list.empty()) refuse_template(at, "a loop over pairs", "one name");
    const auto before = variables_;
    for (const Worth& item : list.list) {
      variables_[name] = item;
      run(pieces, i + 1, close, out);
    }
    if (!list.list.empty()) variables_ = before;
    return close + 1;
  }

  template <class Do>
  auto guarded(const Position& at, const Do& act) -> decltype(act()) {
    try {
      return act();
    } catch (const ExpressionError& error) {
      const std::string what = error.what();
      refuse_template(at, what, what.ends_with("has no value") ? "--set NAME=VALUE" : "plain Jinja");
    }
  }

  Worth evaluate(const std::string& text, const Position& at) {
    const ExpressionScope scope{
        [&](const std::string& name) -> std::optional<Worth> {
          const auto found = variables_.find(name);
          if (found == variables_.end()) return std::nullopt;
          return found->second;
        },
        [&](const std::string& name, const std::vector<Worth>& arguments) { return call(name, arguments, at); }};
    return guarded(at, [&] { return evaluate_expression(text, scope); });
  }

  std::optional<Worth> call(const std::string& name, const std::vector<Worth>& arguments, const Position& at) {
    if (name == "cwd" && arguments.empty()) return Worth::of_text(folders_.back().string());
    if (arguments.empty() || arguments[0].kind != Worth::Kind::kText) return std::nullopt;
    const std::string& file = arguments[0].text;
    if (name == "add_to_path") {
      search_.push_back(folders_.back() / file);
      return Worth::of_text("");
    }
    if (name == "path_exists") return Worth::of_truth(find_file(file).has_value());
    if (name != "find_path" && name != "include_text" && name != "include") return std::nullopt;
    const auto path = find_file(file);
    if (!path) refuse_template(at, fmt::format("there is no file `{}`", shorten(file, 80)), "a file beside this one");
    if (name == "find_path") return Worth::of_text(path->string());
    if (name == "include_text") {
      include_here_ = path->string();
      return Worth::of_text("");
    }
    const std::string part = arguments.size() > 1 && arguments[1].kind == Worth::Kind::kText ? arguments[1].text : "";
    // Names set in an included file stay there.
    const auto before = variables_;
    including(at, [&] {
      const YamlNode tree = render({path->string(), read_source(*path)}).parse(path->string(), log_);
      documents_.push_back(part_of(tree, part, at));
    });
    variables_ = before;
    return Worth::of_document(documents_.size() - 1);
  }

  template <class Do>
  void including(const Position& at, const Do& act) {
    if (++depth_ > kDeepestInclude) refuse_template(at, "includes are nested too deep", "no file that includes itself");
    if (++files_ > kMostFiles) refuse_template(at, "too many included files", fmt::format("at most {}", kMostFiles));
    act();
    --depth_;
  }

  std::optional<std::filesystem::path> find_file(const std::string& name) const {
    std::error_code error;
    const auto here = folders_.back() / name;
    if (std::filesystem::is_regular_file(here, error)) return here;
    for (auto folder = search_.rbegin(); folder != search_.rend(); ++folder) {
      if (std::filesystem::is_regular_file(*folder / name, error)) return *folder / name;
    }
    return std::nullopt;
  }

  ImportLog& log_;
  std::map<std::string, Worth> variables_;
  std::vector<std::filesystem::path> folders_, search_;
  std::vector<YamlNode> documents_;
  std::string include_here_;  ///< a file to be rendered in place of the value that asked for it
  std::size_t skip_ = 0;      ///< bytes of the next text that were the path into an included file
  int depth_ = 0, files_ = 0, steps_ = 0;
};

}  // namespace

YamlNode parse_template(const SourceFile& file, const std::map<std::string, std::string>& variables, ImportLog& log) {
  return Renderer(variables, log).render(file).parse(file.name, log);
}

}  // namespace pliant
