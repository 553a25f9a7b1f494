// Fiber: drives a coroutine from wait to wait.
#include "client/task.h"

namespace zksh {

void Fiber::begin(Task<> task) {
  task_.emplace(std::move(task));
  deadline_ = Clock::time_point::min();
  monitor_.with_lock([&](const Monitor::Held& held) { place_(held) = task_->handle(); });
}

Fiber::Wake Fiber::wake(const Monitor::Held& held, const Wait& wait) const {
  if (cancel_(held) && shields_(held) == 0) return Wake::Cancelled;
  if (wait.ready_(held)) return Wake::Ready;
  if (wait.deadline_ == never || Clock::now() < wait.deadline_) return Wake::NotYet;
  return Wake::Late;
}

bool Fiber::can_resume(const Monitor::Held& held) const {
  if (!place_(held)) return false;
  const auto* const wait = wait_(held);
  return !wait || wake(held, *wait) != Wake::NotYet;
}

void Fiber::resume() {
  const auto place = monitor_.with_lock([&](const Monitor::Held& held) -> std::coroutine_handle<> {
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

void Fiber::result() { task_->result(); }

void Fiber::cancel() {
  monitor_.change([&](const Monitor::Held& held) { cancel_(held) = true; });
}

Fiber::Wait::~Wait() {
  // A suspended task is being destroyed; nothing may refer to it any more.
  fiber_.monitor_.with_lock([&](const Monitor::Held& held) {
    if (fiber_.wait_(held) != this) return;
    fiber_.wait_(held) = nullptr;
    fiber_.place_(held) = {};
  });
}

bool Fiber::Wait::await_ready() {
  return fiber_.monitor_.with_lock([&](const Monitor::Held& held) {
    wake_ = fiber_.wake(held, *this);
    if (wake_ == Wake::Cancelled) fiber_.cancel_(held) = false;
    return wake_ != Wake::NotYet;
  });
}

void Fiber::Wait::await_suspend(std::coroutine_handle<> waiting) {
  fiber_.deadline_ = deadline_;
  fiber_.subject_ = subject_;
  fiber_.monitor_.with_lock([&](const Monitor::Held& held) {
    fiber_.wait_(held) = this;
    fiber_.place_(held) = waiting;
  });
}

bool Fiber::Wait::await_resume() const {
  if (wake_ == Wake::Cancelled) throw Cancelled();
  return wake_ == Wake::Ready;
}

void run_task(Fiber& fiber, Task<> task, const std::stop_token& stop) {
  fiber.begin(std::move(task));
  auto listening = stop;
  while (!fiber.ended()) {
    fiber.monitor().wait_until(listening, fiber.deadline(),
                               [&](const Monitor::Held& held) { return fiber.can_resume(held); });
    if (listening.stop_requested()) {
      fiber.cancel();
      listening = {};
    }
    fiber.resume();
  }
  fiber.result();
}

}  // namespace zksh
