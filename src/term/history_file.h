// HistoryFile: the lines of earlier runs, saved one by one and shared by all shells of a user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// $XDG_STATE_HOME/zksh/history, by default ~/.local/state/zksh/history; nullopt without a home
/// directory.
std::optional<std::filesystem::path> default_history_path();

/// A text file with mode 0600, in directories with mode 0700 that are created as needed. Lines are
/// appended, under flock. A failure is reported once and otherwise ignored; a character device (a
/// link to /dev/null) silently disables the file. Lines that begin with a blank are not saved. Each
/// line is saved with a blank after it, which is replaced by a tab if the line turns out to be a
/// mistake. Earlier releases saved no blank, and repeated a mistake after a blank.
class HistoryFile {
 public:
  struct Options {
    std::optional<std::filesystem::path> path;
    /// Returns the line with its secrets masked, or nullopt if it has none. A line with secrets is
    /// never written to the file.
    std::function<std::optional<std::string>(std::string_view)> mask;
    /// Called with a sentence without newline, at most once.
    std::function<void(const std::string&)> warn;
    std::size_t max_lines = 10'000;
    std::size_t max_bytes = std::size_t{2} << 20U;  ///< may grow to twice that during a run
  };

  explicit HistoryFile(Options options) : options_(std::move(options)) {}

  /// The saved lines, oldest first, within the limits. Shortens a file that exceeds them. A missing
  /// file counts as empty.
  std::vector<std::string> load();

  /// The lines that others have saved since `load` or the last call, oldest first, within
  /// the limits. Shortens a file that another shell has replaced by a longer one. Waits as add
  /// does.
  std::vector<std::string> read_new();

  /// Saves a line that was run, and returns it as the history in memory should keep it: masked if
  /// it has a secret. nullopt if it should not be kept, because it begins with a blank, is empty,
  /// or repeats the previous line. Does not save lines over 64 KiB, or with a NUL or the byte that
  /// stands for a newline in the file. Waits at most a tenth of a second for another shell.
  std::optional<std::string> add(const std::string& line);

  /// Saves whether a line that was added is a mistake, if that has changed. Waits as add does.
  /// Shells that have read the line before do not hear of it.
  void set_mistake(const std::string& line, bool mistake);
  /// Whether the line was a mistake when it last ran, in this shell or one whose lines were read.
  bool is_mistake(std::string_view line) const { return mistakes_.contains(line); }

 private:
  /// How far the file was read.
  struct Seen {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::size_t size = 0;
    std::string line{};  ///< the last line read
  };

  bool may_save(const std::string& line) const;
  std::vector<std::string> lines_of_entries(const std::vector<std::string>& entries);
  void append(const std::string& line);
  void mark(const std::string& line, bool mistake);
  void fail(const std::string& reason);
  void cannot(const char* what);

  Options options_;
  std::string last_;
  std::set<std::string, std::less<>> mistakes_;
  Seen seen_;
  std::vector<std::string> own_;  ///< lines saved since
  bool warned_ = false;
};

}  // namespace zksh
