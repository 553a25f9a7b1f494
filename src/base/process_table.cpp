// ProcessTable: what the kernel tells of processes that are not our children.
#include "base/process_table.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace zksh {
namespace {

struct Entry {
  char state = 0;
  pid_t parent = 0;
  pid_t group = 0;
};

/// Source: proc(5), /proc/PID/stat.
std::optional<Entry> entry_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  Entry entry;
  fields >> entry.state >> entry.parent >> entry.group;
  return entry;
}

}  // namespace

std::vector<pid_t> group_members(pid_t group) {
  std::vector<pid_t> members;
  std::error_code error;
  std::filesystem::directory_iterator directory("/proc", error);
  for (; directory != std::filesystem::directory_iterator(); directory.increment(error)) {
    const auto name = directory->path().filename().string();
    pid_t process = 0;
    const auto* const end = name.data() + name.size();
    if (std::from_chars(name.data(), end, process).ptr != end) continue;
    const auto entry = entry_of(process);
    const bool ended = !entry || entry->state == 'Z' || entry->state == 'X';
    if (!ended && entry->group == group) members.push_back(process);
  }
  return members;
}

pid_t parent_of(pid_t process) {
  const auto entry = entry_of(process);
  return entry ? entry->parent : 0;
}

}  // namespace zksh
