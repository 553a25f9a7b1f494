// Fuzz: the frame of the targets. With libFuzzer, $ZKSH_FUZZ_TARGET names the one to run.
#include "fuzz.h"

#include "base/text.h"

#include <cstdlib>
#include <iostream>
#include <sys/mman.h>
#include <unistd.h>

namespace zksh::fuzz {
namespace {

const Target* chosen = nullptr;

}  // namespace

void require(bool holds, std::string_view what, std::string_view seen) {
  if (holds) return;
  std::cerr << "violated: " << what << '\n' << escape_for_terminal(seen, true) << '\n';
  std::abort();
}

void require_harmless(std::string_view text, bool lines) {
  const auto pictograph = [&](std::size_t at) {
    const auto c = at < text.size() ? decode_utf8(text, at).code_point : 0;
    return (c >= 0x2600 && c <= 0x27BF) || (c >= 0x1F000 && c <= 0x1FAFF);
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto step = decode_utf8(text, at);
    const auto c = step.code_point;
    const bool kept = lines && (c == '\n' || c == '\t');
    const bool control = (c < 0x20 && !kept) || (c >= 0x7F && c <= 0x9F);
    const bool joins = c == 0x200D && pictograph(at + step.length);
    const bool hides = !joins && ((c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
                                  (c >= 0x2066 && c <= 0x2069));
    require(step.valid && !control && !hides, "a terminal can show this", text);
    at += step.length;
  }
}

unsigned char Input::byte() {
  if (rest_.empty()) return 0;
  const auto first = static_cast<unsigned char>(rest_.front());
  rest_.remove_prefix(1);
  return first;
}

std::string_view Input::line() {
  const auto first = rest_.substr(0, rest_.find('\n'));
  rest_.remove_prefix(std::min(first.size() + 1, rest_.size()));
  return first;
}

std::vector<std::string> Input::lines(std::size_t most) {
  std::vector<std::string> all;
  all.reserve(most);
  while (!rest_.empty() && all.size() < most) all.emplace_back(line());
  return all;
}

MemoryFile::MemoryFile(std::string_view bytes)
    : fd_(memfd_create("fuzz", MFD_CLOEXEC)), name_("/proc/self/fd/" + std::to_string(fd_.get())) {
  require(write(fd_.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "a file in memory takes what is written");
}

bool choose_target(std::string_view name) {
  const auto found = std::ranges::find(targets, name, &Target::name);
  if (found == targets.end()) return false;
  chosen = &*found;
  return true;
}

}  // namespace zksh::fuzz

// NOLINTNEXTLINE(readability-identifier-naming)
int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using zksh::fuzz::choose_target;
  using zksh::fuzz::chosen;
  if (chosen == nullptr) {
    const char* const name = std::getenv("ZKSH_FUZZ_TARGET");
    if (name == nullptr || !choose_target(name)) {
      std::cerr << "ZKSH_FUZZ_TARGET names no target\n";
      std::exit(2);
    }
  }
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
