// Latency: measures round trips of single requests to each server of an ensemble.
#include "ensemble/latency.h"

#include "base/time.h"
#include "client/client.h"
#include "client/zk_error.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {
namespace {

/// A session with one server, and the requests on it.
class Prober {
 public:
  Prober(Client& own, MemberLatency& result, const LatencyPlan& plan)
      : plan_(plan), result_(result), client_(own.another()) {
    client_->open(result.address.text() + plan.chroot);
  }

  Client& client() { return *client_; }
  MemberLatency& result() { return result_; }
  bool goes_on() const { return result_.problem.empty(); }

  /// Prepares what the probes need.
  void prepare(const std::vector<Credential>& credentials, const std::stop_token& stop) {
    for (const auto& [scheme, secret] : credentials)
      await(client_->start_add_auth(scheme, secret), stop);
    result_.probes = {{.probe = Probe::Read}, {.probe = Probe::Sync}};
    if (!plan_.write) return;
    auto& write = result_.probes.emplace_back(ProbeTimes{.probe = Probe::Write});
    const auto made = await(client_->start_create(plan_.node()), stop);
    if (!made) return;
    if (made->code == code::ok)
      node_ = made->value.path;
    else
      write.problem = keeper_message(made->code, plan_.parent);
  }

  void round(const std::stop_token& stop) {
    for (auto& each : result_.probes) {
      if (!goes_on() || stop.stop_requested()) return;
      if (each.problem.empty()) try_once(each, stop);
    }
  }

 private:
  /// nullopt if there was no answer in time, or after a stop.
  template <class T>
  std::optional<Outcome<T>> await(const Pending<T>& pending, const std::stop_token& stop) {
    auto& monitor = client_->monitor();
    const auto there = [&](const Monitor::Held& held) { return (*pending)(held).has_value(); };
    if (monitor.wait_until(stop, Clock::now() + plan_.patience, there))
      return monitor.with_lock([&](const Monitor::Held& held) { return *(*pending)(held); });
    if (!stop.stop_requested())
      result_.problem = fmt::format("no answer within {}", short_time(plan_.patience));
    return std::nullopt;
  }

  template <class T>
  void await_answer(ProbeTimes& each, Clock::time_point begin, const Pending<T>& pending,
                    const std::stop_token& stop) {
    const auto answer = await(pending, stop);
    const auto end = Clock::now();
    if (!answer) return;
    if (answer->code == code::ok || (each.probe == Probe::Read && answer->code == code::no_node))
      each.times.push_back(end - begin);
    else
      each.problem = keeper_message(answer->code, each.probe == Probe::Write ? node_ : plan_.path);
  }

  void try_once(ProbeTimes& each, const std::stop_token& stop) {
    const auto begin = Clock::now();
    switch (each.probe) {
      case Probe::Read:
        return await_answer(each, begin, client_->start_exists(plan_.path, Watch::none()), stop);
      case Probe::Sync:
        return await_answer(each, begin, client_->start_sync(plan_.path), stop);
      case Probe::Write:
        return await_answer(each, begin,
                            client_->start_set({.path = node_, .data = plan_.node().data}), stop);
    }
  }

  const LatencyPlan& plan_;
  MemberLatency& result_;
  std::unique_ptr<Client> client_;
  std::string node_;
};

}  // namespace

void measure_latency(Client& own, std::vector<MemberLatency>& members, const LatencyPlan& plan,
                     const std::stop_token& stop) {
  std::vector<std::unique_ptr<Prober>> probers;
  probers.reserve(members.size());
  for (auto& member : members)
    if (member.problem.empty()) probers.push_back(std::make_unique<Prober>(own, member, plan));
  auto& monitor = own.monitor();
  monitor.wait_until(stop, Clock::now() + plan.patience, [&](const Monitor::Held& held) {
    return std::ranges::all_of(
        probers, [&](const auto& each) { return is_connected(each->client().state(held)); });
  });
  monitor.with_lock([&](const Monitor::Held& held) {
    for (const auto& each : probers)
      if (!is_connected(each->client().state(held)))
        each->result().problem = fmt::format("no session within {}", short_time(plan.patience));
  });
  const auto credentials = own.credentials();
  for (const auto& each : probers)
    if (each->goes_on()) each->prepare(credentials, stop);
  for (std::size_t i = 0; i < plan.rounds && !stop.stop_requested(); ++i)
    for (const auto& each : probers)
      if (each->goes_on()) each->round(stop);
  // All at once: a server that does not answer takes a second or two.
  for (const auto& each : probers) each->client().begin_close();
  for (const auto& each : probers) each->client().close();
}

Histogram::Histogram(std::chrono::nanoseconds shortest, std::chrono::nanoseconds longest,
                     std::size_t buckets) {
  const auto whole = static_cast<double>(longest.count());
  const auto power = [&](double factor) {
    auto product = static_cast<double>(shortest.count());
    for (std::size_t i = 0; i < buckets; ++i) product *= factor;
    return product;
  };
  // By bisection: if anything used the mathematical library, every start of zksh would load it.
  constexpr int enough_halvings = 64;
  double factor = 1;
  double above = whole / static_cast<double>(shortest.count()) + 1;
  for (int i = 0; i < enough_halvings; ++i) {
    const auto middle = (factor + above) / 2;
    (power(middle) > whole ? above : factor) = middle;
  }
  std::chrono::duration<double, std::nano> bound = shortest;
  for (std::size_t i = 0; i < buckets; ++i, bound *= factor)
    bounds_.push_back(std::chrono::round<std::chrono::nanoseconds>(bound));
  bounds_.push_back(longest);
}

std::vector<std::size_t> Histogram::count(
    const std::vector<std::chrono::nanoseconds>& times) const {
  std::vector<std::size_t> counts(bounds_.size() - 1);
  for (const auto time : times) {
    const auto upper = std::lower_bound(bounds_.begin() + 1, bounds_.end() - 1, time);
    ++counts[static_cast<std::size_t>(upper - bounds_.begin() - 1)];
  }
  return counts;
}

std::chrono::nanoseconds Histogram::bound(std::size_t bucket) const { return bounds_.at(bucket); }

std::string bars(const std::vector<std::size_t>& counts, bool ascii) {
  constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> signs{".", ":", "-", "=", "+", "*", "#", "@"};
  const auto most = counts.empty() ? 0 : std::ranges::max(counts);
  std::string text;
  if (most == 0) text.assign(counts.size(), ' ');
  if (most == 0) return text;
  for (const auto count : counts) {
    // Rounded up, so that the smallest count is visible.
    const auto level = count == 0 ? 0 : (count * blocks.size() + most - 1) / most;
    text += level == 0 ? " " : ascii ? signs.at(level - 1) : blocks.at(level - 1);
  }
  return text;
}

}  // namespace zksh
