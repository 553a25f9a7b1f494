// JointReads: a Client whose reads are all answered as of one moment.
#include "client/joint_reads.h"

#include "base/error.h"

#include <fmt/core.h>

#include <cstdint>
#include <utility>

namespace zksh {
namespace {

constexpr const char* too_many =
    "a read in a transaction is of one node, without -R and -l and without a pattern";

}  // namespace

/// `take` makes the answer's value from the result.
template <class T, class Take>
Pending<T> JointReads::collect(ReadOp op, const Watch& watch, Take take) {
  if (watch.is_set()) throw ValueError("a read in a transaction cannot set a watch");
  const auto place = ops_.size();
  ops_.push_back(std::move(op));
  return std::make_shared<Answer<T>>(
      [results = results_, place, take](const Monitor::Held& /*held*/) {
        // A caller that awaits each answer before the next request would wait for ever.
        if (results->empty()) throw ValueError(too_many);
        auto& result = (*results)[place];
        return Outcome<T>{.code = result.code, .value = take(result)};
      });
}

Pending<Node> JointReads::start_get(const std::string& path, const Watch& watch) {
  if (is_read_) return inner().start_get(path, watch);
  return collect<Node>({.what = ReadOp::What::Value, .path = path}, watch, [](ReadResult& result) {
    return Node{.data = std::move(result.data), .stat = result.stat};
  });
}

Pending<Children> JointReads::start_children(const std::string& path, const Watch& watch) {
  if (is_read_) return inner().start_children(path, watch);
  return collect<Children>({.what = ReadOp::What::Listing, .path = path}, watch,
                           [](ReadResult& result) {
                             return Children{.names = std::move(result.names), .stat = result.stat};
                           });
}

Reads JointReads::start_reads(const std::vector<ReadOp>& ops) {
  if (!is_read_) throw ValueError(too_many);
  return inner().start_reads(ops);
}

/// The server makes the whole answer in memory, several times: one that is too large would kill it.
void JointReads::refuse_large(const std::stop_token& stop) {
  constexpr std::size_t most_reads = 500;
  constexpr std::size_t few = 4;  // a node has a mebibyte at most
  constexpr std::int64_t most_bytes = 4 << 20;
  constexpr std::int64_t usual_name = 40;
  if (ops_.size() > most_reads)
    throw Error(fmt::format("{} reads are too many for one moment: at most {} fit a request",
                            ops_.size(), most_reads));
  if (ops_.size() <= few) return;
  std::vector<Pending<Stat>> sizes;
  sizes.reserve(ops_.size());
  for (const auto& op : ops_) sizes.push_back(inner().start_exists(op.path, Watch::none()));
  std::int64_t bytes = 0;
  for (const auto& size : sizes) {
    const auto stat = inner().await(size, stop).value;  // empty where it may not be read
    bytes += stat.data_length + stat.num_children * usual_name;
  }
  if (bytes > most_bytes)
    throw Error(
        fmt::format("the answer would have about {} MiB, which the server would keep in memory "
                    "several times; at most {} MiB are read as of one moment",
                    bytes >> 20, most_bytes >> 20));
}

void JointReads::read(const std::stop_token& stop) {
  is_read_ = true;
  if (ops_.empty()) return;
  const auto& path = ops_.front().path;
  learn_server(path, stop);
  refuse_large(stop);
  const auto start = [&] {
    const auto reads = inner().start_reads(ops_);
    if (reads.requests > 1)
      throw Error(
          "the server cannot read several nodes at one moment: it is older than ZooKeeper 3.6, or "
          "does not say (srvr); read them one by one, or fewer at a time");
    return reads.answer;
  };
  auto outcome = ask(path, start, stop);
  if (outcome.code != code::ok) throw ZkError(outcome.code, path);
  monitor().with_lock([&](const Monitor::Held&) { *results_ = std::move(outcome.value); });
}

}  // namespace zksh
