// AuthFile: credentials read from a file, so that they need not be on the command line.
#include "config/auth_file.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"
#include "base/words.h"

#include <fmt/core.h>

#include <string_view>
#include <sys/stat.h>

namespace zksh {

std::vector<Credential> parse_auth_file(const std::string& text, const std::string& name) {
  std::vector<Credential> credentials;
  std::size_t number = 0;
  for (const auto whole_line : lines_of(text)) {
    ++number;
    const auto line = trimmed(whole_line);
    if (line.empty() || line.front() == '#') continue;
    const auto scheme_end = line.find_first_of(white_space);
    if (scheme_end == std::string_view::npos)
      throw UsageError(fmt::format(
          "{}:{}: expected a scheme and a credential (user:password for digest)", name, number));
    credentials.push_back(
        {std::string(line.substr(0, scheme_end)), std::string(trimmed(line.substr(scheme_end)))});
  }
  if (credentials.empty()) throw UsageError(fmt::format("{} holds no credential", name));
  return credentials;
}

std::string warning_of_readers(const std::string& name) {
  struct stat info {};
  constexpr mode_t of_others = S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  if (stat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & of_others) == 0)
    return {};
  return fmt::format(
      "warning: other users can read or write the credentials in {} (mode {:03o}); use chmod 600",
      name, info.st_mode & 0777U);
}

AuthFile read_auth_file(const std::string& name) {
  return {.credentials = parse_auth_file(read_file(name), name),
          .warning = warning_of_readers(name)};
}

}  // namespace zksh
