// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/command_line.h"

#include <ostream>

#include "core/input/diagnostics.h"
#include "dse/results/atomic_file.h"

namespace pliant {

namespace options = boost::program_options;

int run_command(const CommandLine& line, const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                const std::function<int(const options::variables_map&)>& command) {
  try {
    options::options_description all;
    all.add(line.options);
    options::positional_options_description positional;
    if (!line.words.empty()) {
      if (line.most_words == 1)
        all.add_options()(line.words.c_str(), options::value<std::string>());
      else
        all.add_options()(line.words.c_str(), options::value<std::vector<std::string>>());
      positional.add(line.words.c_str(), line.most_words);
    }
    // No guessing: an abbreviation that works today is an error when a longer option appears.
    const int style = options::command_line_style::unix_style & ~options::command_line_style::allow_guessing;
    options::variables_map values;
    options::store(options::command_line_parser(args).options(all).positional(positional).style(style).run(), values);
    options::notify(values);
    if (values.count("help")) {
      out << line.usage << line.options;
      return 0;
    }
    return command(values);
  } catch (const options::error& error) {
    err << line.command << ": " << error.what() << "; see " << line.command << " --help\n";
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) err << diagnostic.text() << "\n";
  } catch (const StorageError& error) {
    err << error.what() << "\n";
    return 1;
  }
  return 2;
}

}  // namespace pliant
