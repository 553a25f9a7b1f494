// elect: take part in an election, or show who leads.
#include "client/client.h"
#include "lock/reader.h"
#include "lock/run_lock.h"
#include "lock/text.h"
#include "node/node_json.h"

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
  declare_lock_options(o, a.lock, Holders::One);
}

void print_leader(Context& cx, const std::string& path, const Seat* leader) {
  if (cx.out.json())
    print_json(
        cx, Json::object()
                .set("leader", leader ? Json(short_owner(leader->owner)) : Json())
                .set("node",
                     leader ? Json(join_path(path, leader->contender.nodes.front().text)) : Json())
                .set("token", leader ? token_json(leader->token) : Json()));
  else if (leader)
    cx.out.line("{}", cx.out.shown(short_owner(leader->owner)));
  else
    cx.out.err_line("{} has no leader", cx.out.shown_in_error(path));
}

/// Prints the leader unless it is the one with the reported token, and returns its token; 0: nobody
/// leads.
std::int64_t show(Context& cx, const std::string& path, LockReader& reader,
                  std::optional<std::int64_t> reported) {
  LockView view;
  if (const auto reading = reader.read(cx.stop))
    view = make_lock_view(*reading, {}, "/", cx.client.session_id());
  const auto leader = std::ranges::find(view.seats, SeatState::Holds, &Seat::state);
  const Seat* const seat = leader == view.seats.end() ? nullptr : &*leader;
  const auto token = seat ? seat->token : 0;
  if (reported != token) print_leader(cx, path, seat);
  return token;
}

int listen(Context& cx, const std::string& path) {
  LockReader reader(cx.client, path, true);
  cx.allow_move();
  std::optional<std::int64_t> reported;
  for (;;) {
    reported = show(cx, path, reader, reported);
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
  const bool joins_alone = !options.runs_program() && !options.holds() && !options.detach;
  if (joins_alone && cx.input == Input::Terminal) {
    if (options.id) return run_lock(cx, options, {.paths = {path}});
    if (cx.rehearsal) return status::ok;
    try {
      LockReader reader(cx.client, path, false);
      show(cx, path, reader, std::nullopt);
    } catch (const ZkError& error) {
      if (error.code() != code::no_node) throw;
      print_leader(cx, path, nullptr);
    }
    return status::ok;
  }
  // In a script a leader leads until told to stop.
  if (joins_alone) options.until_signal = true;
  return run_lock(cx, options, {.paths = {path}});
}

}  // namespace

extern const Command elect_command = make_command<Args>(
    {.name = "elect",
     .group = "Locks",
     .summary = "Lead an election, or show who leads",
     .keywords = {"leader", "election", "master"},
     .details = "Candidates queue as for `lock`: the first one leads until it exits or is lost, "
                "then the next one leads. At the prompt, elect with a name leads until `unlock`, "
                "and without a name it shows who leads, and joins nothing. Elsewhere, without a "
                "program, it prints its node once it leads, and leads until a signal. With a "
                "program, it leads while the program runs; write "
                "`--` before the program, or its name is taken for the proposal. The options, the "
                "program's environment and the exit status are those of `lock`.\n\n-l prints the "
                "leader's proposal, then each new leader's. If there is no leader, it says so on "
                "stderr. A leader that leads only for a moment can be missed.",
     .examples = {{"elect /app/leader db1 -- date", "Run a program as the leader."},
                  {"elect -l /app/leader", "Show who leads, and each new leader."}},
     .json = "leader node token | node [token] [tokens] [pid]",
     .endless = {"--listen"},
     .writes = true},
    declare, run);
}  // namespace zksh::command_elect
