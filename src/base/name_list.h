// NameList: a compact list of znode names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Takes the bytes of the names and five more per name. Holds at most 4 GiB; a server's answer is
/// smaller. Not thread-safe.
class NameList {
 public:
  void reserve(std::size_t count, std::size_t bytes) {
    begins_.reserve(count);
    bytes_.reserve(bytes + count);
  }
  /// `name` contains no NUL: servers accept none.
  void add(std::string_view name) {
    begins_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    bytes_.append(name);
    bytes_.push_back('\0');
  }
  void clear() {
    begins_.clear();
    bytes_.clear();
  }
  /// The names as texts of their own.
  std::vector<std::string> strings() const {
    std::vector<std::string> all;
    all.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) all.emplace_back((*this)[i]);
    return all;
  }

  bool empty() const { return begins_.empty(); }
  std::size_t size() const { return begins_.size(); }
  /// The view is valid until the list is changed.
  std::string_view operator[](std::size_t i) const { return bytes_.c_str() + begins_[i]; }
  /// The memory in use, in bytes.
  std::size_t memory() const { return bytes_.size() + begins_.size() * sizeof(std::uint32_t); }

  /// Sorts by byte values. Throws Cancelled on a stop; the list may then be partly sorted.
  void sort(const std::stop_token& stop);

 private:
  std::string bytes_;
  std::vector<std::uint32_t> begins_;
};

}  // namespace zksh
