// ServerCommand: shared by the commands that ask servers four-letter words.
#pragma once

#include "command/command.h"
#include "ensemble/member_words.h"
#include "ensemble/server_poller.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Declares the words that name servers.
void declare_hosts(Options& options, std::vector<std::string>& hosts);
/// `hosts` are the user's, each a list as in a connect string; if empty, the servers of this
/// connection and the other members of their ensemble. Throws ValueError.
ServersToAsk servers_to_ask(const Context& cx, const std::vector<std::string>& hosts = {});

/// Names the servers that did not answer, on stderr; returns the resulting exit status.
int report_failures(Context& cx, const SessionSurvey& survey);

/// How long to wait for a server's answer: the option -t.
struct Patience {
  std::chrono::milliseconds usual;
  std::optional<std::string> given{};

  void declare(Options& options);
  /// Throws ValueError for a wrong time.
  std::chrono::milliseconds time() const { return time_or(usual); }
  std::chrono::milliseconds time_or(std::chrono::milliseconds otherwise) const;
};

}  // namespace zksh
