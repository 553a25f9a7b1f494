// lock_floor: the lock recipe with as few bytes and round trips as ZooKeeper allows, as a
// reference.
//
// Speaks to its parent as tests/peers/README.md describes, for the kind `mutex`. Each contender has
// its own session, socket and thread. A free lock costs one round trip (create2 and getChildren in
// one write), a wait one more (getData with a watch), a handoff the event and one getChildren.
#include "lock_task.h"
#include "wire.h"

#include <barrier>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace zksh_bench {
namespace {

/// A contender's place in the queue.
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
  /// Finds the own node in the requested list; returns the node to wait for, or an empty text.
  std::string look() {
    const auto names = wire_.await_children();
    for (const auto& name : names)
      if (name.compare(0, prefix_.size(), prefix_) == 0) own_ = name;
    if (own_.empty()) throw std::runtime_error("the own node is not listed");
    const auto* const ahead = nearest_before(own_, names);
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

/// Opens sessions before and closes them after the rounds, which start together.
std::vector<std::vector<Round>> contend_by_wire(const std::string& server, const Task& task) {
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
        wires[i].reset();  // the next in the queue goes on
      }
    });
  threads.clear();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return rounds;
}

using Contend = std::vector<std::vector<Round>> (*)(const std::string& server, const Task& task);

void run(Contend contend_all, const std::string& server, const Task& task) {
  if (task.kind != "mutex" || task.rounds < 0 || task.contenders < 1)
    throw std::runtime_error("expected PATH mutex ROUNDS HOLD_US [CONTENDERS]");
  for (const auto& of_one : contend_all(server, task))
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

void serve(Contend contend_all, const std::string& server, const std::string& arguments) {
  std::istringstream words(arguments);
  auto task = parse_task(words, {});
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream order(line);
    std::string go;
    if (!(order >> go) || go != "go") throw std::runtime_error("expected go, not " + line);
    task = parse_task(order, task);
    run(contend_all, server, task);
  }
}

}  // namespace
}  // namespace zksh_bench

int main(int argc, char** argv) {
  using namespace zksh_bench;
  const bool by_client = argc > 1 && std::string(argv[1]) == "--client";
  const int first = by_client ? 2 : 1;
  if (argc - first < 5 || argc - first > 7) {
    std::cerr << "usage: lock_floor [--client] CONNECT PATH mutex ROUNDS HOLD_US [CONTENDERS "
                 "[SESSIONS]]\n";
    return 2;
  }
  std::string arguments;
  for (int i = first + 1; i < argc; ++i) arguments += std::string(argv[i]) + " ";
  try {
    serve(by_client ? contend_by_client : contend_by_wire, argv[first], arguments);
  } catch (const std::exception& error) {
    std::cerr << "lock_floor: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
