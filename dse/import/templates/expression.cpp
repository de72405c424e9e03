// SPDX-License-Identifier: Apache-2.0
#include "dse/import/templates/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/input/source_text.h"
#include "dse/import/templates/builtin.h"

namespace pliant {
namespace {

constexpr int kDeepest = 100;
constexpr std::size_t kLongest = 4000;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Parses and evaluates in one walk. Branches not taken are walked with `dead_` set, so that undefined names in them do
/// no harm.
class Evaluator {
 public:
  Evaluator(std::string_view text, const ExpressionScope& scope) : rest_(text), scope_(scope) {}

  Worth whole() {
    Worth worth = choice();
    skip_blanks();
    if (!rest_.empty()) fail(fmt::format("`{}` is not understood", shorten(rest_, 30)));
    return worth;
  }

 private:
  /// Counts nesting; parentheses and operators that repeat would otherwise use up the stack.
  struct Deeper {
    explicit Deeper(int& counter) : depth(counter) {
      if (++depth > kDeepest) throw ExpressionError("an expression nested too deep");
    }
    ~Deeper() { --depth; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    int& depth;
  };

  [[noreturn]] static void fail(const std::string& what) { throw ExpressionError(what); }

  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }
  bool take(std::string_view symbol) {
    skip_blanks();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word) || (rest_.size() > word.size() && in_name(rest_[word.size()]))) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) fail(fmt::format("`{}` is missing", symbol));
  }

  template <class Read>
  Worth unless_dead(bool alive, const Read& read) {
    dead_ += alive ? 0 : 1;
    Worth worth = read();
    dead_ -= alive ? 0 : 1;
    return worth;
  }
  bool truth(const Worth& worth) const { return dead_ == 0 && worth.holds(); }
  double number(const Worth& worth) const { return dead_ > 0 ? 1 : worth.as_number(); }

  /// Where in `rest_` the `if` of `a if b else c` stands, or npos. Only looks, so that every part is read once.
  std::size_t find_if() const {
    int open = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (c == '"' || c == '\'') {
        i = rest_.find(c, i + 1);
        if (i == std::string_view::npos) return i;
      } else if (c == '(' || c == '[') {
        ++open;
      } else if (c == ')' || c == ']' || (c == ',' && open == 0)) {
        if (c == ',' || open-- == 0) return std::string_view::npos;
      } else if (starts_name(c)) {
        std::size_t end = i;
        while (end < rest_.size() && in_name(rest_[end])) ++end;
        const std::string_view word = rest_.substr(i, end - i);
        if (open == 0 && word == "if") return i;
        if (open == 0 && word == "else") return std::string_view::npos;
        i = end - 1;
      }
    }
    return std::string_view::npos;
  }

  Worth choice() {
    const Deeper deeper(depth_);
    const std::size_t condition = find_if();
    if (condition == std::string_view::npos) return either();
    const std::string_view start = rest_;
    rest_.remove_prefix(condition);
    take_word("if");
    const bool taken = truth(either());
    if (!take_word("else")) fail("`else` is missing");
    const std::string_view otherwise = rest_;
    rest_ = start;
    Worth first = unless_dead(taken, [&] { return either(); });
    if (rest_after_blanks().data() != start.data() + condition) fail("`if` comes too early");
    rest_ = otherwise;
    Worth second = unless_dead(!taken, [&] { return choice(); });
    return taken ? first : second;
  }

  Worth either() {
    Worth left = both();
    while (take_word("or")) {
      const bool known = truth(left);
      Worth right = unless_dead(!known, [&] { return both(); });
      if (!known) left = std::move(right);
    }
    return left;
  }

  Worth both() {
    Worth left = negation();
    while (take_word("and")) {
      const bool open = truth(left);
      Worth right = unless_dead(open, [&] { return negation(); });
      if (open) left = std::move(right);
    }
    return left;
  }

  Worth negation() {
    const Deeper deeper(depth_);
    if (take_word("not")) return Worth::of_truth(!truth(negation()));
    return comparison();
  }

  Worth comparison() {
    Worth left = sum();
    if (take_word("is")) {
      const bool no = take_word("not");
      if (!take_word("defined")) fail("of tests only `is defined` is known");
      return Worth::of_truth((left.kind != Worth::Kind::kUndefined) != no);
    }
    const bool not_in = take_word("not");
    if (not_in || take_word("in")) {
      if (not_in && !take_word("in")) fail("`in` is missing");
      const Worth right = sum();
      return Worth::of_truth(dead_ == 0 && contains(right, left) != not_in);
    }
    for (const std::string_view symbol : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (take(symbol)) return compare(symbol, left, sum());
    }
    return left;
  }

  static bool same(const Worth& a, const Worth& b) {
    if (a.kind == Worth::Kind::kUndefined) return a.holds();  // says that it has no value
    if (b.kind == Worth::Kind::kUndefined) return b.holds();
    if (a.kind == Worth::Kind::kText || b.kind == Worth::Kind::kText) return a.kind == b.kind && a.text == b.text;
    return a.as_number() == b.as_number();
  }
  static bool contains(const Worth& all, const Worth& one) {
    if (all.kind == Worth::Kind::kText && one.kind == Worth::Kind::kText)
      return all.text.find(one.text) != std::string::npos;
    if (all.kind != Worth::Kind::kList) fail("`in` needs a list");
    return std::ranges::any_of(all.list, [&](const Worth& item) { return same(item, one); });
  }

  Worth compare(std::string_view symbol, const Worth& a, const Worth& b) {
    if (dead_ > 0) return Worth::of_truth(false);
    if (symbol == "==" || symbol == "!=") return Worth::of_truth(same(a, b) == (symbol == "=="));
    const double x = number(a), y = number(b);
    return Worth::of_truth(symbol == "<" ? x < y : symbol == "<=" ? x <= y : symbol == ">" ? x > y : x >= y);
  }

  Worth sum() {
    Worth left = product();
    for (;;) {
      if (take("+")) {
        const Worth right = product();
        left = left.kind == Worth::Kind::kText && right.kind == Worth::Kind::kText
                   ? Worth::of_text(joined(left.text, right.text))
                   : Worth::of_number(number(left) + number(right));
      } else if (take("-")) {
        left = Worth::of_number(number(left) - number(product()));
      } else {
        return left;
      }
    }
  }

  static std::string joined(const std::string& a, const std::string& b) {
    if (a.size() + b.size() > kLongest) fail("a text that is too long");
    return a + b;
  }

  Worth product() {
    Worth left = sign();
    for (;;) {
      if (rest_after_blanks().starts_with("**")) return left;
      if (take("*")) {
        left = Worth::of_number(number(left) * number(sign()));
      } else if (take("//")) {
        left = Worth::of_number(std::floor(number(left) / divisor(sign())));
      } else if (take("/")) {
        left = Worth::of_number(number(left) / divisor(sign()));
      } else if (rest_after_blanks().starts_with("%") && take("%")) {
        const double a = number(left), b = divisor(sign());
        left = Worth::of_number(a - b * std::floor(a / b));
      } else {
        return left;
      }
    }
  }

  double divisor(const Worth& worth) const {
    const double value = number(worth);
    if (value == 0) fail("a division by 0");
    return value;
  }

  std::string_view rest_after_blanks() {
    skip_blanks();
    return rest_;
  }

  Worth sign() {
    const Deeper deeper(depth_);
    if (take("-")) return Worth::of_number(-number(sign()));
    if (take("+")) return Worth::of_number(number(sign()));
    Worth base = filtered();
    if (take("**")) base = Worth::of_number(std::pow(number(base), number(sign())));
    return base;
  }

  Worth filtered() {
    Worth worth = atom();
    while (rest_after_blanks().starts_with("|") && take("|")) {
      const std::string name = word();
      std::vector<Worth> arguments{std::move(worth)};
      if (take("(")) read_list(")", arguments);
      if (name == "default") {
        if (arguments.size() != 2) fail("`default` needs one value");
        worth = arguments[arguments[0].kind == Worth::Kind::kUndefined ? 1 : 0];
      } else {
        worth = call(name, arguments);
      }
    }
    return worth;
  }

  std::string word() {
    skip_blanks();
    std::size_t end = 0;
    if (rest_.empty() || !starts_name(rest_.front())) fail("a name is missing");
    while (end < rest_.size() && in_name(rest_[end])) ++end;
    const std::string name(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return name;
  }

  void read_list(std::string_view close, std::vector<Worth>& items) {
    if (take(close)) return;
    do {
      items.push_back(choice());
    } while (take(",") && !rest_after_blanks().starts_with(close));
    expect(close);
  }

  Worth call(const std::string& name, const std::vector<Worth>& arguments) {
    if (dead_ > 0) return {};
    if (auto own = call_builtin(name, arguments)) return *own;
    if (scope_.call) {
      if (auto own = scope_.call(name, arguments)) return *own;
    }
    fail(fmt::format("the function `{}` is not known", shorten(name, 40)));
  }

  Worth atom() {
    skip_blanks();
    if (rest_.empty()) fail("a value is missing");
    const char first = rest_.front();
    if (first == '(') {
      take("(");
      Worth inner = choice();
      expect(")");
      return inner;
    }
    if (first == '[') {
      take("[");
      Worth list;
      list.kind = Worth::Kind::kList;
      read_list("]", list.list);
      return list;
    }
    if (first == '"' || first == '\'') return quoted(first);
    if (is_digit(first) || first == '.') return literal();
    return named();
  }

  Worth quoted(char mark) {
    const std::size_t end = rest_.find(mark, 1);
    if (end == std::string_view::npos) fail("a text without its closing quote");
    Worth worth = Worth::of_text(std::string(rest_.substr(1, end - 1)));
    rest_.remove_prefix(end + 1);
    return worth;
  }

  Worth literal() {
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) fail("a number that is out of range");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return Worth::of_number(value);
  }

  Worth named() {
    std::string name = word();
    // A method such as A.items() ends the dotted name.
    while (rest_.size() > 1 && rest_[0] == '.' && starts_name(rest_[1])) {
      rest_.remove_prefix(1);
      name += '.';
      name += word();
    }
    if (name == "True" || name == "true") return Worth::of_truth(true);
    if (name == "False" || name == "false" || name == "None" || name == "none") return Worth::of_truth(false);
    if (name == "inf") return Worth::of_number(std::numeric_limits<double>::infinity());
    if (take("(")) {
      std::vector<Worth> arguments;
      read_list(")", arguments);
      if (name.ends_with(".items") && arguments.empty()) return value_of(name.substr(0, name.size() - 6));
      return call(name, arguments);
    }
    return value_of(name);
  }

  Worth value_of(const std::string& name) const {
    if (auto known = scope_.value(name)) return *known;
    Worth worth;
    worth.text = name;
    return worth;
  }

  std::string_view rest_;
  const ExpressionScope& scope_;
  int depth_ = 0;
  int dead_ = 0;  ///< inside so many branches that are not taken
};

}  // namespace

