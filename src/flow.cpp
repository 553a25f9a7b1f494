// Strand: driving a coroutine from wait to wait.
#include "flow.h"

namespace zksh {
namespace {

bool is_past(Clock::time_point deadline) {
  return deadline != Strand::never && Clock::now() >= deadline;
}

}  // namespace

void Strand::begin(Flow<> flow) {
  flow_.emplace(std::move(flow));
  place_ = flow_->handle();
  ready_ = nullptr;
  deadline_ = Clock::time_point::min();
}

bool Strand::can_go_on(const Monitor::Held& held) const {
  if (!place_) return false;
  return !ready_ || is_cancelled(held) || (*ready_)(held) || is_past(deadline_);
}

void Strand::go_on() {
  const auto place = std::exchange(place_, {});
  ready_ = nullptr;
  deadline_ = never;
  subject_ = nullptr;
  if (place) place.resume();
}

void Strand::result() { flow_->result(); }

void Strand::cancel() {
  monitor_.change([&](const Monitor::Held& held) { cancel_(held) = true; });
}

bool Strand::Wait::await_ready() {
  return strand_.monitor_.look([&](const Monitor::Held& held) {
    return strand_.is_cancelled(held) || ready_(held) || is_past(deadline_);
  });
}

void Strand::Wait::await_suspend(std::coroutine_handle<> waiting) {
  strand_.monitor_.look([&](const Monitor::Held& /*held*/) {
    strand_.place_ = waiting;
    strand_.ready_ = &ready_;
    strand_.deadline_ = deadline_;
    strand_.subject_ = subject_;
  });
}

bool Strand::Wait::await_resume() {
  const auto result = strand_.monitor_.look([&](const Monitor::Held& held) {
    if (strand_.is_cancelled(held)) {
      strand_.cancel_(held) = false;
      return -1;
    }
    return ready_(held) ? 1 : 0;
  });
  if (result < 0) throw Cancelled();
  return result > 0;
}

void run_flow(Strand& strand, Flow<> flow, const std::stop_token& stop) {
  strand.begin(std::move(flow));
  auto listening = stop;
  while (!strand.ended()) {
    const bool goes_on = strand.monitor().wait_until(
        listening, strand.deadline(),
        [&](const Monitor::Held& held) { return strand.can_go_on(held); });
    if (listening.stop_requested()) {
      strand.cancel();
      listening = {};
    }
    if (goes_on || Clock::now() >= strand.deadline()) strand.go_on();
  }
  strand.result();
}

}  // namespace zksh
