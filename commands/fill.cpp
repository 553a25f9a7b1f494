// fill: create a tree of nodes for experiments.
#include "base/number.h"
#include "client/client.h"
#include "command/command.h"
#include "command/work.h"
#include "node/node_json.h"
#include "node/parents.h"
#include "tree/batch_writer.h"

#include <random>

namespace zksh::command_fill {
namespace {

struct Args {
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> depth;
  std::optional<std::string> size;
  std::optional<std::int64_t> seed;
  WorkOptions limits;
  std::string path;
};

void declare(Options& o, Args& a) {
  o.number("-n,--count", a.count, "nodes",
           "Number of nodes to create below the path; default: 1000.");
  o.number("-d,--depth", a.depth, "depth", "Number of levels; default: 1, all nodes side by side.");
  o.text("-s,--size", a.size, "Size of each value in bytes: 100, 4k; default: 16.", "size");
  o.number("--seed", a.seed, "number",
           "Seed of the random values; the same seed gives the same tree.");
  declare_work_limits(o, a.limits);
  o.node("path", a.path, "The top node; created if it does not exist.");
}

constexpr std::int64_t most_nodes = 100'000'000;
constexpr std::int64_t deepest = 100;
constexpr std::int64_t largest_value = 1'000'000;

std::int64_t in_range(std::int64_t number, std::string_view option, std::int64_t least,
                      std::int64_t most) {
  if (number < least || number > most)
    throw ValueError(fmt::format("{} must be from {} to {}", option, least, most));
  return number;
}

/// The number of children per inner node with which `depth` levels hold `count` nodes.
std::int64_t width_of(std::int64_t count, std::int64_t depth) {
  const auto holds = [&](std::int64_t width) {
    std::int64_t sum = 0;
    std::int64_t level = 1;
    for (std::int64_t i = 0; i < depth && sum < count; ++i) {
      level = level > count / width ? count : level * width;
      sum += level;
    }
    return sum >= count;
  };
  std::int64_t below = 0;
  std::int64_t enough = count;
  while (enough - below > 1) {
    const auto middle = below + (enough - below) / 2;
    (holds(middle) ? enough : below) = middle;
  }
  return enough;
}

/// The path relative to the top of node `number`, counted level by level from 1; the top is node 0.
std::string path_below_top(std::int64_t number, std::int64_t width) {
  if (number == 0) return "";
  return path_below_top((number - 1) / width, width) + fmt::format("/n{:07}", (number - 1) % width);
}

/// Printable, to be readable.
std::string random_value(std::size_t size, std::mt19937_64& random) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-";
  std::string text(size, ' ');
  std::uint64_t bits = 0;
  int left = 0;
  for (auto& c : text) {
    if (left == 0) {
      bits = random();
      left = 10;  // letters per 64 bits
    }
    c = letters[bits & 63U];
    bits >>= 6U;
    --left;
  }
  return text;
}

int run(Context& cx, const Args& a) {
  const auto count = in_range(a.count.value_or(1000), "--count", 1, most_nodes);
  const auto depth = in_range(a.depth.value_or(1), "--depth", 1, deepest);
  const auto size = static_cast<std::size_t>(
      in_range(a.size ? parse_size(*a.size, "--size") : 16, "--size", 0, largest_value));
  const auto path = cx.resolve(a.path);
  if (!cx.client.exists(path, Watch::none(), cx.stop)) {
    require_parent(cx.client, path, cx.stop);
    cx.client.create({.path = path, .data = {}}, cx.stop);
  }
  const std::string above = path == "/" ? "" : path;
  std::size_t made = 0;
  std::size_t existing = 0;
  std::optional<ZkError> failure;
  Progress progress(cx.out, cx.background, "nodes created");
  BatchWriter writer(
      cx.client, {.limits = a.limits.limits()},
      [&](const Write& write, const Written& result) {
        if (result.code == code::ok || (result.code == code::node_exists && result.sent_before))
          ++made;
        else if (result.code == code::node_exists)
          ++existing;
        else if (!failure)
          failure = error_of(write, result);
        progress.reach(made, static_cast<std::size_t>(count));
      },
      cx.stop);
  const auto width = width_of(count, depth);
  std::mt19937_64 random(static_cast<std::uint64_t>(a.seed.value_or(1)));
  const auto send_all = [&] {
    for (std::int64_t i = 1; i <= count && !failure; ++i)
      writer.add(
          CreateOp{.path = above + path_below_top(i, width), .data = random_value(size, random)});
    writer.finish();
  };
  report_if_incomplete(cx, progress, send_all, [&] {
    const auto unknown = writer.in_flight();
    if (unknown == 0 && !cx.stop.stop_requested()) return std::string();
    return fmt::format("{} nodes were created; {}", made, unknown_text(unknown));
  });
  print_result(cx, path_json(path).set("created", made).set("existing", existing),
               fmt::format("{} created below {}{}", counted(made, "node"), cx.out.shown(path),
                           existing > 0 ? fmt::format(", {} existed already", existing) : ""));
  if (failure) throw ZkError(*failure);
  return status::ok;
}

}  // namespace

extern const Command fill_command = make_command<Args>(
    {.name = "fill",
     .group = "Trees",
     .summary = "Create a tree of test nodes",
     .keywords = {"generate", "test", "populate"},
     .details = "Creates nodes named n0000000, n0000001, …, with the same number of children at "
                "every node above the last level. Values are random letters and digits. The same "
                "command always gives the same tree; existing nodes are left alone, so an "
                "interrupted fill can be run again.",
     .examples = {{"fill /app/test", "A thousand nodes side by side."},
                  {"fill -n 5000 -d 4 -s 100 /app/deep", "Five thousand nodes in four levels."},
                  {"rm -r -y /app/deep", "Delete them again."}},
     .json = "path created existing",
     .json_fields = {{"existing", "integer", "Nodes that existed already."}},
     .writes = true},
    declare, run);
}  // namespace zksh::command_fill
