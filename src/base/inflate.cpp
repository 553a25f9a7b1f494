// Inflate: decompresses bytes with zlib.
#include "base/inflate.h"

#include "base/error.h"

#include <fmt/core.h>

#include <array>
#include <zlib.h>

namespace zksh {
namespace {

constexpr std::size_t most_inflated = 256U << 20U;

/// Owns a zlib stream.
class Inflater {
 public:
  Inflater(std::string_view bytes, Compression compression) : compression_(compression) {
    constexpr int largest_window = 15;
    constexpr int with_gzip_header = 16;
    // zlib does not write there; its interface predates const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    const int window = largest_window + (compression == Compression::Gzip ? with_gzip_header : 0);
    if (inflateInit2(&stream_, window) != Z_OK) throw Error("out of memory");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  std::string text() {
    std::string text;
    std::array<char, 64U << 10U> block{};
    while (true) {
      stream_.next_out = reinterpret_cast<Bytef*>(block.data());
      stream_.avail_out = static_cast<uInt>(block.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      text.append(block.data(), block.size() - stream_.avail_out);
      if (text.size() > most_inflated)
        throw Error(fmt::format("it holds more than {} MiB", most_inflated >> 20U));
      if (result == Z_STREAM_END && !next_part()) return text;
      if (result != Z_OK && result != Z_STREAM_END) refuse(result);
    }
  }

 private:
  /// Whether another gzip member follows. Throws Error if anything else does.
  bool next_part() {
    if (stream_.avail_in == 0) return false;
    if (compression_ == Compression::Zlib)
      throw Error(fmt::format("it is followed by {} more bytes", stream_.avail_in));
    return inflateReset(&stream_) == Z_OK;
  }

  [[noreturn]] void refuse(int result) const {
    if (result == Z_BUF_ERROR) throw Error("it is truncated");
    if (result == Z_NEED_DICT) throw Error("it needs a preset dictionary");
    throw Error(stream_.msg ? stream_.msg : "out of memory");
  }

  Compression compression_;
  z_stream stream_{};
};

}  // namespace

std::string inflated(std::string_view bytes, Compression compression) {
  return Inflater(bytes, compression).text();
}

}  // namespace zksh
