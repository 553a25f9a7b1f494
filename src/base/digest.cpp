// Digest: the id that ZooKeeper's digest scheme derives from a user and a password.
#include "base/digest.h"

#include "base/byte_text.h"

#include <bit>

namespace zksh {
namespace {

using Words = std::array<std::uint32_t, 80>;
using State = std::array<std::uint32_t, 5>;
constexpr std::size_t block_size = 64;

Words expanded(std::string_view block) {
  Words words{};
  for (std::size_t i = 0; i < block_size; ++i)
    words[i / 4] = words[i / 4] << 8U | static_cast<std::uint8_t>(block[i]);
  for (std::size_t i = 16; i < words.size(); ++i)
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  return words;
}

void add_block(State& state, std::string_view block) {
  const auto words = expanded(block);
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t mixed = 0;
    if (i < 20)
      mixed = ((b & c) | (~b & d)) + 0x5A827999U;
    else if (i < 40)
      mixed = (b ^ c ^ d) + 0x6ED9EBA1U;
    else if (i < 60)
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCU;
    else
      mixed = (b ^ c ^ d) + 0xCA62C1D6U;
    const auto next = std::rotl(a, 5) + mixed + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::array<std::uint8_t, 20> sha1(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % block_size != block_size - 8) padded += '\0';
  const std::uint64_t bits = bytes.size() * 8U;
  for (unsigned shift = 64; shift > 0; shift -= 8)
    padded += static_cast<char>(bits >> (shift - 8) & 0xFFU);

  State state = {0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U, 0xC3D2E1F0U};
  for (std::size_t at = 0; at < padded.size(); at += block_size)
    add_block(state, std::string_view(padded).substr(at, block_size));
  std::array<std::uint8_t, 20> hash{};
  for (std::size_t i = 0; i < hash.size(); ++i)
    hash[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return hash;
}

std::string digest_id(std::string_view credential) {
  const auto hash = sha1(credential);
  const std::string_view bytes(reinterpret_cast<const char*>(hash.data()), hash.size());
  return std::string(credential.substr(0, credential.find(':'))) + ':' + encode_base64(bytes);
}

}  // namespace zksh
