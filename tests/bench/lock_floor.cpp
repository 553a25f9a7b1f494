// lock_floor: the lock recipe in as few bytes and turns as ZooKeeper allows, to measure others by.
//
// Speaks to its parent as tests/peers/README.md says, for the kind `mutex`. Each contender has its
// own session, socket and thread. A free lock costs one round trip (create2 and getChildren in one
// write), a wait one more (getData with a watch), a handoff the event and one getChildren.
#include "wire.h"

#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace zksh_bench {
namespace {

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

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// `_c_<uuid>-lock-`, a fresh one.
std::string own_prefix() {
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

std::int32_t sequence_of(const std::string& name) {
  constexpr std::size_t digits = 10;
  if (name.size() < digits) throw std::runtime_error(name + " has no sequence number");
  return static_cast<std::int32_t>(std::stol(name.substr(name.size() - digits)));
}

/// One contender's place in the queue.
class Place {
 public:
  Place(Wire& wire, const std::string& path) : wire_(wire), path_(path), prefix_(own_prefix()) {}

  /// Blocks until the lock is held.
  void acquire() {
    wire_.ask_create(path_ + "/" + prefix_, "floor", true);
    wire_.ask_children(path_);
    if (wire_.await() != Wire::Found::Yes) throw std::runtime_error("no node at " + path_);
    while (true) {
      const auto ahead = look();
      if (ahead.empty()) return;
      wire_.ask_watched(path_ + "/" + ahead);
      if (wire_.await() == Wire::Found::Yes) wire_.await_event();
      wire_.ask_children(path_);
    }
  }

  void release() {
    wire_.ask_delete(path_ + "/" + own_);
    if (wire_.await() != Wire::Found::Yes) throw std::runtime_error(own_ + " was gone");
  }

 private:
  /// Finds the own node in the list that was asked for; gives the one to wait for, empty for none.
  std::string look() {
    const auto names = wire_.await_children();
    for (const auto& name : names)
      if (name.compare(0, prefix_.size(), prefix_) == 0) own_ = name;
    if (own_.empty()) throw std::runtime_error("the own node is not listed");
    const std::string* ahead = nullptr;
    const auto own = sequence_of(own_);
    for (const auto& name : names) {
      const auto sequence = sequence_of(name);
      if (sequence < own && (!ahead || sequence > sequence_of(*ahead))) ahead = &name;
    }
    return ahead ? *ahead : "";
  }

  Wire& wire_;
  const std::string& path_;
  std::string prefix_;
  std::string own_;
};

std::vector<Round> contend(Wire& wire, const Task& task) {
  std::vector<Round> rounds(static_cast<std::size_t>(task.rounds));
  for (auto& round : rounds) {
    Place place(wire, task.path);
    round.asked = now();
    place.acquire();
    round.acquired = now();
    if (task.hold_us > 0) wire.rest(task.hold_us * 1000);
    round.releasing = now();
    place.release();
    round.released = now();
  }
  return rounds;
}

/// Sessions are opened before and closed after the rounds, which start together.
void run(const std::string& server, const Task& task) {
  if (task.kind != "mutex" || task.rounds < 0 || task.contenders < 1)
    throw std::runtime_error("expected PATH mutex ROUNDS HOLD_US [CONTENDERS]");
  const auto count = static_cast<std::size_t>(task.contenders);
  std::vector<std::unique_ptr<Wire>> wires(count);
  for (auto& wire : wires) wire = std::make_unique<Wire>(server, session_timeout_ms);
  wires.front()->ask_create(task.path, "", false);
  wires.front()->await();

  std::vector<std::vector<Round>> rounds(count);
  std::vector<std::exception_ptr> failures(count);
  std::barrier start(task.contenders);
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      try {
        rounds[i] = contend(*wires[i], task);
      } catch (...) {
        failures[i] = std::current_exception();
        wires[i].reset();  // whoever waits behind goes on
      }
    });
  threads.clear();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
  for (const auto& of_one : rounds)
    for (const auto& round : of_one)
      std::cout << round.asked << ' ' << round.acquired << ' ' << round.releasing << ' '
                << round.released << '\n';
  std::cout << "done" << std::endl;
}

Task parse_task(std::istringstream& words, Task task) {
  std::string path;
  if (words >> path) {
    task = Task{};
    task.path = path;
    words >> task.kind >> task.rounds >> task.hold_us;
    if (!words) task.kind.clear();
    if (!(words >> task.contenders)) task.contenders = 1;
  }
  return task;
}

void serve(const std::string& server, const std::string& arguments) {
  std::istringstream words(arguments);
  auto task = parse_task(words, {});
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream order(line);
    std::string go;
    if (!(order >> go) || go != "go") throw std::runtime_error("expected go, not " + line);
    task = parse_task(order, task);
    run(server, task);
  }
}

}  // namespace
}  // namespace zksh_bench

int main(int argc, char** argv) {
  if (argc < 6 || argc > 8) {
    std::cerr << "usage: lock_floor CONNECT PATH mutex ROUNDS HOLD_US [CONTENDERS [SESSIONS]]\n";
    return 2;
  }
  std::string arguments;
  for (int i = 2; i < argc; ++i) arguments += std::string(argv[i]) + " ";
  try {
    zksh_bench::serve(argv[1], arguments);
  } catch (const std::exception& error) {
    std::cerr << "lock_floor: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