Worth Worth::of_truth(bool truth) {
  Worth worth;
  worth.kind = Kind::kTruth;
  worth.truth = truth;
  return worth;
}

Worth Worth::of_number(double number) {
  Worth worth;
  worth.kind = Kind::kNumber;
  worth.number = number;
  return worth;
}

Worth Worth::of_text(std::string text) {
  Worth worth;
  worth.kind = Kind::kText;
  worth.text = std::move(text);
  return worth;
}

Worth Worth::of_document(std::size_t document) {
  Worth worth;
  worth.kind = Kind::kDocument;
  worth.document = document;
  return worth;
}

bool Worth::holds() const {
  switch (kind) {
    case Kind::kUndefined: throw ExpressionError(fmt::format("`{}` has no value", shorten(text, 40)));
    case Kind::kTruth: return truth;
    case Kind::kNumber: return number != 0;
    case Kind::kText: return !text.empty();
    case Kind::kList: return !list.empty();
    default: return true;
  }
}

double Worth::as_number() const {
  if (kind == Kind::kNumber) return number;
  if (kind == Kind::kTruth) return truth ? 1 : 0;
  if (kind == Kind::kUndefined) throw ExpressionError(fmt::format("`{}` has no value", shorten(text, 40)));
  throw ExpressionError(fmt::format("`{}` is no number", shorten(kind == Kind::kText ? text : "a list", 40)));
}

std::string Worth::shown() const {
  switch (kind) {
    case Kind::kUndefined: throw ExpressionError(fmt::format("`{}` has no value", shorten(text, 40)));
    case Kind::kTruth: return truth ? "True" : "False";
    case Kind::kText: return text;
    case Kind::kList: {
      std::vector<std::string> items;
      for (const Worth& item : list) items.push_back(item.shown());
      return fmt::format("[{}]", join(items));
    }
    case Kind::kDocument: throw ExpressionError("a whole included file where a value is expected");
    default: break;
  }
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::floor(number) == number && std::abs(number) < kExact) return fmt::format("{:.0f}", number);
  return fmt::format("{}", number);
}

Worth evaluate_expression(std::string_view text, const ExpressionScope& scope) {
  if (text.size() > kLongest) throw ExpressionError("an expression that is too long");
  return Evaluator(text, scope).whole();
}

std::optional<double> plain_number(std::string_view text) {
  const ExpressionScope nothing{[](const std::string&) { return std::nullopt; }, {}};
  try {
    return evaluate_expression(text, nothing).as_number();
  } catch (const ExpressionError&) {
    return std::nullopt;
  }
}

}  // namespace pliant
