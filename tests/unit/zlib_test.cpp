// Inflate: output of gzip and zlib, and anything else.
#include "base/zlib.h"

#include "base/byte_text.h"
#include "failures.h"

#include <gtest/gtest.h>

#include <string>
#include <zlib.h>

namespace zksh {
namespace {

std::string deflated(const std::string& text) {
  std::string bytes(compressBound(text.size()), '\0');
  uLongf size = bytes.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                     reinterpret_cast<const Bytef*>(text.data()), text.size()),
            Z_OK);
  bytes.resize(size);
  return bytes;
}

std::string gzipped(std::string text) {
  std::string bytes(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

/// "hello\n", as gzip -n writes it.
std::string gzipped_hello() { return *decode_base64("H4sIAAAAAAAAA8tIzcnJ5wIAIDA6NgYAAAA="); }

std::string refusal(const std::string& bytes, Compression compression) {
  return refusal_of([&] { inflated(bytes, compression); });
}

TEST(Inflate, GivesBackWhatWasCompressed) {
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(inflated(deflated(large), Compression::Zlib), large);
  EXPECT_EQ(inflated(deflated(""), Compression::Zlib), "");
  EXPECT_EQ(inflated(gzipped_hello(), Compression::Gzip), "hello\n");
}

TEST(Inflate, TheFilesOfGzipMayStandOneBehindTheOther) {
  EXPECT_EQ(inflated(gzipped_hello() + gzipped_hello(), Compression::Gzip), "hello\nhello\n");
}

TEST(Inflate, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("", Compression::Zlib), "it is truncated");
  auto cut = gzipped_hello();
  cut.resize(cut.size() - 3);
  EXPECT_EQ(refusal(cut, Compression::Gzip), "it is truncated");
  EXPECT_EQ(refusal("plain text", Compression::Gzip), "incorrect header check");
  EXPECT_EQ(refusal(gzipped_hello(), Compression::Zlib), "incorrect header check");
  EXPECT_EQ(refusal(gzipped_hello() + "x", Compression::Gzip), "it is truncated");
  EXPECT_EQ(refusal(deflated("a") + "xy", Compression::Zlib), "it is followed by 2 more bytes");
}

TEST(Inflate, AFewBytesDoNotFillTheMemory) {
  const auto part = gzipped(std::string(8U << 20U, '\0'));
  std::string bomb;
  for (int i = 0; i < 33; ++i) bomb += part;
  EXPECT_LT(bomb.size(), 2'000'000U);
  EXPECT_EQ(refusal(bomb, Compression::Gzip), "it holds more than 256 MiB");
}

}  // namespace
}  // namespace zksh
