// printwatches: turn the printing of watch events on or off.
#include "command/command.h"
#include "config/settings.h"
#include "node/node_json.h"

namespace zksh::command_printwatches {
namespace {

struct Args {
  std::optional<std::string> state;
};

void declare(Options& o, Args& a) {
  o.word_of("on|off", a.state, {"on", "off"},
            "Without it, show the current setting. On piped input, as in zkCli, any word except on "
            "means off.");
}

int run(Context& cx, const Args& a) {
  if (a.state && cx.input != Input::Pipe)
    cx.services.settings.set("printwatches", *a.state, "printwatches");
  else if (a.state)
    cx.services.settings.set("printwatches", *a.state == "on" ? "on" : "off", "printwatches");
  else if (cx.out.json())
    print_json(cx, Json::object().set("printwatches", cx.services.settings.print_watches.load()));
  else
    cx.out.line("printwatches is {}", cx.services.settings.print_watches ? "on" : "off");
  return status::ok;
}

}  // namespace

extern const Command printwatches_command = make_command<Args>(
    {.name = "printwatches",
     .group = "Watches",
     .summary = "Turn the printing of watch events on or off",
     .keywords = {"event", "notify"},
     .details = "Events that arrive while it is off are dropped.",
     .examples = {{"printwatches", "Is it on?"}, {"printwatches off", "Stop printing events."}},
     .json = "printwatches",
     .zkcli_syntax = "on|off",
     .needs = Needs::SessionAfter,
     .optionless = true},
    declare, run);
}  // namespace zksh::command_printwatches
