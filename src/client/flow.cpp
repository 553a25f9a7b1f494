// Strand: driving a coroutine from wait to wait.
#include "client/flow.h"

namespace zksh {

void Strand::begin(Flow<> flow) {
  flow_.emplace(std::move(flow));
  deadline_ = Clock::time_point::min();
  monitor_.look([&](const Monitor::Held& held) { place_(held) = flow_->handle(); });
}

Strand::Wake Strand::wake(const Monitor::Held& held, const Wait& wait) const {
  if (is_cancelled(held)) return Wake::Cancelled;
  if (wait.ready_(held)) return Wake::Ready;
  if (wait.deadline_ == never || Clock::now() < wait.deadline_) return Wake::NotYet;
  return Wake::Late;
}

bool Strand::can_go_on(const Monitor::Held& held) const {
  if (!place_(held)) return false;
  const auto* const wait = wait_(held);
  return !wait || wake(held, *wait) != Wake::NotYet;
}

void Strand::go_on() {
  const auto place = monitor_.look([&](const Monitor::Held& held) -> std::coroutine_handle<> {
    if (auto* const wait = wait_(held)) {
      wait->wake_ = wake(held, *wait);
      if (wait->wake_ == Wake::NotYet) return {};
      if (wait->wake_ == Wake::Cancelled) cancel_(held) = false;
      wait_(held) = nullptr;
    }
    return std::exchange(place_(held), {});
  });
  if (!place) return;
  deadline_ = never;
  subject_ = nullptr;
  place.resume();
}

void Strand::result() { flow_->result(); }

void Strand::cancel() {
  monitor_.change([&](const Monitor::Held& held) { cancel_(held) = true; });
}

Strand::Wait::~Wait() {
  // A flow that is destroyed where it stands must not be looked at any more.
  strand_.monitor_.look([&](const Monitor::Held& held) {
    if (strand_.wait_(held) != this) return;
    strand_.wait_(held) = nullptr;
    strand_.place_(held) = {};
  });
}

bool Strand::Wait::await_ready() {
  return strand_.monitor_.look([&](const Monitor::Held& held) {
    wake_ = strand_.wake(held, *this);
    if (wake_ == Wake::Cancelled) strand_.cancel_(held) = false;
    return wake_ != Wake::NotYet;
  });
}

void Strand::Wait::await_suspend(std::coroutine_handle<> waiting) {
  strand_.deadline_ = deadline_;
  strand_.subject_ = subject_;
  strand_.monitor_.look([&](const Monitor::Held& held) {
    strand_.wait_(held) = this;
    strand_.place_(held) = waiting;
  });
}

bool Strand::Wait::await_resume() const {
  if (wake_ == Wake::Cancelled) throw Cancelled();
  return wake_ == Wake::Ready;
}

void run_flow(Strand& strand, Flow<> flow, const std::stop_token& stop) {
  strand.begin(std::move(flow));
  auto listening = stop;
  while (!strand.ended()) {
    strand.monitor().wait_until(listening, strand.deadline(),
                                [&](const Monitor::Held& held) { return strand.can_go_on(held); });
    if (listening.stop_requested()) {
      strand.cancel();
      listening = {};
    }
    strand.go_on();
  }
  strand.result();
}

}  // namespace zksh
