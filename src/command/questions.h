// Questions: asks the user at the terminal while a command runs.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "command/output.h"

#include <optional>
#include <stop_token>
#include <string>
#include <termios.h>

namespace zksh {

/// One per process. The terminal is standard input, or if that is none, the controlling terminal.
/// Only the foreground command asks, so there is one question at a time.
class Questions {
 public:
  /// `queue` is flushed before a question is shown.
  Questions(Monitor& monitor, OutputQueue& queue) : monitor_(monitor), queue_(queue) {}
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;
  ~Questions() = default;

  /// Whether there is a terminal with zksh in its foreground. From any thread.
  static bool possible();

  struct Question {
    std::string prompt;   ///< includes the separator from the answer
    std::string json{};   ///< printed on standard error instead of the prompt, unless empty
    bool hidden = false;  ///< the answer is not echoed
  };
  /// Asks the question and returns the line typed, without its newline. Discards what was typed
  /// before the question. nullopt after Ctrl-D, or if nobody can be asked. Blocks; throws Cancelled
  /// on a stop. Called on a command's thread, while nobody else reads the terminal. Restores the
  /// terminal's modes.
  std::optional<std::string> ask(const Question& question, const std::stop_token& stop);

  /// Restores the terminal before the process is stopped, and shows the question again afterwards.
  /// Main thread.
  void suspend();
  void resume();

 private:
  /// The question being asked.
  struct Asked {
    int fd = -1;
    Question question{};
    termios before{};  ///< the modes to restore
  };
  class Asking;

  static bool shows_prompt(const Question& question);
  void show(int terminal, const Question& question);
  void say(int terminal, const std::string& text);

  Monitor& monitor_;
  OutputQueue& queue_;
  Guarded<std::optional<Asked>> asked_;
};

}  // namespace zksh
