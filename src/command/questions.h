// Questions: asking the person at the terminal, while a command runs.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "command/output.h"

#include <optional>
#include <stop_token>
#include <string>
#include <termios.h>

namespace zksh {

/// One for the whole process. The terminal is standard input where that is one, else the one that
/// controls zksh. One question at a time: the command in the foreground is the only one that asks.
class Questions {
 public:
  /// `queue`: what was said before the question is printed before it.
  Questions(Monitor& monitor, OutputQueue& queue) : monitor_(monitor), queue_(queue) {}
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;
  ~Questions() = default;

  /// Whether there is a terminal, and zksh is in its foreground. From any thread.
  static bool possible();

  /// Shows the prompt, which ends with what separates it from the answer, and returns the line that
  /// is typed, without its newline; `hidden`: nothing of it is shown. What was typed before the
  /// question is no answer to it, and is dropped. nullopt: Ctrl-D, or nobody can be asked.
  /// Blocks, on a command's thread, where nobody else reads the terminal; throws Cancelled on a
  /// stop. The terminal is as it was when this returns or throws.
  std::optional<std::string> ask(const std::string& prompt, bool hidden,
                                 const std::stop_token& stop);

  /// Gives the terminal back for a stop of the process, and asks again after it. Main thread.
  void suspend();
  void resume();

 private:
  /// The question that waits for its answer.
  struct Asked {
    int fd = -1;
    std::string prompt;
    bool hidden = false;
    termios before{};  ///< the modes to go back to
  };
  class Asking;

  void say(int terminal, const std::string& text);

  Monitor& monitor_;
  OutputQueue& queue_;
  Guarded<std::optional<Asked>> asked_;
};

}  // namespace zksh
