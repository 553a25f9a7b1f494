// Fuzzes the answers to requests of ZooKeeper 3.6 and later: a byte for the operation; for reads, a
// byte for their number and one for the kind of each; and the answer behind its number.
#include "fuzz.h"
#include "session/marshalling.h"
#include "session/reply_validator.h"

#include <array>

namespace zksh::fuzz {
namespace {

std::vector<ReadOp> some_reads(Input& input) {
  using What = ReadOp::What;
  constexpr std::array kinds{What::Value, What::Names, What::Listing, What::Stat};
  std::vector<ReadOp> ops(1 + input.byte() % 6U);
  for (auto& op : ops) op = {.what = kinds.at(input.byte() % kinds.size()), .path = "/a"};
  return ops;
}

void require_read(const std::vector<ReadOp>& ops, std::string_view body) {
  const auto results = multi_read::results(body, ops);
  require(results.size() == ops.size(), "each read has a result");
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto& [code, data, stat, names] = results[i];
    require(!data || ops[i].what == ReadOp::What::Value, "other values are dropped");
    require(stat.data_length >= 0, "a Stat is one that servers send");
    for (std::size_t name = 0; name < names.size(); ++name)
      require(!names[name].empty() && names[name].find('/') == std::string_view::npos,
              "names are those of nodes", names[name]);
  }
}

}  // namespace

void newer_answers_fuzz(std::string_view bytes) {
  constexpr std::array operations{operation::multi_read,        operation::get_ephemerals,
                                  operation::count_descendants, operation::add_watch,
                                  operation::who_am_i,          operation::exists};
  Input input(bytes);
  const auto asked = operations.at(input.byte() % operations.size());
  const auto ops = asked == operation::multi_read ? some_reads(input) : std::vector<ReadOp>();
  const auto body = asked == operation::multi_read ? multi_read::request("/top", ops)
                    : asked == operation::add_watch
                        ? add_watch_request("", "/a", WatchMode::Recursive)
                    : asked == operation::who_am_i ? std::string()
                                                   : path_request("/top", "/a");
  const auto request = request_frame(7, asked, body);
  WireConversation conversation;
  conversation.note_request(request);
  auto answer = request.substr(0, 4).append(input.rest());
  if (conversation.flaw_of(answer) != nullptr) return;
  require(!conversation.expects_answers(), "the request is answered");
  const auto header = answer_header(answer);
  if (header.code != code::ok) return;
  if (asked == operation::multi_read) require_read(ops, header.body);
  if (asked == operation::get_ephemerals)
    for (const auto& path : ephemerals_in(header.body, "/top"))
      require(path.starts_with('/'), "paths are without the chroot", path);
  if (asked == operation::count_descendants) number_in(header.body);
  if (asked == operation::who_am_i) identities_in(header.body);
}

}  // namespace zksh::fuzz
