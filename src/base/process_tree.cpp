// ProcessTree: lists the descendants of a process, without the heap.
#include "base/process_tree.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/number.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::size_t most = 65536;
constexpr std::size_t bytes = most * sizeof(pid_t);

/// The path of a process's file below /proc.
class ProcPath {
 public:
  explicit ProcPath(pid_t process) { add("/proc/").add(process); }
  const char* text() const { return text_.data(); }
  ProcPath& add(std::string_view part) {
    for (const char c : part)
      if (size_ + 1 < text_.size()) text_[size_++] = c;
    return *this;
  }
  ProcPath& add(pid_t number) {
    std::array<char, 12> digits{};
    return add({digits.begin(), std::to_chars(digits.begin(), digits.end(), number).ptr});
  }

 private:
  std::array<char, 96> text_{};
  std::size_t size_ = 0;
};

}  // namespace

void require_process_tree() {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self", none).string();
  if (none) throw Error("/proc is not mounted; `mount -t proc proc /proc` mounts it");
  if (self != std::to_string(getpid()))
    throw Error(
        "/proc shows the processes of another PID namespace; `mount -t proc proc /proc` or "
        "`unshare --mount-proc` mounts the right one");
  if (access(ProcPath(getpid()).add("/task/").add(getpid()).add("/children").text(), R_OK) != 0)
    throw Error("/proc does not list the children of processes (CONFIG_PROC_CHILDREN)");
}

ProcessTree::ProcessTree() {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  found_ = static_cast<pid_t*>(memory);
}

ProcessTree::~ProcessTree() { munmap(found_, bytes); }

std::span<const pid_t> ProcessTree::children(pid_t process) {
  count_ = 0;
  add_children(process);
  return {found_, count_};
}

std::span<const pid_t> ProcessTree::descendants(pid_t process) {
  count_ = 0;
  add_children(process);
  for (std::size_t i = 0; i < count_; ++i) add_children(found_[i]);
  return {found_, count_};
}

void ProcessTree::add_children(pid_t process) {
  const Fd threads(open(ProcPath(process).add("/task").text(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!threads) return;
  alignas(std::uint64_t) std::array<char, 2048> entries{};
  // struct linux_dirent64 (getdents(2)): two 8-byte numbers, the entry's length, its type, its
  // name.
  constexpr std::size_t length_at = 16;
  constexpr std::size_t name_at = 19;
  for (;;) {
    const auto size = syscall(SYS_getdents64, threads.get(), entries.data(), entries.size());
    if (size <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      std::uint16_t length = 0;
      std::memcpy(&length, entries.data() + at + length_at, sizeof length);
      if (const auto thread = number_in<pid_t>(entries.data() + at + name_at))
        add_children(process, *thread);
      at += length;
    }
  }
}

void ProcessTree::add_children(pid_t process, pid_t thread) {
  const Fd file(open(ProcPath(process).add("/task/").add(thread).add("/children").text(),
                     O_RDONLY | O_CLOEXEC));
  if (!file) return;
  std::array<char, 1024> text{};
  pid_t number = 0;
  for (ssize_t size = 0;
       (size = TEMP_FAILURE_RETRY(read(file.get(), text.data(), text.size()))) > 0;) {
    for (const char c : std::string_view(text.data(), static_cast<std::size_t>(size))) {
      if (c >= '0' && c <= '9') {
        number = number * 10 + (c - '0');
      } else if (number > 0) {
        if (count_ < most) found_[count_++] = number;
        number = 0;
      }
    }
  }
}

ProcessTree::Stat ProcessTree::stat(pid_t process) {
  const Fd file(open(ProcPath(process).add("/stat").text(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::array<char, 512> text{};
  const auto size = TEMP_FAILURE_RETRY(read(file.get(), text.data(), text.size()));
  const std::string_view line(text.data(), static_cast<std::size_t>(size > 0 ? size : 0));
  const auto name_end = line.rfind(')');  // the program's name may contain anything
  if (name_end == std::string_view::npos || line.size() < name_end + 5) return {};
  Stat stat{.state = line[name_end + 2]};
  std::from_chars(line.data() + name_end + 4, line.data() + line.size(), stat.parent);
  return stat;
}

}  // namespace zksh
