// History file: the lines of earlier runs, saved one by one and shared by all shells of a user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// $XDG_STATE_HOME/zksh/history, by default ~/.local/state/zksh/history; nullopt without a home.
std::optional<std::filesystem::path> default_history_path();

/// Plain text, a line each, mode 0600, in directories of mode 0700 that it makes when needed. Every
/// write happens under flock and at the end of the file. A failure is reported once and does no
/// more harm; a character device (a link to /dev/null) switches the file off without a word.
class HistoryFile {
 public:
  struct Options {
    std::optional<std::filesystem::path> path;
    /// nullopt, or the line with its secrets masked: such a line is never written.
    std::function<std::optional<std::string>(std::string_view)> mask;
    /// Gets one sentence without newline, at most once.
    std::function<void(const std::string&)> warn;
    std::size_t max_lines = 10'000;
    std::size_t max_bytes = std::size_t{2} << 20U;  ///< the file may grow to twice that in a run
  };

  explicit HistoryFile(Options options) : options_(std::move(options)) {}

  /// The saved lines, oldest first, within the bounds. Shortens a file that has outgrown them.
  /// A missing file is an empty one.
  std::vector<std::string> load();

  /// The lines that others have saved since `load`, or since this was called last, oldest first,
  /// within the same bounds. Waits as add.
  std::vector<std::string> read_new();

  /// Saves a line that was run, and returns it as it is to be remembered in memory: masked, if it
  /// carries a secret. nullopt: not to be remembered, because it begins with a blank, is empty, or
  /// repeats the line before. Lines over 64 KiB and lines with a newline or NUL are not saved.
  /// Waits at most a tenth of a second for another shell.
  std::optional<std::string> add(const std::string& line);

 private:
  /// How far the file was read.
  struct Seen {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::size_t size = 0;
    std::string line{};  ///< the last one
  };

  void append(const std::string& line);
  void fail(const std::string& reason);

  Options options_;
  std::string last_;
  Seen seen_;
  std::vector<std::string> own_;  ///< that were saved since
  bool warned_ = false;
};

}  // namespace zksh
