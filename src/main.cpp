// zksh: parses process options, and starts an interactive shell, a script or a single command.
#include "base/process.h"
#include "base/process_setup.h"
#include "base/secrets.h"
#include "base/words.h"
#include "command/report.h"
#include "config/security_settings.h"
#include "shell/arguments.h"
#include "shell/inquiry.h"
#include "shell/run.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <malloc.h>
#include <new>
#include <nss.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>
#include <vector>

namespace {

/// Ensures that descriptors 0 to 2 are open, so that no socket becomes standard output. A closed
/// one is replaced by a descriptor on which writes fail, as they would have.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) _exit(zksh::status::failure);
}

/// Prevents core dumps, and other processes of the user from reading this one's memory: passwords
/// are in typed lines, in auth files and in the C client while it runs. Programs that it starts are
/// not affected.
void keep_memory_to_itself() { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// zksh's parent may have ignored SIGCHLD. If zksh inherited that, it could not wait for any
/// program's exit status.
void receive_exit_statuses() { std::signal(SIGCHLD, SIG_DFL); }

/// Uses one heap for all threads: a heap per thread costs every short run a tenth of a millisecond
/// or more, and contention never costs long runs as much.
void use_one_heap() { mallopt(M_ARENA_MAX, 1); }

#ifdef ZKSH_PORTABLE
/// Looks names up with the services in this file. /etc/nsswitch.conf may name others (systemd, sss,
/// mymachines): their libraries need this machine's own C library, and end a static program.
void look_up_names_alone() {
  __nss_configure_lookup("hosts", "files dns");
  for (const char* database : {"passwd", "group", "services", "networks", "protocols"})
    __nss_configure_lookup(database, "files");
}
#else
void look_up_names_alone() {}
#endif

/// Whether a command has a password in its words, rather than the name of a file with it.
bool names_password(const std::string& command) {
  if (!zksh::mask_secrets(command)) return false;
  const auto places = zksh::word_places(command);
  if (places.size() < 3 || command.substr(places[0].begin, 7) != "addauth") return false;
  const auto credential = std::string_view(command).substr(places[2].begin);
  const auto colon = credential.find(':');
  return !credential.starts_with('@') && colon != std::string_view::npos &&
         credential.substr(colon, 2) != ":@";
}

/// Overwrites the words of the command line that contain secrets, which ps would show to everybody.
/// Returns whether there was a password among them.
bool hide_secrets(std::span<char* const> words, const std::vector<std::string>& command) {
  bool found = names_password(fmt::format("{}", fmt::join(command, " ")));
  std::string line;
  std::string one_shot;
  auto before = words.size() - std::min(words.size(), command.size());  // zksh's own options
  for (char* const word : words) {
    line += line.empty() ? "" : " ";
    line += word;
    if (before > 0) {
      --before;
    } else {
      one_shot += one_shot.empty() ? "" : " ";
      one_shot += word;
    }
    // A script's text alone, or a command's words after its name.
    auto commands = zksh::split_commands(word);
    commands.push_back(line);
    commands.push_back(one_shot);
    if (std::ranges::none_of(
            commands, [](const std::string& one) { return zksh::mask_secrets(one).has_value(); }))
      continue;
    found = found || std::ranges::any_of(commands, names_password);
    std::fill_n(word, std::strlen(word), '*');
  }
  return found;
}

/// Reports an error that ends zksh, and returns its status.
int fail(const std::vector<std::string>& words, const zksh::Error& error) {
  if (zksh::choose_json(words))
    fmt::print(stderr, "{}", zksh::error_line(error));
  else
    fmt::print(stderr, "zksh: {}\n", error.what());
  return error.exit_status();
}

int run_zksh(int argc, char** argv) {
  keep_memory_to_itself();
  zksh::remember_command_line(argv);
  zksh::remember_ignored_signals();
  use_one_heap();
  receive_exit_statuses();
  look_up_names_alone();
  open_standard_streams();
  const std::span<char*> given(argv + std::min(argc, 1), argv + argc);
  const std::vector<std::string> words(given.begin(), given.end());
  try {
    if (const auto answered = zksh::answer_inquiry(words)) return *answered;
    auto arguments = zksh::parse_arguments(words, argc > 0 ? argv[0] : "zksh");
    zksh::require_resources();
    if (hide_secrets(given, arguments.command) && !arguments.drop_in)
      zksh::add_warning(arguments.warning,
                        "other users can see a password on the command line (ps); `addauth digest "
                        "USER` asks for it, and --auth-file reads it from a file");
    return zksh::run(arguments);
  } catch (const zksh::Error& error) {
    return fail(words, error);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "zksh: out of memory\n");
    return zksh::status::failure;
  } catch (const std::exception& exception) {
    return fail(words, zksh::error_for(exception));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run_zksh(argc, argv);
#ifdef ZKSH_ENDS_AT_ONCE
  // Nothing that lives as long as the process is destroyed: that takes 3 % of a one-shot command,
  // and the wires' thread may be using it.
  std::fflush(nullptr);
  _exit(status);
#else
  return status;
#endif
}
