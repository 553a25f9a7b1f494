// NamedValues: the values of an enum, with the names that users type.
#pragma once

#include "base/mapped.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

/// Each value once, in the order in which they are shown to users.
template <class Value, std::size_t count>
using NamedValues = std::array<std::pair<std::string_view, Value>, count>;

/// `value` must be one of the values.
template <class Value, std::size_t count>
constexpr std::string_view name_of(const NamedValues<Value, count>& values, Value value) {
  std::size_t place = 0;
  while (place + 1 < count && values[place].second != value) ++place;
  return values[place].first;
}

template <class Value, std::size_t count>
std::vector<std::string> names_of(const NamedValues<Value, count>& values) {
  return mapped<std::string>(values, &std::pair<std::string_view, Value>::first);
}

}  // namespace zksh
