// EventPrinter: what a session's events look like to the user.
#pragma once

#include "client/client.h"
#include "command/command.h"
#include "command/output.h"
#include "config/settings.h"

namespace zksh {

/// Puts a session's events into the output queue, in order: watch events as zkCli prints them, on
/// stdout where zkCli's shell is mirrored (typed and piped lines), on stderr elsewhere; connection
/// news on stderr, a line each; that a session begins is none.
/// Called under the monitor.
class EventPrinter {
 public:
  EventPrinter(OutputQueue& queue, const Settings& settings, OutputStyle style, Input input)
      : queue_(queue), settings_(settings), style_(style), input_(input) {}

  /// `refusal`: of a session that is dead, as Session::why_refused has it.
  void operator()(const Monitor::Held& held, const Event& event, const std::string& refusal = {});
  /// A line on stderr, whatever is switched off.
  void warn(const Monitor::Held& held, const std::string& text);

 private:
  void watch_event(const Monitor::Held& held, const Event& event);
  void connection_news(const Monitor::Held& held, SessionState state);
  void authentication_news(const Monitor::Held& held, const std::string& refusal);

  OutputQueue& queue_;
  const Settings& settings_;
  OutputStyle style_;
  Input input_;
  bool lost_ = false;  ///< the connection, since it was last told
};

}  // namespace zksh
