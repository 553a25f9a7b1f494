// Fuzzes answers to four-letter words: a byte chooses the parser.
#include "client/four_letter_word.h"
#include "ensemble/deep_health.h"
#include "ensemble/ensemble_load.h"
#include "ensemble/health.h"
#include "ensemble/server_poller.h"
#include "fuzz.h"

#include <limits>

namespace zksh::fuzz {
namespace {

void read_sessions(std::string_view text) {
  const auto inside = [&](std::string_view path) {
    return path.data() >= text.data() && path.data() + path.size() <= text.data() + text.size();
  };
  for (const auto& paths : {parse_ephemerals(text), parse_wchc(text)})
    for (const auto& [session, each] : paths)
      require(std::ranges::all_of(each, inside), "paths stand in the answer");
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  require(parse_connections(text).size() <= lines, "a line is one connection");
  parse_dump(text);
  parse_wchp(text);
}

void read_counts(std::string_view text) {
  const auto counts = parse_watch_counts(std::string(text));
  if (counts) between(*counts, *counts);
  for (const char* const key : {"zk_version", "Zxid", "clientPort", "Mode", ""})
    require(answer_field(text, key).find('\n') == std::string_view::npos, "a field is on a line");
  is_refusal(text);
  is_not_serving(text);
}

/// All words of a server have the same answer, and its AdminServer too.
void look_deeper(const MemberHealth& health, const std::string& text) {
  const ServerAnswer answer{.text = text};
  const MemberDetails details{.health = health,
                              .mntr = answer,
                              .conf = answer,
                              .cons = answer,
                              .dirs = answer,
                              .hash = answer,
                              .properties = {.body = text},
                              .configuration = {.body = text}};
  DeepHealth deep;
  check_servers({details, details}, deep);
  largest_answer({details});
  require(deep.passed().size() + deep.findings().size() + deep.unchecked().size() > 0,
          "each check passes, finds something or was not possible");
  for (const auto& finding : deep.findings())
    require(!finding.problem.empty() && !finding.remedy.empty(), "a finding has a remedy");
}

/// Two looks at the same server.
void measure_load(const std::string& text) {
  const ServerAnswer answer{.text = text};
  const std::vector<MemberAnswers> members{
      {.address = {.host = "a", .port = 1},
       .answers = std::vector<ServerAnswer>(LoadMeter::words().size(), answer)}};
  const auto names = first_ephemerals({answer});
  LoadMeter meter;
  Clock::time_point now{};
  for (int look = 0; look < 2; ++look) {
    const auto load = meter.take(members, names, now += std::chrono::seconds(1));
    for (const auto& client : load.clients)
      require(client.requests.value_or(0) >= 0, "nothing happens less than never", text);
    for (const auto& node : load.nodes)
      require(node.reads + node.writes > 0, "such nodes were used", text);
  }
}

/// The answers of two members, alternating.
void read_healths(std::string_view text) {
  std::vector<MemberHealth> members;
  Input input(text);
  for (const int port : {2181, 2182}) {
    MemberAnswers member;
    member.address.host = "10.0.0.1";
    member.address.port = port;
    for (std::size_t i = 0; i < health_words().size(); ++i) {
      std::string answer;
      for (auto line = input.line(); !line.empty(); line = input.line())
        answer.append(line).append("\n");
      member.answers.push_back({.text = std::move(answer)});
    }
    members.push_back(read_health(member));
  }
  for (const auto& member : members) look_deeper(member, std::string(text));
  measure_load(std::string(text));
  const auto membership = parse_membership(text);
  for (const bool known : {false, true}) {
    const HealthLimits limits{
        .behind = 10, .outstanding = 10, .latency = std::chrono::milliseconds(10)};
    const auto health = judge(members, known ? std::optional(membership) : std::nullopt, limits);
    require(!health.summary.empty(), "a verdict is summed up");
    // Without a quorum, the summary is enough.
    require(health.problems.empty() ? health.verdict != Verdict::Degraded
                                    : health.verdict != Verdict::Healthy,
            "there are problems, or all is well", health.summary);
  }
}

}  // namespace

void server_answers_fuzz(std::string_view bytes) {
  Input input(bytes);
  const auto reader = input.byte() % 3;
  if (reader == 0) read_sessions(input.rest());
  if (reader == 1) read_counts(input.rest());
  if (reader == 2) read_healths(input.rest());
}

}  // namespace zksh::fuzz
