// NameList: the names of many znodes, packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// A million names take the memory of their bytes and five bytes for each. At most 4 GiB: a
/// server's answer has less. Not for several threads at once.
class NameList {
 public:
  void reserve(std::size_t count, std::size_t bytes) {
    begins_.reserve(count);
    bytes_.reserve(bytes + count);
  }
  /// A name has no NUL in it: the servers take none.
  void add(std::string_view name) {
    begins_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    bytes_.append(name);
    bytes_.push_back('\0');
  }
  void clear() {
    begins_.clear();
    bytes_.clear();
  }

  bool empty() const { return begins_.empty(); }
  std::size_t size() const { return begins_.size(); }
  /// Valid until the list is changed.
  std::string_view operator[](std::size_t i) const { return bytes_.c_str() + begins_[i]; }
  /// The memory in use, in bytes.
  std::size_t memory() const { return bytes_.size() + begins_.size() * sizeof(std::uint32_t); }

  /// By the values of their bytes. Throws Cancelled on a stop, and may have changed the order then.
  void sort(const std::stop_token& stop);

 private:
  std::string bytes_;
  std::vector<std::uint32_t> begins_;
};

}  // namespace zksh
