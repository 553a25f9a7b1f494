// LockHold: holds a lock without a program, in the foreground or in a detached process.
#include "lock/hold.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/number.h"
#include "base/process.h"
#include "base/words.h"
#include "client/client.h"
#include "config/settings.h"
#include "lock/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace zksh {
namespace {

/// Waits for the end of standard input, on a thread that reads and discards what comes before. A
/// file, a device or a closed input, which end at once, count only with --hold.
class InputEnd {
 public:
  InputEnd(const Context& cx, const LockOptions& options) : monitor_(cx.monitor()) {
    const bool scripted = cx.input == Input::Arguments || cx.input == Input::Text;
    if (!scripted || options.until_signal) return;
    struct stat info {};
    terminal_ = isatty(STDIN_FILENO) == 1;
    const bool lasts = fstat(STDIN_FILENO, &info) == 0 &&
                       (terminal_ || S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
    if (!lasts) {
      monitor_.with_lock([&](const Monitor::Held& held) { reached_(held) = options.hold; });
      return;
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  bool reached(const Monitor::Held& held) const { return reached_(held); }

 private:
  void watch(const std::stop_token& stop) {
    // In the background, reading from the terminal would stop zksh, which could then not prove the
    // lock.
    sigset_t ttin;
    sigemptyset(&ttin);
    sigaddset(&ttin, SIGTTIN);
    pthread_sigmask(SIG_BLOCK, &ttin, nullptr);
    const StopFd stopped(stop);
    while (true) {
      const bool ours = !terminal_ || tcgetpgrp(STDIN_FILENO) == getpgrp();
      std::array<pollfd, 2> waiting{
          {{.fd = stopped.get(), .events = POLLIN, .revents = 0},
           {.fd = ours ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}}};
      poll(waiting.data(), waiting.size(), terminal_ ? 500 : -1);
      if (waiting[0].revents != 0) return;
      if (waiting[1].revents != 0 && ends()) break;
    }
    monitor_.change([&](const Monitor::Held& held) { reached_(held) = true; });
  }

  bool ends() const {
    if (terminal_ && tcgetpgrp(STDIN_FILENO) != getpgrp()) return false;
    std::array<char, 4096> thrown_away{};
    const auto count = read(STDIN_FILENO, thrown_away.data(), thrown_away.size());
    if (count > 0) return false;
    return count == 0 || (errno != EINTR && errno != EAGAIN);
  }

  Monitor& monitor_;
  bool terminal_ = false;
  Guarded<bool> reached_;
  std::jthread thread_;
};

/// Descriptors of the sh that starts the holder; the holder inherits the second.
constexpr int control_fd = 3;
constexpr int credentials_fd = 4;

/// The holder's parent is sh, not zksh: it can end without ending the holder, and leaves no zombie.
/// With setsid, a signal to sh's process group does not reach the holder.
constexpr const char* starter =
    "setsid \"$@\" 3>&- & echo \"pid $!\" >&3; exec >&- 2>&-; wait $!; echo \"ended $?\" >&3";

std::vector<std::string> holding_command(const Context& cx, const LockOptions& options) {
  auto words = cx.given.words();
  // The holder learns this zksh's settings only from its arguments.
  if (!options.acl)
    words.insert(words.begin() + 1, {"--acl", cx.services.settings.value("lock-acl")});
  std::erase(words, "--detach");
  // The holder's standard input is empty.
  words.insert(words.begin() + 1, "--until-signal");
  return words;
}

/// The commands that give another session this one's credentials; kept in memory only.
Fd credentials_script(Client& client) {
  std::string script;
  for (const auto& [scheme, secret] : client.credentials())
    script += as_words({"addauth", scheme, secret}) + '\n';
  Fd file(memfd_create("credentials", MFD_CLOEXEC));
  if (const int problem = FdWriter(file.get(), {}).write(script); problem != 0)
    throw Error(fmt::format("--detach: {}", strerror(problem)));
  return file;
}

/// The detached holder until it holds the lock, as seen by the zksh that started it.
class DetachedHolder {
 public:
  DetachedHolder(Context& cx, const LockOptions& lock)
      : cx_(cx), credentials_(credentials_script(cx.client)), sh_(cx.monitor(), starting(lock)) {
    control_.write_end.close();
    out_.write_end.close();
    err_.write_end.close();
  }

  /// Blocks until it holds the lock or has ended; returns the command's exit status.
  int await() {
    const StopFd stopped(cx_.stop);
    bool stopping = false;
    while (!ended_ && (held_.empty() || pid_ == 0)) {
      std::array<pollfd, 4> waiting{
          {poll_entry(control_),
           poll_entry(out_),
           poll_entry(err_),
           {.fd = stopping ? -1 : stopped.get(), .events = POLLIN, .revents = 0}}};
      poll(waiting.data(), waiting.size(), -1);
      if (waiting[2].revents != 0) pass_on_errors();
      if (waiting[1].revents != 0) take_result();
      if (waiting[0].revents != 0) take_control();
      // It leaves the queue and exits.
      if (waiting[3].revents != 0 && pid_ != 0) {
        stopping = true;
        kill(pid_, SIGTERM);
      }
    }
    pass_on_errors_left();
    if (stopping) throw Cancelled();
    if (held_.empty()) return ended_.value_or(status::failure);
    tell();
    return status::ok;
  }

 private:
  static pollfd poll_entry(const Pipe& pipe) {
    return {.fd = pipe.read_end.get(), .events = POLLIN, .revents = 0};
  }

  Program starting(const LockOptions& lock) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    std::vector<std::string> words{"/bin/sh", "-c", starter, "sh", program};
    const auto& options = cx_.services.settings.session_options;
    words.insert(words.end(), options.begin(), options.end());
    // This zksh reads its result and passes on its messages, so the format is this command's.
    const auto* const format = cx_.out.json() ? "--output=json" : "--output=plain";
    if (cx_.services.locks.quiet()) words.emplace_back("-q");
    for (const auto& word : {std::string("-s"), cx_.client.server(), std::string("-t"),
                             std::to_string(cx_.client.negotiated_timeout()), std::string(format)})
      words.push_back(word);
    Program sh{.words = {},
               .redirections = {{STDIN_FILENO, null_.get()},
                                {STDOUT_FILENO, out_.write_end.get()},
                                {STDERR_FILENO, err_.write_end.get()},
                                {control_fd, control_.write_end.get()}},
               .group = Program::Group::Session};
    if (!cx_.client.credentials().empty()) {
      words.insert(words.end(), {"-f", fmt::format("/dev/fd/{}", credentials_fd)});
      sh.redirections.push_back({credentials_fd, credentials_.get()});
    }
    words.insert(words.end(), {"-c", as_words(holding_command(cx_, lock))});
    sh.words = std::move(words);
    return sh;
  }

  /// If the output fails, ends the holder: nobody would know its pid, and it would never end.
  void tell() {
    try {
      if (cx_.out.json())
        cx_.out.line("{},\"pid\":{}}}", held_.substr(0, held_.rfind('}')), pid_);
      else
        cx_.out.line("{} {}", cx_.out.shown(held_), pid_);
      if (!cx_.out.await_accepted()) throw Cancelled();
    } catch (const Error&) {
      kill(pid_, SIGTERM);
      while (!ended_) {
        pollfd waiting = poll_entry(control_);
        if (poll(&waiting, 1, -1) > 0) take_control();
      }
      pass_on_errors_left();
      throw;
    }
  }

  /// Returns an empty text at the end of the pipe.
  static std::string next_bytes(Pipe& pipe) {
    std::array<char, 4096> buffer{};
    const auto count = read(pipe.read_end.get(), buffer.data(), buffer.size());
    if (count <= 0) pipe.read_end.close();
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }

  /// Passes on whole lines only: others may print between them.
  void pass_on_errors() {
    const auto bytes = next_bytes(err_);
    err_text_ += bytes;
    const auto end = bytes.empty() ? err_text_.size() : err_text_.rfind('\n') + 1;
    pass_on(err_text_.substr(0, end));
    err_text_.erase(0, end);
  }

  void pass_on(const std::string& text) {
    // The holder writes to a pipe, and so does not escape anything itself.
    const bool escape = cx_.out.style().err_is_terminal && !cx_.out.json();
    if (!text.empty()) cx_.out.err_regardless(escape ? escape_for_terminal(text, true) : text);
  }

  /// What the holder printed before it held the lock, or ended, is in the pipe by now.
  void pass_on_errors_left() {
    for (pollfd waiting = poll_entry(err_); err_.read_end && poll(&waiting, 1, 0) > 0;)
      pass_on_errors();
  }

  void take_result() {
    out_text_ += next_bytes(out_);
    const auto end = out_text_.find('\n');
    if (end != std::string::npos) held_ = out_text_.substr(0, end);
  }

  void take_control() {
    const auto bytes = next_bytes(control_);
    control_text_ += bytes;
    if (bytes.empty()) ended_ = status::failure;  // sh was killed
    for (auto end = control_text_.find('\n'); end != std::string::npos;
         end = control_text_.find('\n')) {
      const auto line = control_text_.substr(0, end);
      control_text_.erase(0, end + 1);
      const auto blank = line.find(' ');
      const int number = number_in<int>(std::string_view(line).substr(blank + 1)).value_or(0);
      if (line.starts_with("pid "))
        pid_ = number;
      else
        ended_ = number;
    }
  }

  Context& cx_;
  Fd null_{open("/dev/null", O_RDWR | O_CLOEXEC)};
  Fd credentials_;
  Pipe control_ = make_pipe();
  Pipe out_ = make_pipe();
  Pipe err_ = make_pipe();
  Process sh_;
  std::string control_text_;
  std::string out_text_;
  std::string err_text_;  ///< of an unfinished line
  std::string held_;      ///< what it printed when it held the lock: its node, or an object
  pid_t pid_ = 0;
  std::optional<int> ended_;
};

using namespace std::chrono_literals;

[[noreturn]] void fail(const std::string& file, int number) {
  throw Error(fmt::format("cannot write the token to {}: {}", file, strerror(number)));
}

bool is_special(const std::string& file) {
  struct stat info {};
  return stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

/// Returns 0 or an errno.
int write_text(const std::string& name, int flags, const std::string& text) {
  const Fd file(open(name.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644));
  if (!file) return errno;
  // A few bytes are written completely or not at all.
  const auto count = write(file.get(), text.data(), text.size());
  if (count < 0) return errno;
  return static_cast<std::size_t>(count) == text.size() ? 0 : ENOSPC;
}

/// Whether nobody reads the file yet, or the reader is slow.
bool is_blocked(const std::string& file, int problem) {
  struct stat info {};
  if (problem != ENXIO) return problem == EAGAIN;
  return stat(file.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
}

}  // namespace

Json holding_json(const Holding& holding) {
  auto json = Json::object().set("node", holding.nodes.front());
  if (holding.tokens.empty())
    json.set("token", token_json(holding.token));
  else
    json.set("tokens", Json::array(holding.tokens, token_json));
  return json;
}

int hold_lock(Context& cx, Lock& lock) {
  const auto& options = lock.options();
  auto& locks = cx.services.locks;
  ScopedLock held_lock(locks, lock);
  const auto until = options.hold_for ? Clock::now() + *options.hold_for : Clock::time_point::max();
  const auto holding = lock.status().holding;
  // If the lock is lost or revoked meanwhile, that is handled below.
  write_token_file(cx, lock);
  if (cx.out.json())
    cx.out.line("{}", holding_json(holding).text());
  else
    cx.out.line("{}", cx.out.shown(holding.nodes.front()));
  bool stopped = false;
  {
    const InputEnd input(cx, options);
    cx.monitor().wait_until(cx.stop, until, [&](const Monitor::Held& held) {
      return lock.is_gone(held) || input.reached(held);
    });
    stopped = cx.stop.stop_requested();
  }
  const bool reported = lock.status().is_gone();  // its keeper reports why
  held_lock.give_back();
  const auto now = lock.status();
  if (now.stage == LockStatus::Stage::Lost) {
    locks.forget(lock);
    return status::lock_lost;
  }
  if (now.stage == LockStatus::Stage::Released && !reported && !options.quiet)
    locks.say(released_line(lock, now));
  if (stopped) throw Cancelled();
  return status::ok;
}

int detach_lock(Context& cx, const LockOptions& options) {
  return DetachedHolder(cx, options).await();
}

bool write_token_file(const Context& cx, const Lock& lock) {
  if (!lock.options().token_file) return true;
  const auto& file = *lock.options().token_file;
  const auto text = tokens_text(lock.status().holding) + "\n";
  if (is_special(file)) {
    // Opened anew each time: O_NONBLOCK must not be set for others that have it open.
    for (int problem = 0; (problem = write_text(file, O_NONBLOCK, text)) != 0;) {
      if (!is_blocked(file, problem)) fail(file, problem);
      const bool unwanted =
          cx.monitor().wait_until(cx.stop, Clock::now() + 10ms,
                                  [&](const Monitor::Held& held) { return !lock.is_wanted(held); });
      if (cx.stop.stop_requested()) throw Cancelled();
      if (unwanted) return false;
    }
    return true;
  }
  // In the same directory, so that rename replaces the file atomically.
  const auto fresh = fmt::format("{}.{}.new", file, getpid());
  int problem = write_text(fresh, O_CREAT | O_TRUNC | O_NOFOLLOW, text);
  if (problem == 0 && rename(fresh.c_str(), file.c_str()) != 0) problem = errno;
  if (problem == 0) return true;
  unlink(fresh.c_str());
  fail(file, problem);
}

}  // namespace zksh
