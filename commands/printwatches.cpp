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
  auto& settings = cx.services.settings;
  const bool on = settings.print_watches;
  if (!a.state)
    print_result(cx, Json::object().set("printwatches", on),
                 on ? "printwatches is on" : "printwatches is off");
  else
    settings.set("printwatches", cx.input == Input::Pipe && *a.state != "on" ? "off" : *a.state,
                 "printwatches");
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
     .json_fields = {{"printwatches", "boolean", "Whether watch events are printed."}},
     .zkcli_syntax = "on|off",
     .needs = Needs::SessionAfter,
     .optionless = true},
    declare, run);
}  // namespace zksh::command_printwatches
