// PersistentWatches: zkCli's addWatch, on a thread that lives as long as the session.
#include "client/persistent_watches.h"

#include "client/client.h"
#include "client/patient_connection.h"
#include "client/server_version.h"

#include <fmt/core.h>

#include <exception>
#include <iterator>
#include <utility>

namespace zksh {

bool PersistentWatches::hear(const Monitor::Held& held, const Event& event) {
  if (!state_(held).active) return false;
  (*mailbox_)(held).push_back(event);
  return event.type != Event::Type::Session;
}

Pending<std::string> PersistentWatches::request(const std::string& path, bool add,
                                                std::optional<WatchMode> mode) {
  Request added{
      .path = path, .add = add, .mode = mode, .server = client_->server(), .since = Clock::now()};
  auto done = added.done;
  monitor_.change([&](const Monitor::Held& held) {
    auto& state = state_(held);
    if (state.ended) {
      (*done)(held) = Outcome<std::string>{code::closing, {}};
      return;
    }
    if (!thread_.joinable())
      thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    state.active = true;
    state.requests.push_back(std::move(added));
  });
  return done;
}

void PersistentWatches::add(const std::string& path, WatchMode mode, const std::stop_token& stop) {
  client_->await_connection(path, stop);
  const auto done = request(path, true, mode);
  try {
    const auto result = client_->await(done, stop);
    if (!result.value.empty()) throw Error(result.value);
    if (result.code != code::ok)
      throw with_version_for_watches(*client_, ZkError(result.code, path));
  } catch (const Cancelled&) {
    request(path, false, mode);
    throw;
  }
}

bool PersistentWatches::remove(const std::string& path, std::optional<WatchMode> mode,
                               const std::stop_token& stop) {
  const bool active =
      monitor_.with_lock([&](const Monitor::Held& held) { return state_(held).active; });
  return active && client_->await(request(path, false, mode), stop).code == code::ok;
}

std::map<std::string, WatchMode> PersistentWatches::all() const {
  return monitor_.with_lock([&](const Monitor::Held& held) { return state_(held).roots; });
}

void PersistentWatches::tell(const Event& event) {
  monitor_.with_lock([&](const Monitor::Held& held) { report_.event(held, event); });
}

void PersistentWatches::settle(std::chrono::milliseconds longest, const std::stop_token& stop) {
  const auto heard = monitor_.with_lock([&](const Monitor::Held& held) {
    return state_(held).active ? state_(held).taken + (*mailbox_)(held).size() : 0;
  });
  if (heard == 0) return;
  monitor_.wait_until(stop, Clock::now() + longest, [&](const Monitor::Held& held) {
    const auto& state = state_(held);
    return state.reported >= heard || !state.active || state.ended;
  });
}

void PersistentWatches::serve(const std::stop_token& stop) {
  NodeWatches watches(*client_, mailbox_, survey_);
  const auto has_work = [&](const Monitor::Held& held) {
    return !(*mailbox_)(held).empty() || !state_(held).requests.empty();
  };
  while (monitor_.wait(stop, has_work)) {
    try {
      serve_once(watches, stop);
    } catch (const Cancelled&) {
      break;                                 // the shell exits
    } catch (const std::exception& error) {  // Error, or the library's, such as bad_alloc
      give_up(watches, error.what());
    }
  }
  monitor_.change([&](const Monitor::Held& held) {
    auto& state = state_(held);
    state.ended = true;
    for (const auto* requests : {&state.in_progress, &state.requests})
      for (const auto& request : *requests)
        (*request.done)(held) = Outcome<std::string>{code::closing, {}};
  });
}

/// Ends all watches, and says so.
void PersistentWatches::give_up(NodeWatches& watches, const std::string& reason) {
  watches.clear();
  monitor_.change([&](const Monitor::Held& held) {
    auto& state = state_(held);
    for (const auto& request : std::exchange(state.in_progress, {}))
      (*request.done)(held) = Outcome<std::string>{code::system_error, reason};
    state.roots.clear();
    state.reported = state.taken;
    state.active = !state.requests.empty() || !(*mailbox_)(held).empty();
    report_.warning(held, "all watches of addWatch are removed: " + reason);
  });
}

void PersistentWatches::serve_once(NodeWatches& watches, const std::stop_token& stop) {
  std::deque<Event> events;
  std::deque<Request> requests;
  monitor_.with_lock([&](const Monitor::Held& held) {
    auto& state = state_(held);
    events.swap((*mailbox_)(held));
    requests = std::exchange(state.requests, {});
    state.in_progress = requests;
    state.taken += events.size();
  });
  for (const auto& event : events) watches.note(event);
  watches.catch_up(stop);
  report_events(watches);
  std::vector<std::optional<Result>> results;
  results.reserve(requests.size());
  for (const auto& request : requests) results.push_back(carry_out(watches, request, stop));
  monitor_.change([&](const Monitor::Held& held) {
    auto& state = state_(held);
    state.reported += events.size();
    state.in_progress.clear();
    std::deque<Request> again;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (results[i])
        (*requests[i].done)(held) = std::move(*results[i]);
      else
        again.push_back(std::move(requests[i]));
    }
    state.requests.insert(state.requests.begin(), std::make_move_iterator(again.begin()),
                          std::make_move_iterator(again.end()));
    state.roots = watches.modes();
    state.active = !state.roots.empty() || !state.requests.empty() || !(*mailbox_)(held).empty();
  });
}

void PersistentWatches::report_events(NodeWatches& watches) {
  const auto events = watches.take_events();
  const auto hidden = watches.take_unreadable_roots();
  monitor_.with_lock([&](const Monitor::Held& held) {
    for (const auto& event : events) report_.event(held, event);
    if (!hidden.empty())
      report_.warning(
          held, fmt::format(
                    "no permission to read {}{}: servers do not report its changes", hidden.front(),
                    hidden.size() > 1 ? fmt::format(" and {} more", hidden.size() - 1) : ""));
  });
}

/// nullopt: the connection was lost, and there is another one; the request must be repeated when
/// the events of both have been noted.
std::optional<PersistentWatches::Result> PersistentWatches::carry_out(NodeWatches& watches,
                                                                      const Request& request,
                                                                      const std::stop_token& stop) {
  if (!request.add)
    return Result{watches.remove(request.path, request.mode) ? code::ok : code::no_watcher, {}};
  const int result = watches.add(request.path, *request.mode, stop);
  report_events(watches);
  if (!is_repeatable_failure(result)) return Result{result, {}};
  try {
    await_reconnection(*client_, request.path, request.since, stop);
  } catch (const ZkError& error) {
    return Result{error.code(), {}};
  }
  if (client_->server() != request.server) return Result{result, {}};
  return std::nullopt;
}

}  // namespace zksh
