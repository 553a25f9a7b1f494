// ScratchDirectory: the temporary directory, and the janitor process that removes it.
#include "base/scratch_directory.h"

#include "base/error.h"
#include "base/process_setup.h"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace zksh {
namespace {

// $1: mktemp's template. The janitor creates the directory itself, so that it never exists without
// one, and outlives zksh (SIGPIPE) from then on. A pid may have been reused, so a process is killed
// only if it works in the directory. A killed process takes a moment to end, and may create a file
// while rm is at work.
constexpr const char* janitor_script = R"(trap "" HUP INT PIPE QUIT TERM
directory=$(mktemp -d -- "$1") || exit
printf %s "$directory"
exec >/dev/null 2>&1
real=$(cd -- "$directory" && pwd -P)
pids=
while read -r pid; do pids="$pids $pid"; done
for pid in $pids; do
  case $(readlink "/proc/$pid/cwd") in "$real"/*) kill -KILL "$pid" ;; esac
done
tries=0
while ! rm -rf -- "$directory" && [ $tries -lt 200 ]; do
  tries=$((tries + 1))
  sleep 0.02
done)";

constexpr const char* register_script = R"(echo $$ >&3 && exec "$@" 3>&-)";

std::string directory_template(const std::string& name) {
  return std::filesystem::absolute(environment("TMPDIR", "/tmp")) / (name + ".XXXXXX");
}

}  // namespace

ScratchDirectory::ScratchDirectory(Monitor& monitor, const std::string& name) : monitor_(monitor) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  janitor_.emplace(monitor, Program{.words = {"/bin/sh", "-c", janitor_script, "janitor",
                                              directory_template(name)},
                                    .directory = "/",
                                    .redirections = {{STDIN_FILENO, input.read_end.get()},
                                                     {STDOUT_FILENO, output.write_end.get()},
                                                     {STDERR_FILENO, output.write_end.get()}},
                                    .group = Program::Group::Session});
  output.write_end.close();
  const std::string answer = read_all(output.read_end.get(), "the directory's name");
  if (!std::filesystem::is_directory(answer))
    throw Error("cannot create a temporary directory: " + answer.substr(0, answer.find('\n')));
  path_ = answer;
  pipe_ = std::move(input.write_end);
}

ScratchDirectory::~ScratchDirectory() {
  pipe_.close();
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  monitor_.wait_until({}, deadline, [this](const Monitor::Held& held) {
    return janitor_->status(held).has_value();
  });
  std::error_code ignored;  // something is left only if the janitor itself was killed
  std::filesystem::remove_all(path_, ignored);
}

Program ScratchDirectory::guarded(Program program) const {
  std::vector<std::string> words = {"/bin/sh", "-c", register_script, "starting"};
  words.insert(words.end(), program.words.begin(), program.words.end());
  program.words = std::move(words);
  program.redirections.push_back({3, pipe_.get()});
  program.group = Program::Group::Session;
  return program;
}

}  // namespace zksh
