// elect: take part in an election, or show who leads.
#include "base/json.h"
#include "lock/reader.h"
#include "lock/run_lock.h"
#include "lock/text.h"

#include <algorithm>

namespace zksh::command_elect {
namespace {

struct Args {
  std::string path;
  std::optional<std::string> proposal;
  bool listen = false;
  LockOptions lock;
};

void declare(Options& o, Args& a) {
  o.flag("-l,--listen", a.listen,
         "Do not run for election: print the leader, and each new one, until Ctrl-C.");
  o.node("path", a.path, "The election: the node below which the candidates queue.");
  o.text("proposal", a.proposal, "The candidate's name; default: as for --id.", "text");
  declare_once(o, a.lock);
  declare_lock_options(o, a.lock, true);
}

void print_leader(Context& cx, const std::string& path, const LockSeat* leader) {
  if (cx.out.json())
    cx.out.line(
        "{}", Json::object()
                  .set("leader", leader ? Json(short_owner(leader->owner)) : Json())
                  .set("node", leader ? Json(join_path(path, leader->contender.nodes.front().text))
                                      : Json())
                  .set("token", leader ? token_json(leader->token) : Json())
                  .text());
  else if (leader)
    cx.out.line("{}", cx.out.shown(short_owner(leader->owner)));
  else
    cx.out.err_line("{} has no leader", cx.out.shown_in_error(path));
}

int listen(Context& cx, const std::string& path) {
  LockReader reader(cx.client, path, true);
  cx.allow_move();
  std::optional<std::int64_t> reported;  // the leader's token; 0: nobody leads
  for (;;) {
    LockView view;
    if (const auto reading = reader.read(cx.stop))
      view = make_lock_view(*reading, {}, "/", cx.client.session_id());
    const auto leader = std::ranges::find(view.seats, SeatState::Holds, &LockSeat::state);
    const LockSeat* const seat = leader == view.seats.end() ? nullptr : &*leader;
    const auto token = seat ? seat->token : 0;
    if (reported != token) print_leader(cx, path, seat);
    reported = token;
    reader.await_change(cx.stop);
  }
}

int run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  auto options = a.lock;
  if (a.listen) {
    if (a.proposal) throw UsageError("--listen takes no proposal and no program");
    return listen(cx, path);
  }
  if (a.proposal && options.id) throw UsageError("give a proposal or --id, not both");
  if (a.proposal) options.id = a.proposal;
  // A leader leads until told to stop.
  if (!options.runs_program() && !options.holds() && !options.detach) options.until_signal = true;
  return run_lock(cx, options, {.paths = {path}});
}

}  // namespace

extern const Command elect_command = make_command<Args>(
    {.name = "elect",
     .group = "Locks",
     .summary = "Lead an election, or show who leads",
     .keywords = {"leader", "election", "master"},
     .details = "Candidates queue as for `lock`: the first one leads until it exits or is lost, "
                "then the next one leads. Without a program, elect prints its node once it leads, "
                "and leads until a signal. With a program, it leads while the program runs; write "
                "`--` before the program, or its name is taken for the proposal. The options, the "
                "program's environment and the exit status are those of `lock`.\n\n-l prints the "
                "leader's proposal, then each new leader's. If there is no leader, it says so on "
                "stderr. A leader that leads only for a moment can be missed.",
     .examples = {{"elect /app/leader db1 -- date", "Run a program as the leader."}},
     .json = "leader node token | node [token] [tokens] [pid]",
     .strict = true,
     .endless = {"--listen"},
     .writes = true},
    declare, run);
}  // namespace zksh::command_elect
