// Terminal: the terminal's properties, and restoring its modes on every exit.
#pragma once

#include <optional>
#include <termios.h>

namespace zksh {

struct ScreenSize {
  int columns = 80;
  int rows = 24;
};

bool is_terminal(int fd);
/// The size of the terminal on `fd`, or, if that is unknown, $COLUMNS and $LINES, or 80 by 24.
ScreenSize screen_size(int fd);
/// Whether TERM is unset, empty or "dumb": no escape sequence may be sent.
bool terminal_is_dumb();

/// Sets LC_CTYPE to a UTF-8 locale, whatever the environment says, since ZooKeeper's names are
/// UTF-8. Returns true if the environment's charset is another one. Call it before starting
/// threads.
bool use_utf8_locale();

/// Saves the modes of a terminal, and restores them in its destructor and when a fatal signal
/// (SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL) ends the process. One at a time; main thread only.
/// Does nothing if `fd` is not a terminal.
class Terminal {
 public:
  explicit Terminal(int fd);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  /// Restores the saved modes now: after a child that had the terminal was killed. Does nothing
  /// while another process group owns the terminal.
  void restore();

 private:
  int fd_;
  std::optional<termios> modes_;
};

/// While `on`, a fatal signal also disables bracketed paste.
void note_bracketed_paste(bool on);

}  // namespace zksh
