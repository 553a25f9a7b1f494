// ServerCommand: shared by the commands that ask servers four-letter words.
#pragma once

#include "base/json.h"
#include "command/command.h"
#include "ensemble/member_words.h"
#include "ensemble/server_poller.h"

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Declares the words that name servers.
void declare_hosts(Options& options, std::vector<std::string>& hosts);
/// `hosts` are the user's, each a list as in a connect string; if empty, the servers of this
/// connection and the other members of their ensemble. Throws ValueError.
ServersToAsk servers_to_ask(const Context& cx, const std::vector<std::string>& hosts = {});

struct FourLetterWord {
  std::string_view word;
  std::string_view meaning;
  bool writes = false;      ///< changes the server's state: its counters
  bool has_fields = false;  ///< its answer consists of lines with a key and a value
};
/// The words of ZooKeeper 3.4 to 3.9, and those of AdminServers alone, in alphabetical order.
std::span<const FourLetterWord> four_letter_words();

/// Converts the lines "key=value", "key: value" and "key<TAB>value" of an answer to JSON, with
/// whole numbers as numbers: {"zk_version": "3.8.0…", "zk_watch_count": 12, …}.
Json answer_fields(std::string_view answer);

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
