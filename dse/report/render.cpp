// SPDX-License-Identifier: Apache-2.0
#include "dse/report/render.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "dse/report/resources.h"

extern char** environ;

namespace pliant {

namespace fs = std::filesystem;

namespace {

struct Outcome {
  int code = 0;
  std::string errors;  ///< what it wrote to its error stream
};

/// Runs a program (looked for in PATH) to its end.
Outcome run(std::vector<std::string> words) {
  std::array<int, 2> pipe_ends{};
  if (::pipe(pipe_ends.data()) != 0) throw RenderError(std::string("no pipe: ") + std::strerror(errno));
  ::fcntl(pipe_ends[0], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  ::posix_spawn_file_actions_addclose(&actions, pipe_ends[1]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int failed = ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  Outcome outcome;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; failed == 0 && (got = ::read(pipe_ends[0], buffer.data(), buffer.size())) > 0;)
    outcome.errors.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(pipe_ends[0]);
  if (failed != 0) return {127, std::strerror(failed)};
  int status = 0;
  ::waitpid(process, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return outcome;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::string find_chart_python() {
  if (const char* wish = std::getenv("PLIANT_PYTHON"); wish != nullptr && *wish != '\0') return wish;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  // build/<preset>/bin/pliant, and the programs of the tests beside bin.
  for (const char* relative : {"../../..", "../.."}) {
    const fs::path venv = (program.parent_path() / relative).lexically_normal() / ".venv/bin/python";
    if (!program.empty() && fs::exists(venv, error)) return venv.string();
  }
  return "python3";
}

void render_png(const std::vector<fs::path>& files, double scale, const std::string& python) {
  const std::string interpreter = python.empty() ? find_chart_python() : python;
  if (const Outcome probe = run({interpreter, "-I", "-c", "import vl_convert"}); probe.code != 0)
    throw RenderError(
        fmt::format("{} cannot draw pictures: {}; set PLIANT_PYTHON to a Python that has vl-convert "
                    "(pip install vl-convert-python), or run scripts/setup",
                    interpreter, last_line(probe.errors)));
  std::vector<std::string> words{interpreter, "-I", "-c", resource("render_png.py"), fmt::format("{}", scale)};
  for (const fs::path& file : files) words.push_back(file.string());
  if (const Outcome drawn = run(std::move(words)); drawn.code != 0)
    throw RenderError("vl-convert: " + last_line(drawn.errors));
}

}  // namespace pliant
