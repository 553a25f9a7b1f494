// Mapped: makes a list from another one, item by item.
#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace zksh {

/// What `convert`, a function or a member, makes of each item, in order; as `To` if that is given.
template <class To = void, class Items, class Convert>
auto mapped(const Items& items, Convert convert) {
  using Made = std::remove_cvref_t<std::invoke_result_t<Convert&, decltype(*std::begin(items))>>;
  std::vector<std::conditional_t<std::is_void_v<To>, Made, To>> all;
  all.reserve(std::size(items));
  for (const auto& item : items) all.emplace_back(std::invoke(convert, item));
  return all;
}

}  // namespace zksh
