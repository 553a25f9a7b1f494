// zlib: decompresses bytes, and computes checksums.
#include "base/zlib.h"

#include "base/error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>
#include <zlib.h>

namespace zksh {
namespace {

constexpr std::size_t most_inflated = 256U << 20U;

const Bytef* bytes_of(std::string_view bytes) {
  // A null pointer would ask zlib for the start value.
  return reinterpret_cast<const Bytef*>(bytes.empty() ? "" : bytes.data());
}

}  // namespace

/// Owns a zlib stream.
class Inflation::Stream {
 public:
  Stream(Source source, Compression compression)
      : source_(std::move(source)), compression_(compression) {
    constexpr int largest_window = 15;
    constexpr int with_gzip_header = 16;
    const int window = largest_window + (compression == Compression::Gzip ? with_gzip_header : 0);
    if (inflateInit2(&stream_, window) != Z_OK) throw Error("out of memory");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { inflateEnd(&stream_); }

  std::size_t read(char* into, std::size_t most) {
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    stream_.avail_out = static_cast<uInt>(std::min(most, std::size_t{1} << 30U));
    const auto room = stream_.avail_out;
    while (!ended_ && stream_.avail_out == room) {
      const bool more = has_input();
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END)
        ended_ = !next_part();
      else if (result != Z_OK && !(result == Z_BUF_ERROR && more))
        refuse(result);
    }
    return room - stream_.avail_out;
  }

 private:
  bool has_input() {
    if (stream_.avail_in > 0) return true;
    const auto piece = source_();
    // zlib does not write there; its interface predates const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    return stream_.avail_in > 0;
  }

  /// Whether another gzip member follows. Throws Error if anything else does.
  bool next_part() {
    if (!has_input()) return false;
    if (compression_ == Compression::Zlib)
      throw Error(fmt::format("it is followed by {} more bytes", stream_.avail_in));
    return inflateReset(&stream_) == Z_OK;
  }

  [[noreturn]] void refuse(int result) const {
    if (result == Z_BUF_ERROR) throw Error("it is truncated");
    if (result == Z_NEED_DICT) throw Error("it needs a preset dictionary");
    throw Error(stream_.msg ? stream_.msg : "out of memory");
  }

  Source source_;
  Compression compression_;
  z_stream stream_{};
  bool ended_ = false;
};

Inflation::Inflation(Source source, Compression compression)
    : stream_(std::make_unique<Stream>(std::move(source), compression)) {}
Inflation::~Inflation() = default;

std::size_t Inflation::read(char* into, std::size_t most) { return stream_->read(into, most); }

std::string inflated(std::string_view bytes, Compression compression) {
  Inflation inflation([&] { return std::exchange(bytes, {}); }, compression);
  std::string text;
  std::array<char, 64U << 10U> block{};
  while (const auto count = inflation.read(block.data(), block.size())) {
    text.append(block.data(), count);
    if (text.size() > most_inflated)
      throw Error(fmt::format("it holds more than {} MiB", most_inflated >> 20U));
  }
  return text;
}

std::uint32_t adler32_of(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(adler32_z(before, bytes_of(bytes), bytes.size()));
}

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(crc32_z(before, bytes_of(bytes), bytes.size()));
}

}  // namespace zksh
