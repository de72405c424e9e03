// SPDX-License-Identifier: Apache-2.0
// Jinja and expressions of Timeloop's and AccelForge's files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "dse/import/templates/expression.h"
#include "dse/import/templates/jinja.h"
#include "dse/import/templates/named_values.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

std::string worth(const std::string& text) {
  const ExpressionScope scope{[](const std::string& name) -> std::optional<Worth> {
                                if (name == "N") return Worth::of_number(6);
                                if (name == "weight.bits") return Worth::of_number(8);
                                return std::nullopt;
                              },
                              {}};
  try {
    return evaluate_expression(text, scope).shown();
  } catch (const ExpressionError& error) {
    return std::string("error: ") + error.what();
  }
}

TEST(Expressions, FollowPython) {
  const std::pair<const char*, const char*> cases[] = {
      {"1024*64*8", "524288"},
      {"1 + 2 * 3 ** 2", "19"},
      {"-2 ** 2", "-4"},
      {"7 // 2 + 7 % 4", "6"},
      {"-7 // 2", "-4"},
      {"-7 % 4", "1"},
      {"8 * 38.4e9", "307200000000"},
      {"1 / 8", "0.125"},
      {"ceil(N * 2 / 5)", "3"},
      {"[N, 4] | min", "4"},
      {"max(N, 4) - 1", "5"},
      {"N if N > 5 else 0", "6"},
      {"'a' if N == 5 else 'b' if N == 6 else 'c'", "b"},
      {"missing | default(3) + 1", "4"},
      {"not (N in [1, 6]) or 'x' in 'axb'", "True"},
      {"missing is defined or N is not defined", "False"},
      {"weight.bits if True else missing", "8"},
      {"False and missing", "False"},
      {"len([1, 2, 3])", "3"},
      {"missing + 1", "error: `missing` has no value"},
      {"1 / 0", "error: a division by 0"},
      {"import('os')", "error: the function `import` is not known"},
      {"2 3", "error: `3` is not understood"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(worth(text), expected) << text;
}

TEST(Expressions, HostileOnesEnd) {
  EXPECT_EQ(worth(std::string(1000, '(') + "1" + std::string(1000, ')')), "error: an expression nested too deep");
  EXPECT_EQ(worth(std::string(1000, '-') + "1"), "error: an expression nested too deep");
  EXPECT_EQ(worth(std::string(100'000, '1')), "error: an expression that is too long");
  EXPECT_EQ(worth("range(1e18)"), "error: a range of more than 10000 values");
  // Every part is read once: nested conditions do not double the work.
  std::string nested = "1";
  for (int i = 0; i < 25; ++i) nested = "(" + nested + " if 1 else 0)";
  EXPECT_EQ(worth(nested), "1");
  // Names that need each other, and names that use each other twice.
  EXPECT_THROW(NamedValues({{"a", "b + 1"}, {"b", "a + 1"}}).evaluate("a"), ExpressionError);
  EXPECT_EQ(NamedValues({{"a", "b + b"}, {"b", "c + c"}, {"c", "2"}}).evaluate("a").number, 8);
}

/// "file:line: what" of the error, or the scalars with their lines.
std::string render(const std::string& name, const std::string& text,
                   const std::map<std::string, std::string>& variables = {}) {
  ImportLog log(false);
  try {
    const YamlNode tree = parse_template({name, text}, variables, log);
    std::string all;
    for (const YamlEntry& entry : tree.entries) {
      all += entry.key + "=" + entry.value.text;
      for (const YamlNode& item : entry.value.items) all += item.text + "@" + std::to_string(item.at.line) + " ";
      all += "@" + std::to_string(entry.at.line) + "\n";
    }
    return all;
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
}

TEST(Templates, SetIfForAndValues) {
  EXPECT_EQ(render("t",
                   "{% set N = N | default(2) %}\na: {{N}}\nb:\n{% for i in range(N) %}\n- x{{i}}\n{% endfor %}\n"
                   "{% if N > 1 %}\nc: large\n{% elif N == 1 %}\nc: one\n{% else %}\nc: none\n{% endif %}\n"
                   "# {{not read}}\n{% raw %}\nd: '{{x}}'\n{% endraw %}\n"),
            "a=2@2\nb=x0@5 x1@5 @3\nc=large@8\nd={{x}}@16\n");
  EXPECT_EQ(render("t", "a: {{N * 2}}\n", {{"N", "8"}}), "a=16@1\n");
  EXPECT_EQ(render("t", "\na: {{BATCH}}\n"), "t:2:4: `BATCH` has no value; expected --set NAME=VALUE");
  EXPECT_EQ(render("t", "{% assert N < 3, 'too many' %}\na: 1\n", {{"N", "4"}}),
            "t:1:1: the file's own check failed: N < 3, 'too many'; expected values for which it holds");
  EXPECT_EQ(render("t", "a: {{1\n"), "t:1:4: `{{` without `}}`; expected a closed Jinja tag");
  EXPECT_EQ(render("t", "{% if 1 %}\na: 1\n"),
            "t:1:1: a Jinja block without its end; expected {% endif %} or {% endfor %}");
  EXPECT_EQ(render("t", "{% macro f() %}\n"), "t:1:1: the Jinja tag `macro f()`; expected set, if, for, raw or assert");
}

TEST(Templates, LoopsEnd) {
  const std::string loops =
      "{% for i in range(9999) %}{% for j in range(9999) %}{% set x = 1 %}{% endfor %}{% endfor %}a: 1\n";
  EXPECT_EQ(render("t", loops), "t:1:53: a template that repeats too much; expected fewer repetitions");
  const std::string text = "{% for i in range(9999) %}" + std::string(1000, 'x') + "{% endfor %}";
  EXPECT_EQ(render("t", text), "t:1:27: the rendered text is too long; expected at most 4 MiB");
}

class IncludedTemplates : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_.path() / "parts"); }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  TemporaryFolder folder_;
};

TEST_F(IncludedTemplates, TextsAndParts) {
  write("text.yaml", "b: {{N}}\n");
  write("parts/model.yaml", "\nworkload:\n  einsums:\n  - one\n  - {{N}}\n  sizes: {M: 4}\n");
  EXPECT_EQ(render(file("t.yaml"),
                   "{% set N = 3 %}\n{{add_to_path('parts')}}\n{{include_text('text.yaml')}}\n"
                   "{% set MODEL = include('model.yaml', '') %}\nc: {{MODEL}}.workload.einsums\n"),
            "b=3@1\nc=one@4 3@5 @5\n");
  EXPECT_NE(render(file("t.yaml"), "{% set N = 1 %}a: {{include('parts/model.yaml', 'workload.nothing')}}\n")
                .find("has no `workload.nothing`"),
            std::string::npos);
  EXPECT_NE(
      render(file("t.yaml"), "{{include_text('absent.yaml')}}\n").find("t.yaml:1:1: there is no file `absent.yaml`"),
      std::string::npos);
  write("text.yaml", "b: 1\nb: 2\n");
  EXPECT_NE(render(file("t.yaml"), "\n\n{{include_text('text.yaml')}}\n").find("text.yaml:2:"), std::string::npos);
}

TEST_F(IncludedTemplates, FilesThatIncludeThemselvesEnd) {
  write("self.yaml", "{{include_text('self.yaml')}}\n");
  EXPECT_NE(render(file("t.yaml"), "{{include_text('self.yaml')}}\n").find("includes are nested too deep"),
            std::string::npos);
  write("twice.yaml",
        "{% if N < 12 %}{% set N = N + 1 %}{{include_text('twice.yaml')}}{{include_text('twice.yaml')}}{% endif %}");
  write("many.yaml", "{% for i in range(300) %}{{include_text('leaf.yaml')}}{% endfor %}");
  write("leaf.yaml", "# nothing\n");
  EXPECT_NE(render(file("t.yaml"), "{{include_text('many.yaml')}}\n").find("too many included files"),
            std::string::npos);
}

}  // namespace
}  // namespace pliant
