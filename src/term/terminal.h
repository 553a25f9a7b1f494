// Terminal: what is known of the terminal, and giving it back as it was on every way out.
#pragma once

#include <optional>
#include <string_view>
#include <termios.h>

namespace zksh {

struct ScreenSize {
  int columns = 80;
  int rows = 24;

  bool operator==(const ScreenSize&) const = default;
};

bool is_terminal(int fd);
/// The size of the terminal behind `fd`; where it does not know, $COLUMNS and $LINES, or 80 by 24.
ScreenSize screen_size(int fd);
/// Whether TERM is unset, empty or "dumb": no escape sequence may be sent.
bool terminal_is_dumb();

/// Makes LC_CTYPE a UTF-8 one, as ZooKeeper's names are, whatever the environment says. True when
/// the environment asked for another one. Call it before other threads start.
bool use_utf8_locale();

/// Remembers the modes of a terminal, and puts them back in its destructor and when a fatal signal
/// (SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL) ends the process. One at a time; main thread only.
/// Nothing happens where `fd` is no terminal.
class Terminal {
 public:
  explicit Terminal(int fd);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  /// Puts the remembered modes back now: after a child was killed with the terminal in its hands.
  /// Does nothing while another process group owns the terminal.
  void restore();
  /// Remembers the modes as they are now, as those to be restored from here on.
  void remember();
  /// Makes this process group the terminal's foreground one again. False when that is impossible.
  bool take_foreground() const;

 private:
  int fd_;
  std::optional<termios> modes_;
};

/// While true, a fatal signal also switches off what the line editor switched on in the terminal.
void note_bracketed_paste(bool on);

}  // namespace zksh
