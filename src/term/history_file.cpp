// HistoryFile: the lines of earlier runs, saved one by one and shared by all shells of a user.
#include "term/history_file.h"

#include "base/fd.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace zksh {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_saved_line = std::size_t{64} << 10U;
constexpr mode_t owner_only = 0600;
constexpr char mistake_mark = ' ';

void make_directories(const fs::path& directory) {
  if (directory.empty() || mkdir(directory.c_str(), 0700) == 0 || errno != ENOENT) return;
  make_directories(directory.parent_path());
  mkdir(directory.c_str(), 0700);
}

/// Another shell holds the lock only for one write. If it was stopped meanwhile, do not wait for
/// it: losing or repeating a line is the lesser harm.
void lock(int fd) {
  for (int attempt = 0; attempt < 20 && flock(fd, LOCK_EX | LOCK_NB) != 0; ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Whether the path still refers to this open file: a shell that shortened it has replaced it.
bool still_at(const fs::path& path, int fd) {
  struct stat opened {};
  struct stat named {};
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/// None with the reason in errno, which is 0 if the user has disabled the file.
Fd open_locked(const fs::path& path) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    // Non-blocking, in case it is a named pipe.
    constexpr int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    Fd fd(open(path.c_str(), flags, owner_only));
    struct stat facts {};
    if (!fd || fstat(fd.get(), &facts) != 0) return {};
    if (!S_ISREG(facts.st_mode)) {
      errno = S_ISCHR(facts.st_mode) ? 0 : EINVAL;
      return {};
    }
    if ((facts.st_mode & 0077U) != 0) fchmod(fd.get(), owner_only);
    lock(fd.get());
    if (still_at(path, fd.get())) return fd;
  }
  errno = EBUSY;
  return {};
}

bool write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// The last `limit` bytes of a file of `size` bytes, from the first whole line on.
std::string read_tail(int fd, std::size_t size, std::size_t limit) {
  const std::size_t begin = size - std::min(size, limit);
  std::string text(size - begin, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t count =
        pread(fd, text.data() + filled, text.size() - filled, static_cast<off_t>(begin + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  if (begin > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

/// The last `limit` lines of a text that a shell may have saved.
std::vector<std::string> saved_lines(std::string_view text, std::size_t limit) {
  std::vector<std::string> lines;
  for (const auto line : lines_of(text))
    if (!line.empty() && line.find('\0') == std::string::npos && line.size() <= max_saved_line)
      lines.emplace_back(line);
  if (lines.size() > limit) lines.erase(lines.begin(), lines.end() - static_cast<long>(limit));
  return lines;
}

std::size_t size_of(int fd) {
  struct stat facts {};
  return fstat(fd, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
}

/// Replaces the locked file by one with only these lines. Shells that wait for the lock then see
/// that the path refers to another file.
void replace_file(const fs::path& path, const std::vector<std::string>& lines) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);  // keeps a symbolic link
  if (error) return;
  std::string text;
  for (const auto& line : lines) (text += line) += '\n';
  std::string name = target.string() + ".XXXXXX";
  const Fd fd(mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return;
  if (!write_whole(fd.get(), text) || rename(name.c_str(), target.c_str()) != 0)
    unlink(name.c_str());
}

}  // namespace

std::optional<fs::path> default_history_path() {
  const auto absolute = [](const char* name) -> std::optional<fs::path> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value != '/') return std::nullopt;
    return value;
  };
  if (const auto state = absolute("XDG_STATE_HOME")) return *state / "zksh/history";
  if (const auto home = absolute("HOME")) return *home / ".local/state/zksh/history";
  return std::nullopt;
}

void HistoryFile::fail(const std::string& reason) {
  if (!std::exchange(warned_, true)) options_.warn("the history is not saved: " + reason);
}

/// Reports the failure in errno, unless it is none. `what`: "open" or "write".
void HistoryFile::cannot(const char* what) {
  if (errno != 0)
    fail(fmt::format("cannot {} {}: {}", what, options_.path->string(), std::strerror(errno)));
}

/// Reads and drops the marks among the file's lines.
std::vector<std::string> HistoryFile::without_marks(std::vector<std::string> entries) {
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (auto& entry : entries) {
    if (entry.front() == mistake_mark) {
      mistakes_.insert(entry.substr(1));
    } else {
      mistakes_.erase(entry);
      lines.push_back(std::move(entry));
    }
  }
  return lines;
}

std::vector<std::string> HistoryFile::load() {
  if (!options_.path) fail("HOME is not set");
  auto lines = read_new();
  if (!lines.empty()) last_ = lines.back();
  return lines;
}

std::vector<std::string> HistoryFile::read_new() {
  struct stat facts {};
  if (!options_.path || (stat(options_.path->c_str(), &facts) != 0 && errno == ENOENT)) return {};
  const Fd file = open_locked(*options_.path);
  if (!file || fstat(file.get(), &facts) != 0) {
    cannot("open");
    return {};
  }
  const auto size = static_cast<std::size_t>(facts.st_size);
  const bool same =
      facts.st_dev == seen_.device && facts.st_ino == seen_.inode && size >= seen_.size;
  const std::size_t from = same ? seen_.size : 0;
  // read_tail drops everything up to the first newline, which is the one before `from`.
  const std::size_t wanted = size - from + (from > 0 ? 1 : 0);
  const auto text = read_tail(file.get(), size, std::min(wanted, options_.max_bytes));
  auto lines = saved_lines(text, options_.max_lines);
  const auto count = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  if (!same && (size > options_.max_bytes || count > 2 * options_.max_lines)) {
    replace_file(*options_.path, lines);
    stat(options_.path->c_str(), &facts);
  }
  // A file that was shortened meanwhile starts elsewhere.
  if (const auto known = std::find(lines.rbegin(), lines.rend(), seen_.line);
      !same && known != lines.rend())
    lines.erase(lines.begin(), known.base());
  seen_ = {.device = facts.st_dev,
           .inode = facts.st_ino,
           .size = static_cast<std::size_t>(facts.st_size),
           .line = lines.empty() ? seen_.line : lines.back()};
  // From the end: the line that called this is the latest.
  while (!own_.empty()) {
    const auto mine = std::find(lines.rbegin(), lines.rend(), own_.back());
    if (mine != lines.rend()) lines.erase(std::next(mine).base());
    own_.pop_back();
  }
  return without_marks(std::move(lines));
}

std::optional<std::string> HistoryFile::add(const std::string& line) {
  if (line.empty() || line.front() == ' ' || line.front() == '\t') return std::nullopt;
  const std::optional<std::string> masked = options_.mask(line);
  const std::string& text = masked ? *masked : line;
  if (text == last_) return std::nullopt;
  last_ = text;
  mistakes_.erase(text);
  if (!masked && may_save(line)) append(line);
  return text;
}

bool HistoryFile::may_save(const std::string& line) const {
  return options_.path && !line.empty() && line.front() != ' ' && line.front() != '\t' &&
         line.size() <= max_saved_line &&
         line.find_first_of(std::string_view("\n\0", 2)) == std::string::npos;
}

void HistoryFile::set_mistake(const std::string& line, bool mistake) {
  const bool changed = mistake ? mistakes_.insert(line).second : mistakes_.erase(line) > 0;
  // A repeated line was not saved again: this says that it is right now.
  if (changed && may_save(line) && !options_.mask(line))
    append(mistake ? mistake_mark + line : line);
}

void HistoryFile::append(const std::string& line) {
  const fs::path& path = *options_.path;
  make_directories(path.parent_path());
  const Fd file = open_locked(path);
  if (!file) return cannot("write");

  const std::size_t size = size_of(file.get());
  char last_byte = '\n';
  if (size > 0 && pread(file.get(), &last_byte, 1, static_cast<off_t>(size - 1)) != 1)
    last_byte = '\n';
  const std::string entry = (last_byte == '\n' ? "" : "\n") + line + '\n';
  if (!write_whole(file.get(), entry)) {
    cannot("write");
    // A partial line would become part of the next one.
    [[maybe_unused]] const int done = ftruncate(file.get(), static_cast<off_t>(size));
    return;
  }
  own_.push_back(line);
  if (size + entry.size() <= 2 * options_.max_bytes) return;
  const std::string text = read_tail(file.get(), size + entry.size(), options_.max_bytes);
  replace_file(path, saved_lines(text, options_.max_lines));
}

}  // namespace zksh
