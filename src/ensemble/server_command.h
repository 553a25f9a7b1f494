// ServerCommand: what the commands that ask servers by four-letter words have in common.
#pragma once

#include "base/json.h"
#include "command/command.h"
#include "ensemble/member_words.h"

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// `hosts`: what the user named; none: all members of this connection's ensemble. Throws
/// ValueError.
AskedServers asked_servers(const Context& cx, const std::vector<std::string>& hosts = {});

struct FourLetterWord {
  std::string_view word;
  std::string_view meaning;
  bool writes = false;      ///< changes something in the server: its counters
  bool has_fields = false;  ///< its answer is lines of a key and a value
};
/// Those of ZooKeeper 3.4 to 3.9, in alphabetical order.
std::span<const FourLetterWord> four_letter_words();

/// {"zk_version": "3.8.0…", "zk_watch_count": 12, …}: the lines "key=value", "key: value" and
/// "key<TAB>value" of an answer; whole numbers as numbers.
Json answer_fields(std::string_view answer);

/// The option -t of the commands that ask servers, and its value.
void declare_patience(Options& options, std::optional<std::string>& target,
                      std::string_view otherwise);
std::chrono::milliseconds patience_of(const std::optional<std::string>& given,
                                      std::chrono::milliseconds otherwise);

}  // namespace zksh
