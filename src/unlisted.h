// Unlisted: the nodes that a walk had to leave out because their ACLs hide what is below.
#pragma once

#include "command.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace zksh {

class Unlisted {
 public:
  void add(const std::string& path) {
    if (count_++ == 0) first_ = path;
  }
  bool empty() const { return count_ == 0; }
  /// Says on stderr that the results are incomplete, if they are. `what`: what may not be done with
  /// the nodes. Returns status::not_authorised then, else `otherwise`.
  int report(Context& cx, int otherwise = status::ok, std::string_view what = "list") const;

 private:
  std::size_t count_ = 0;
  std::string first_;
};

}  // namespace zksh
