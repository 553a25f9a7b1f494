// EventPrinter: what a session's events look like to the user.
#include "shell/event_printer.h"

#include <fmt/core.h>

namespace zksh {
namespace {

// Two lines of zkCli's, each with an empty line before it.
constexpr auto event_format = "\nWATCHER::\n\nWatchedEvent state:{} type:{} path:{}\n";

}  // namespace

void EventPrinter::operator()(const Monitor::Held& held, const Event& event,
                              const std::string& refusal) {
  if (event.type == Event::Type::Session && event.state == SessionState::AuthFailed)
    authentication_news(held, refusal);
  else if (event.type == Event::Type::Session)
    connection_news(held, event.state);
  else
    watch_event(held, event);
}

void EventPrinter::warn(const Monitor::Held& held, const std::string& text) {
  queue_.add(held, Stream::Err, (style_.err_is_terminal ? escape_for_terminal(text) : text) + '\n');
}

void EventPrinter::watch_event(const Monitor::Held& held, const Event& event) {
  if (!settings_.print_watches) return;
  const bool mirrored = input_ == Input::Terminal || input_ == Input::Pipe;
  const bool terminal = mirrored ? style_.out_is_terminal : style_.err_is_terminal;
  // Java's client says SyncConnected whatever the state, but for a watch removed without a server.
  queue_.add(
      held, mirrored ? Stream::Out : Stream::Err,
      fmt::format(event_format,
                  event.state == SessionState::Connecting ? "Disconnected" : "SyncConnected",
                  event_name(event.type), terminal ? escape_for_terminal(event.path) : event.path));
}

void EventPrinter::connection_news(const Monitor::Held& held, SessionState state) {
  const auto tell = [&](std::string_view news) {
    queue_.add(held, Stream::Err, fmt::format("{}\n", news));
  };
  switch (state) {
    case SessionState::Connected:
    case SessionState::ConnectedReadOnly:
      if (state == SessionState::ConnectedReadOnly)
        tell("connected to a read-only server: it is cut off from the others, writes are refused");
      else if (lost_)
        tell("connected again; the session is the same");
      lost_ = false;
      break;
    case SessionState::Connecting:
      tell("connection lost; trying the servers in turn");
      lost_ = true;
      break;
    case SessionState::Expired:
      tell(fmt::format(
          "session expired: its ephemerals, watches and locks are gone; {}",
          input_ == Input::Terminal ? "opening a new one" : "the next command opens a new one"));
      lost_ = false;
      break;
    case SessionState::AuthFailed:
    case SessionState::Closed:
      lost_ = false;
      break;
  }
}

/// zkCli.sh knows no file of credentials: what is said of one is said to its users, too.
void EventPrinter::authentication_news(const Monitor::Held& held, const std::string& refusal) {
  if (input_ == Input::Pipe && settings_.print_watches)
    queue_.add(held, Stream::Out, fmt::format(event_format, "AuthFailed", "None", "null"));
  if (!refusal.empty())
    warn(held, "authentication failed: " + refusal);
  else if (input_ != Input::Pipe)
    warn(held, "authentication failed: the session is dead; `connect` opens another");
}

}  // namespace zksh
