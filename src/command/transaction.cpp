// Transaction: the operations collected between `multi` and `exec`.
#include "command/transaction.h"

#include "base/number.h"
#include "base/secrets.h"
#include "base/text.h"

#include <fmt/core.h>

#include <utility>

namespace zksh {
namespace {

constexpr const char* mixed =
    "a transaction either reads or writes: ZooKeeper cannot mix them; nothing was added";

}  // namespace

void Transaction::begin(bool takes_only_operations) {
  const bool opened = monitor_.with_lock([&](const Monitor::Held& held) {
    if (state_(held)) return false;
    state_(held) = State{.takes_only_operations = takes_only_operations};
    return true;
  });
  if (!opened)
    throw ValueError("a transaction is already open; `exec` commits it, `discard` drops it");
}

bool Transaction::takes_only_operations() const {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    return state_(held) && state_(held)->takes_only_operations;
  });
}

std::optional<std::size_t> Transaction::size() const {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::optional<std::size_t> {
    if (!state_(held)) return std::nullopt;
    return state_(held)->size();
  });
}

void Transaction::set_place(const std::string& place) {
  monitor_.with_lock([&](const Monitor::Held& held) {
    if (state_(held)) state_(held)->place = place;
  });
}

void Transaction::add(Op op, const std::string& line) {
  constexpr std::size_t longest_shown = 200;
  auto shown = without_secrets(line);
  if (shown.size() > longest_shown) {
    shown.erase(character_begin(shown, longest_shown));
    shown += "…";
  }
  monitor_.with_lock([&](const Monitor::Held& held) {
    auto& state = *state_(held);
    if (!state.reads.empty()) throw ValueError(mixed);
    state.operations.push_back(
        {.op = std::move(op), .line = std::move(shown), .place = state.place});
  });
}

void Transaction::add_read(Invocation read) {
  monitor_.with_lock([&](const Monitor::Held& held) {
    auto& state = *state_(held);
    if (!state.operations.empty()) throw ValueError(mixed);
    state.reads.push_back(std::move(read));
  });
}

std::vector<Invocation> Transaction::reads() const {
  return monitor_.with_lock([&](const Monitor::Held& held) {
    return state_(held) ? state_(held)->reads : std::vector<Invocation>();
  });
}

void Transaction::spoil() {
  monitor_.with_lock([&](const Monitor::Held& held) {
    if (state_(held)) state_(held)->spoilt = true;
  });
}

std::vector<PlannedOp> Transaction::operations() {
  const auto open = monitor_.with_lock([&](const Monitor::Held& held) {
    auto copy = state_(held);
    if (copy && copy->spoilt) state_(held).reset();
    return copy;
  });
  if (!open) throw ValueError("no transaction is open; `multi` opens one");
  if (open->spoilt)
    throw ValueError("the transaction had an invalid line; it was dropped, and nothing was sent");
  return open->operations;
}

std::optional<std::size_t> Transaction::drop() {
  return monitor_.with_lock([&](const Monitor::Held& held) -> std::optional<std::size_t> {
    const auto dropped = std::exchange(state_(held), std::nullopt);
    if (!dropped) return std::nullopt;
    return dropped->size();
  });
}

std::string dropped_text(std::size_t operations) {
  return fmt::format("the transaction of {} was dropped; nothing was sent",
                     counted(operations, "operation"));
}

}  // namespace zksh
