// Jute: reads and writes the bytes of ZooKeeper's requests and answers.
//
// Source of the formats: zookeeper.jute and ZooDefs.OpCode of ZooKeeper 3.9.
#pragma once

#include "client/client.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// The codes of the operations, in requests and in the parts of transactions.
namespace operation {
constexpr std::int32_t create = 1;
constexpr std::int32_t remove = 2;
constexpr std::int32_t exists = 3;
constexpr std::int32_t get = 4;
constexpr std::int32_t set = 5;
constexpr std::int32_t get_acl = 6;
constexpr std::int32_t set_acl = 7;
constexpr std::int32_t children = 8;
constexpr std::int32_t sync = 9;
constexpr std::int32_t children_and_stat = 12;
constexpr std::int32_t check = 13;
constexpr std::int32_t multi = 14;
constexpr std::int32_t create_and_stat = 15;
constexpr std::int32_t reconfigure = 16;
constexpr std::int32_t remove_watches = 18;
constexpr std::int32_t create_container = 19;
constexpr std::int32_t create_ttl = 21;
constexpr std::int32_t multi_read = 22;
constexpr std::int32_t sasl = 102;
constexpr std::int32_t get_ephemerals = 103;
constexpr std::int32_t count_descendants = 104;  ///< getAllChildrenNumber
constexpr std::int32_t add_watch = 106;
constexpr std::int32_t who_am_i = 107;
constexpr std::int32_t close = -11;
constexpr std::int32_t failed = -1;
}  // namespace operation

/// Parses a frame; reading beyond its end marks it as broken, and stops.
class JuteReader {
 public:
  static constexpr const char* cut_off = "a truncated answer";

  explicit JuteReader(std::string_view frame) : rest_(frame) {}

  bool broken() const { return broken_; }
  /// What is wrong with the answer; null if nothing.
  const char* flaw() const { return broken_ ? flaw_ : nullptr; }
  std::string_view rest() const { return rest_; }

  void refuse(const char* flaw) {
    if (broken_) return;
    broken_ = true;
    flaw_ = flaw;
  }
  void skip(std::size_t size) {
    broken_ = broken_ || size > rest_.size();
    rest_.remove_prefix(broken_ ? rest_.size() : size);
  }
  std::int64_t integer(std::size_t size) {
    if (broken_ || size > rest_.size()) {
      skip(size);
      return 0;
    }
    std::uint64_t number = static_cast<signed char>(rest_.front()) < 0 ? ~std::uint64_t{0} : 0;
    for (const char byte : rest_.substr(0, size))
      number = number << 8U | static_cast<unsigned char>(byte);
    skip(size);
    return static_cast<std::int64_t>(number);
  }
  std::int32_t number() { return static_cast<std::int32_t>(integer(4)); }
  bool flag() { return integer(1) != 0; }
  std::string_view text() {
    const auto length = number();
    broken_ = broken_ || length < 0;
    if (broken_) return {};
    const auto text = rest_.substr(0, static_cast<std::size_t>(length));
    skip(static_cast<std::size_t>(length));
    return text;
  }
  /// Like text, or null.
  std::optional<std::string_view> data() {
    const auto length = number();
    broken_ = broken_ || length < -1;
    if (broken_ || length < 0) return std::nullopt;
    const auto bytes = rest_.substr(0, static_cast<std::size_t>(length));
    skip(static_cast<std::size_t>(length));
    return bytes;
  }
  /// No server sends a negative dataLength; it marks content that was moved.
  Stat stat() {
    Stat stat;
    stat.czxid = integer(8);
    stat.mzxid = integer(8);
    stat.ctime = integer(8);
    stat.mtime = integer(8);
    stat.version = number();
    stat.cversion = number();
    stat.aversion = number();
    stat.ephemeral_owner = integer(8);
    stat.data_length = number();
    if (stat.data_length < 0) refuse("an answer with an invalid Stat");
    stat.num_children = number();
    stat.pzxid = integer(8);
    return stat;
  }
  template <class Each>
  void list(Each&& each) {
    const auto count = number();
    broken_ = broken_ || count < 0 || static_cast<std::size_t>(count) > rest_.size();
    for (std::int32_t i = 0; i < count && !broken_; ++i) each();
  }
  /// Node names, each passed to `take`.
  template <class Take>
  void names(Take&& take) {
    list([&] {
      const auto name = text();
      // Two searches of one character, which are faster than find_first_of.
      const auto contains = [name](char excluded) {
        return name.find(excluded) != std::string_view::npos;
      };
      if (name.empty() || contains('/') || contains('\0'))
        refuse("an answer with an invalid node name");
      take(name);
    });
  }
  void acl() {
    list([this] {
      number();
      text();
      text();
    });
  }

 private:
  std::string_view rest_;
  bool broken_ = false;
  const char* flaw_ = cut_off;
};

/// Writes `number` into the `size` bytes from `to` on.
inline void put_number(char* to, std::int64_t number, std::size_t size) {
  for (auto* byte = to + size; byte != to; number >>= 8) *--byte = static_cast<char>(number & 0xff);
}

/// A request, without its length.
inline std::string request_frame(std::int32_t xid, std::int32_t asked, std::string_view body = {}) {
  std::string frame(8, '\0');
  put_number(frame.data(), xid, 4);
  put_number(frame.data() + 4, asked, 4);
  return frame.append(body);
}

/// Appends a number of four bytes.
inline void add_number(std::string& to, std::int32_t number) {
  to.append(4, '\0');
  put_number(to.data() + to.size() - 4, number, 4);
}
/// Appends text, or data that is not null, with its length.
inline void add_text(std::string& to, std::string_view text) {
  add_number(to, static_cast<std::int32_t>(text.size()));
  to += text;
}

}  // namespace zksh
