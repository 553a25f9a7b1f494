// The names of contenders' nodes, for unit tests.
#pragma once

#include <cstddef>
#include <string>

namespace zksh {

/// A guid that is easy to recognise: 'a' gives aaaaaaaa-aaaa-….
inline std::string guid(char digit) {
  std::string text(36, digit);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) text[dash] = '-';
  return text;
}

}  // namespace zksh
