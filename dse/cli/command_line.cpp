// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/command_line.h"

#include <ostream>

#include "dse/cli/read_arguments.h"
#include "dse/results/atomic_file.h"

namespace pliant {

int run_command(const CommandLine& line, const std::vector<std::string>& args, std::ostream& out, std::ostream& err,
                const std::function<int(const Arguments&)>& command) {
  try {
    const Arguments arguments = read_arguments(line.command, args, line.most_words);
    if (arguments.has("help")) {
      out << line.usage << options_text(line.command);
      return 0;
    }
    return command(arguments);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) err << diagnostic.text() << "\n";
    return 2;
  } catch (const StorageError& error) {
    err << error.what() << "\n";
    return 1;
  }
}

}  // namespace pliant
