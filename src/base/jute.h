// Jute: reads and writes the primitives of ZooKeeper's records; nothing that is read is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// Once something is malformed or missing, everything that follows reads as 0 or empty, and
/// failed() is true. The texts point into the bytes.
class JuteReader {
 public:
  explicit JuteReader(std::string_view bytes) : bytes_(bytes) {}

  std::int32_t integer() { return static_cast<std::int32_t>(number(sizeof(std::int32_t))); }
  std::int64_t long_integer() { return static_cast<std::int64_t>(number(sizeof(std::int64_t))); }
  bool boolean() { return number(1) != 0; }
  /// nullopt: null.
  std::optional<std::string_view> buffer() {
    const auto length = integer();
    if (failed_ || length == -1) return std::nullopt;
    const auto taken = take(length < 0 ? bytes_.size() + 1 : static_cast<std::size_t>(length));
    if (failed_) bad_length_ = length;
    return taken;
  }
  /// A null text is empty.
  std::string_view text() { return buffer().value_or(std::string_view()); }
  /// The number of elements of a vector, each of at least `least` bytes; 0 for null.
  std::size_t count(std::size_t least) {
    const auto number = integer();
    if (number == -1) return 0;
    if (number < 0 || static_cast<std::size_t>(number) > bytes_.size() / least) fail();
    return failed_ ? 0 : static_cast<std::size_t>(number);
  }
  /// Skips an ACL, and returns its bytes.
  std::string_view acl() {
    constexpr std::size_t least_entry = 12;
    const auto whole = bytes_;
    for (auto left = count(least_entry); left > 0 && !failed_; --left) {
      integer();
      text();
      text();
    }
    return whole.substr(0, whole.size() - bytes_.size());
  }
  std::string_view take(std::size_t length) {
    if (length > bytes_.size()) fail();
    if (failed_) return {};
    const auto taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }

  std::string_view rest() const { return bytes_; }
  std::size_t left() const { return bytes_.size(); }
  bool failed() const { return failed_; }
  /// The length of the text or buffer at which it failed; 0: at something else.
  std::int32_t bad_length() const { return bad_length_; }
  /// As if what follows were malformed.
  void fail() {
    failed_ = true;
    bytes_ = {};
  }

 private:
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (const char byte : take(size)) value = value << 8U | static_cast<unsigned char>(byte);
    return value;
  }

  std::string_view bytes_;
  bool failed_ = false;
  std::int32_t bad_length_ = 0;
};

/// Writes `number` into the `size` bytes from `to` on.
inline void put_number(char* to, std::int64_t number, std::size_t size) {
  for (auto* byte = to + size; byte != to; number >>= 8) *--byte = static_cast<char>(number & 0xff);
}

/// Appends a four-byte number.
inline void add_number(std::string& to, std::int32_t number) {
  to.append(4, '\0');
  put_number(to.data() + to.size() - 4, number, 4);
}
/// Appends the length of a text, or of data that is not null, and its bytes.
inline void add_text(std::string& to, std::string_view text) {
  add_number(to, static_cast<std::int32_t>(text.size()));
  to += text;
}

}  // namespace zksh
