// try_sessions: opens a session with each member of an ensemble, and closes it.
#include "ensemble/member_sessions.h"

#include "base/error.h"
#include "base/number.h"
#include "base/time.h"
#include "client/client.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace zksh {
namespace {

struct Trial {
  MemberHealth& member;
  std::unique_ptr<Client> client;

  SessionState state(const Monitor::Held& held) const { return client->state(held); }
  bool is_over(const Monitor::Held& held) const {
    return is_connected(state(held)) || state(held) == SessionState::AuthFailed;
  }
  void judge(SessionState state, std::chrono::milliseconds time) const {
    if (state == SessionState::AuthFailed) {
      member.note += (member.note.empty() ? "" : "; ") +
                     std::string("no session was tried, as it refuses the identity of this zksh");
      return;
    }
    member.session = is_connected(state);
    if (*member.session) return;
    const auto waiting =
        static_cast<std::size_t>(std::max<std::int64_t>(member.outstanding.value_or(0), 0));
    member.problem = fmt::format(
        "it answers srvr, but opens no session within {}{}", short_time(time),
        waiting == 0
            ? ""
            : fmt::format("; {} {}", counted(waiting, "request"), waiting == 1 ? "waits" : "wait"));
  }
};

}  // namespace

void try_sessions(Client& own, const std::vector<MemberAnswers>& answers,
                  std::vector<MemberHealth>& members, std::chrono::milliseconds time,
                  const std::stop_token& stop) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i].serves()) continue;
    trials.push_back({.member = members[i], .client = own.another()});
    trials.back().client->open(answers[i].address.text());
  }
  own.monitor().wait_until(stop, Clock::now() + time, [&](const Monitor::Held& held) {
    return std::ranges::all_of(trials, [&](const Trial& each) { return each.is_over(held); });
  });
  if (stop.stop_requested()) throw Cancelled();
  for (const auto& each : trials)
    each.judge(own.monitor().with_lock([&](const Monitor::Held& held) { return each.state(held); }),
               time);
  // All at once: a server that does not answer takes a second or two.
  for (const auto& each : trials) each.client->begin_close();
  for (const auto& each : trials) each.client->close();
}

}  // namespace zksh
