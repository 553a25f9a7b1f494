// lock_task: what lock_floor's two ways to do the recipe share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace zksh_bench {

constexpr int session_timeout_ms = 10000;

/// What a line of standard input or the command line asks for.
struct Task {
  std::string path;
  std::string kind;
  int rounds = 0;
  std::int64_t hold_us = 0;
  int contenders = 1;
};

/// CLOCK_MONOTONIC, in nanoseconds.
struct Round {
  std::int64_t asked = 0;
  std::int64_t acquired = 0;
  std::int64_t releasing = 0;
  std::int64_t released = 0;
};

inline std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// `_c_<uuid>-lock-`, a fresh one.
inline std::string own_prefix() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  const auto high = random();
  const auto low = random();
  constexpr std::size_t longest = 48;
  std::string text(longest, '\0');
  const int size =
      std::snprintf(text.data(), text.size(), "_c_%08x-%04x-%04x-%04x-%012llx-lock-",
                    static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16 & 0xffff),
                    static_cast<unsigned>(high & 0xffff), static_cast<unsigned>(low >> 48),
                    static_cast<unsigned long long>(low & 0xffffffffffff));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

inline std::int32_t sequence_of(const std::string& name) {
  constexpr std::size_t digits = 10;
  if (name.size() < digits) throw std::runtime_error(name + " has no sequence number");
  return static_cast<std::int32_t>(std::stol(name.substr(name.size() - digits)));
}

/// The child that keeps `own` waiting: the nearest before it; null when there is none.
inline const std::string* nearest_before(const std::string& own,
                                         const std::vector<std::string>& names) {
  const std::string* ahead = nullptr;
  const auto place = sequence_of(own);
  for (const auto& name : names) {
    const auto sequence = sequence_of(name);
    if (sequence < place && (!ahead || sequence > sequence_of(*ahead))) ahead = &name;
  }
  return ahead;
}

/// The rounds of all contenders over the Apache C client, each with a handle of its own.
std::vector<std::vector<Round>> contend_by_client(const std::string& server, const Task& task);

}  // namespace zksh_bench
