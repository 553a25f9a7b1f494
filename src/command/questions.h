// Questions: asks the user at the terminal while a command runs.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "command/command.h"
#include "command/output.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/eventfd.h>
#include <termios.h>

namespace zksh {

/// One per process. The terminal is standard input, or, if that is not a terminal, the controlling
/// terminal. Only the foreground command asks, so there is one question at a time.
class Questions {
 public:
  /// A question is shown below what is queued. show and hide are called as output is printed.
  /// `wake_fd`: an eventfd, not owned, that wakes the main thread.
  Questions(Monitor& monitor, OutputQueue& queue, int wake_fd)
      : monitor_(monitor), queue_(queue), wake_fd_(wake_fd) {}
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;
  ~Questions() = default;

  /// Whether there is a terminal with zksh in its foreground. From any thread.
  static bool possible();

  struct Question {
    std::string prompt;   ///< includes the separator from the answer
    std::string json{};   ///< printed on standard error instead of the prompt, unless empty
    bool hidden = false;  ///< the answer is not echoed
    char key = 0;  ///< if set, this key alone is the answer; others are dropped, none is echoed
  };
  /// A question is asked while it lives; then the terminal has its modes again.
  class Asking;
  /// Asks the question, from now on. Discards what was typed before. Null if nobody can be asked.
  /// Called on a command's thread, while nobody else reads the terminal.
  std::unique_ptr<Asking> begin(const Question& question, const std::stop_token& stop);
  /// Asks the question and returns its answer, see Asking::answer; nullopt, too, if nobody can be
  /// asked.
  std::optional<std::string> ask(const Question& question, const std::stop_token& stop);

  /// Restores the terminal before the process is stopped, and shows the question again afterwards.
  /// Main thread.
  void suspend();
  void resume();
  /// Restores the terminal, and lets the question go without an answer. Main thread.
  void give_up();
  /// Whether the terminal echoes what is typed, such as ^C. Main thread.
  bool echoes();

  /// Shows the question if it is not on the screen, with what has been typed. `at_row_begin`: the
  /// last output ended its line. Returns a descriptor that must become writable first, else -1.
  /// Main thread.
  int show(bool at_row_begin);
  /// Makes room for output: erases the question, until show() is called again. What was typed so
  /// far stays part of the answer. Main thread.
  void hide();

 private:
  /// The question being asked.
  struct Asked {
    int fd = -1;
    int wake_fd = -1;  ///< written when `typed` is a whole line
    std::stop_token stop{};
    Question question{};
    termios before{};     ///< the modes to restore
    std::string typed{};  ///< what has been read of the answer
    bool shown = false;   ///< is on the screen
    bool moved = false;   ///< has been hidden
    bool suspended = false;
    bool over = false;  ///< has been answered

    bool is_open() const { return !over && !suspended && !stop.stop_requested(); }
  };

  std::optional<bool> take_typed(int wake_fd);

  Monitor& monitor_;
  OutputQueue& queue_;
  int wake_fd_;
  Guarded<std::optional<Asked>> asked_;
};

class Questions::Asking {
 public:
  Asking(Questions& questions, const Question& question, const std::stop_token& stop, Fd terminal,
         const termios& before);
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking();

  /// The line typed, without its newline; nullopt after Ctrl-D, or if the question was given up.
  /// Blocks; throws Cancelled on a stop. On any one thread.
  std::optional<std::string> answer();
  int terminal() const { return asked_.fd; }

 private:
  Questions& questions_;
  Fd terminal_;
  Fd wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Asked asked_;
};

/// Whether a command must ask before it removes nodes: not with `yes` (--yes), with the setting
/// confirm off, on piped input, in a dry run, or if nobody can be asked. Throws UsageError in the
/// background, where the question would never be seen.
bool needs_confirmation(const Context& cx, bool yes);

/// Work on many nodes that cannot be undone.
struct PlannedWork {
  std::string what;    ///< for the question, a sentence: "/app: 3 nodes."
  std::string word;    ///< what must be typed for many nodes, or on production servers
  std::string path{};  ///< what may be typed instead
  std::size_t nodes = 0;
  std::string verb = "delete";
  std::string done = "deleted";
};
/// Asks whether to do it, more insistently for many nodes. Returns why nothing is done, or nullopt
/// to go on. Blocks until the answer; throws Cancelled on a stop.
std::optional<std::string> refusal_of(const Context& cx, const PlannedWork& work);

/// Asks a yes-or-no question; anything but a yes is a no. Blocks until the answer; throws Cancelled
/// on a stop.
bool confirmed_by_user(const Context& cx, const std::string& question);

}  // namespace zksh
