// SignalRelay: passes signals that would end zksh to its foreground program.
#include "base/signal_relay.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace zksh {

SignalRelay::Registration::Registration(SignalRelay& relay, Receiver receiver) : relay_(relay) {
  relay_.monitor_.with_lock([&](const Monitor::Held&) {
    place_ = relay_.receivers_.insert(relay_.receivers_.end(), std::move(receiver));
    ++relay_.registrations_;
  });
}

SignalRelay::Registration::~Registration() {
  relay_.monitor_.with_lock([&](const Monitor::Held&) {
    relay_.receivers_.erase(place_);
    --relay_.registrations_;
  });
}

bool SignalRelay::offer(int signal) {
  return monitor_.change([&](const Monitor::Held& held) {
    const bool taken =
        std::any_of(receivers_.rbegin(), receivers_.rend(),
                    [&](const Receiver& receiver) { return receiver(held, signal); });
    if (taken && !end_ && signal != SIGUSR1 && signal != SIGUSR2) end_ = signal;
    return taken;
  });
}

std::optional<int> SignalRelay::take_end() {
  return monitor_.with_lock(
      [&](const Monitor::Held&) { return std::exchange(end_, std::nullopt); });
}

}  // namespace zksh
