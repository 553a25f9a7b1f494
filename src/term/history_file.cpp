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
/// Stands for a line break within a line. Nobody types it.
constexpr char line_break = '\x1e';
/// After each line.
constexpr char fine_mark = ' ';
constexpr char mistake_mark = '\t';
/// Before a repeated line, in files of earlier releases: it was a mistake.
constexpr char old_mistake_mark = ' ';

/// A line as it stands in the file, and back.
std::string in_file(std::string line) {
  std::ranges::replace(line, '\n', line_break);
  return line;
}
std::string from_file(std::string line) {
  std::ranges::replace(line, line_break, '\n');
  return line;
}

bool is_home(const fs::path& directory) {
  const char* const home = std::getenv("HOME");
  return home && (directory / "").lexically_normal() == (fs::path(home) / "").lexically_normal();
}

/// Creates a directory and those above it, except the user's home, which is for others to create.
/// False with the reason in errno.
bool make_directories(const fs::path& directory) {
  if (directory.empty() || mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT || is_home(directory.parent_path())) return false;
  return make_directories(directory.parent_path()) &&
         (mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST);
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

/// False with the reason in errno.
bool write_whole(int fd, std::string_view bytes) {
  errno = FdWriter(fd, {}).write(bytes);
  return errno == 0;
}

/// The last `limit` bytes of a file of `size` bytes, from the first whole line on.
std::string read_tail(int fd, std::size_t size, std::size_t limit) {
  const std::size_t begin = size - std::min(size, limit);
  std::string text(size - begin, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t count = TEMP_FAILURE_RETRY(
        pread(fd, text.data() + filled, text.size() - filled, static_cast<off_t>(begin + filled)));
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  if (begin > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

/// The last `limit` lines of a text that a shell may have saved, with their marks.
std::vector<std::string> saved_entries(std::string_view text, std::size_t limit) {
  std::vector<std::string> lines;
  for (const auto line : lines_of(text))
    if (!line.empty() && line.find('\0') == std::string::npos && line.size() <= max_saved_line + 1)
      lines.emplace_back(line);
  if (lines.size() > limit) lines.erase(lines.begin(), lines.end() - static_cast<long>(limit));
  return lines;
}

/// The place of the mark of the last entry with this line, if there is any.
std::optional<std::size_t> mark_of(std::string_view text, const std::string& line) {
  const auto is_mark = [&](std::size_t at) {
    return at + 1 < text.size() && text[at + 1] == '\n' &&
           (text[at] == fine_mark || text[at] == mistake_mark);
  };
  for (auto at = text.rfind(line); at != std::string::npos;
       at = at == 0 ? std::string::npos : text.rfind(line, at - 1))
    if ((at == 0 || text[at - 1] == '\n') && is_mark(at + line.size())) return at + line.size();
  return std::nullopt;
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

/// Reports the failure in errno, unless errno is 0. `what`: "open" or "write".
void HistoryFile::cannot(const char* what) {
  if (errno != 0)
    fail(fmt::format("cannot {} {}: {}", what, options_.path->string(), std::strerror(errno)));
}

/// Reads the marks of the file's entries, and removes them.
std::vector<std::string> HistoryFile::lines_of_entries(const std::vector<std::string>& entries) {
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (const auto& entry : entries) {
    if (entry.front() == old_mistake_mark) {
      mistakes_.insert(from_file(entry.substr(1)));
      continue;
    }
    const bool marked = entry.back() == fine_mark || entry.back() == mistake_mark;
    auto line = from_file(entry.substr(0, entry.size() - (marked ? 1 : 0)));
    if (line.empty()) continue;
    if (entry.back() == mistake_mark)
      mistakes_.insert(line);
    else
      mistakes_.erase(line);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> HistoryFile::load() {
  const char* const home = std::getenv("HOME");
  const bool relative = home && *home && *home != '/';
  if (!options_.path) fail(relative ? "HOME is not an absolute path" : "HOME is not set");
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
  const auto entries = saved_entries(text, options_.max_lines);
  const auto count = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  if (!same && (size > options_.max_bytes || count > 2 * options_.max_lines)) {
    replace_file(*options_.path, entries);
    stat(options_.path->c_str(), &facts);
  }
  auto lines = lines_of_entries(entries);
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
  return lines;
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
         line.find_first_of({line_break, '\0'}) == std::string::npos;
}

void HistoryFile::set_mistake(const std::string& line, bool mistake) {
  const bool changed = mistake ? mistakes_.insert(line).second : mistakes_.erase(line) > 0;
  if (changed && may_save(line) && !options_.mask(line)) mark(line, mistake);
}

/// Changes no other byte, and so nothing that other shells write or have read.
void HistoryFile::mark(const std::string& line, bool mistake) {
  // Of what others have saved since, no more than this is searched.
  constexpr std::size_t searched = 4 * max_saved_line;
  const Fd file = open_locked(*options_.path);
  if (!file) return cannot("write");
  const auto size = size_of(file.get());
  const auto text = read_tail(file.get(), size, searched);
  const auto place = mark_of(text, in_file(line));
  if (!place) return;
  fcntl(file.get(), F_SETFL, 0);  // with O_APPEND, pwrite appends
  const char byte = mistake ? mistake_mark : fine_mark;
  if (pwrite(file.get(), &byte, 1, static_cast<off_t>(size - text.size() + *place)) != 1)
    cannot("write");
}

void HistoryFile::append(const std::string& line) {
  const fs::path& path = *options_.path;
  if (!make_directories(path.parent_path())) return cannot("write");
  const Fd file = open_locked(path);
  if (!file) return cannot("write");

  const std::size_t size = size_of(file.get());
  char last_byte = '\n';
  if (size > 0 && pread(file.get(), &last_byte, 1, static_cast<off_t>(size - 1)) != 1)
    last_byte = '\n';
  const std::string entry = (last_byte == '\n' ? "" : "\n") + in_file(line) + fine_mark + '\n';
  if (!write_whole(file.get(), entry)) {
    cannot("write");
    // A partial line would become part of the next one.
    [[maybe_unused]] const int done = ftruncate(file.get(), static_cast<off_t>(size));
    return;
  }
  own_.push_back(line);
  if (size + entry.size() <= 2 * options_.max_bytes) return;
  const std::string text = read_tail(file.get(), size + entry.size(), options_.max_bytes);
  replace_file(path, saved_entries(text, options_.max_lines));
}

}  // namespace zksh
