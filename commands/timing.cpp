// timing: print how long each command takes.
#include "command/command.h"
#include "config/settings.h"
#include "node/node_json.h"

namespace zksh::command_timing {
namespace {

struct Args {
  std::optional<std::string> state;
};

void declare(Options& o, Args& a) {
  o.word_of("on|off", a.state, {"on", "off"},
            "Turn it on or off; without a word, show the current setting.");
}

int run(Context& cx, const Args& a) {
  const bool on = cx.services.settings.timing;
  if (a.state)
    cx.services.settings.set("timing", *a.state, "timing");
  else
    print_result(cx, Json::object().set("timing", on), on ? "timing is on" : "timing is off");
  return status::ok;
}

}  // namespace

extern const Command timing_command = make_command<Args>(
    {.name = "timing",
     .group = "Shell",
     .summary = "Show how long each command takes",
     .keywords = {"time", "duration", "slow", "\\timing"},
     .details = "Prints, on standard error, how long each line took, including its output. The "
                "same as `conf timing`.",
     .examples = {{"timing on", "From the next command on, print times."}, {"timing", "Is it on?"}},
     .json = "timing",
     .json_fields = {{"timing", "boolean", "Whether each command's time is printed."}},
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_timing
