// Inquiry: answers requests from the build, the tests and the shells' completion.
#include "shell/inquiry.h"

#include "base/text.h"
#include "command/command.h"
#include "config/configuration.h"
#include "session/session.h"
#include "shell/arguments.h"
#include "shell/complete.h"
#include "shell/man_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sys/time.h>
#include <unistd.h>

namespace zksh {
namespace {

constexpr std::chrono::milliseconds connect_limit{300};
constexpr suseconds_t whole_limit = 900'000;  // microseconds

/// Exits silently after the limit, as a user is waiting for the Tab: neither a name look-up nor a
/// frozen server can be interrupted otherwise.
void end_in_time() {
  std::signal(SIGALRM, [](int) { _exit(status::ok); });
  itimerval limit{};
  limit.it_value.tv_usec = whole_limit;
  setitimer(ITIMER_REAL, &limit, nullptr);
}

/// Beyond this, Stats are not read: no shell lists so many candidates.
constexpr std::size_t most_stats = 2000;

Candidates matching_children(Client& client, const std::string& parent, const std::string& prefix) {
  client.await_connection(parent, {});
  auto names = client.children(parent, Watch::none(), {}).names.strings();
  // A name that must be escaped cannot be printed in a list of lines.
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(prefix) || escape_for_terminal(name) != name;
  });
  std::ranges::sort(names);
  Candidates nodes;
  nodes.count = names.size();
  std::vector<Pending<Stat>> stats;
  stats.reserve(names.size());
  if (names.size() <= most_stats)
    for (const auto& name : names)
      stats.push_back(client.start_exists(join_path(parent, name), Watch::none()));
  nodes.first.reserve(names.size());
  for (auto& name : names) nodes.first.push_back({.text = std::move(name)});
  for (std::size_t i = 0; i < stats.size(); ++i) {
    const auto stat = client.await(stats[i], {});
    if (stat.code == code::ok && stat.value.num_children > 0) nodes.first[i].text += '/';
  }
  return nodes;
}

/// The nodes that a zksh with these options would see, read once; none if the options are wrong:
/// completion does not report errors.
NodeSource nodes_for(const std::vector<std::string>& given) {
  return [given](const std::string& parent, const std::string& prefix) {
    end_in_time();
    try {
      auto arguments = parse_arguments(given);
      if (arguments.sandbox_servers != 0) return Candidates();  // it does not exist yet
      arguments.session.connect_timeout = connect_limit;
      prepare_security(arguments.session.security);
      Monitor monitor;
      Session session(monitor, std::move(arguments.session), arguments.server,
                      [](const Monitor::Held&, const Event&) {});
      return matching_children(session, parent, prefix);
    } catch (const Error&) {
      return Candidates();
    }
  };
}

std::vector<std::string> configured_profiles() {
  try {
    Configuration config;
    config.read_files(std::nullopt);
    return config.profiles();
  } catch (const Error&) {
    return {};
  }
}

std::string candidates(const std::vector<std::string>& words) {
  auto options = process_options();
  for (auto& option : options)
    if (std::ranges::find(option.names, "--profile") != option.names.end())
      option.choices = configured_profiles();
  const auto found = complete_invocation(words, options, nodes_for);
  std::string text;
  // A shell that shows no meanings cuts the line at the tab.
  for (const auto& candidate : found.first) {
    const auto sentence = candidate.meaning.substr(0, candidate.meaning.find(". "));
    text += candidate.text + (sentence.empty() ? "" : '\t' + sentence) + '\n';
  }
  return text;
}

std::string examples(const std::vector<std::string>& /*words*/) {
  std::string text;
  for (const Command* command : all_commands())
    for (const auto& example : command->examples)
      text += fmt::format("{}\t{}\n", command->name, example.line);
  return text;
}

std::string man_page_from(const std::vector<std::string>& words) {
  if (words.size() != 1) throw UsageError("--man wants the name of the page's frame");
  std::ifstream file(words.front());
  const std::string frame{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw Error(fmt::format("{}: {}", words.front(), std::strerror(errno)));
  return man_page(frame, process_options());
}

}  // namespace

std::optional<int> answer_inquiry(const std::vector<std::string>& words) {
  static const std::map<std::string, std::string (*)(const std::vector<std::string>&)> inquiries{
      {"--man", man_page_from}, {"--examples", examples}, {"--complete", candidates}};
  const auto inquiry = inquiries.find(words.empty() ? "" : words.front());
  if (inquiry == inquiries.end()) return std::nullopt;
  const auto text = inquiry->second({words.begin() + 1, words.end()});
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? status::ok : status::failure;
}

}  // namespace zksh
