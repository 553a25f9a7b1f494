// incr: add to the number in a node.
#include "base/words.h"
#include "client/client.h"
#include "command/command.h"
#include "node/node_json.h"
#include "node/parents.h"
#include "node/value.h"

#include <limits>

namespace zksh::command_incr {
namespace {

struct Args {
  bool create = false;
  std::string path;
  std::optional<std::string> amount;
};

void declare(Options& o, Args& a) {
  o.flag("-c,--create", a.create, "Create the node if it does not exist; counting starts at 0.");
  o.node("path", a.path, "The node; its value must be a decimal number.");
  o.text("amount", a.amount, "The amount to add; default: 1. Put -- before a negative number.");
}

using Number = std::numeric_limits<std::int64_t>;

std::int64_t number_in(const std::string& path, const Data& data) {
  const auto text = data.value_or("");
  if (!is_number(text))
    throw Error(path +
                " does not hold a number: " + (data ? '"' + text.substr(0, 40) + '"' : "null"));
  return parse_number(text, path, Number::min(), Number::max());
}

std::int64_t sum(const std::string& path, std::int64_t number, std::int64_t amount) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(number, amount, &result))
    throw Error(fmt::format("{}: {} plus {} does not fit in 64 bits; nothing was written", path,
                            number, amount));
  return result;
}

int run(Context& cx, const Args& a) {
  const auto path = cx.resolve(a.path);
  const auto amount =
      a.amount ? parse_number(*a.amount, "amount", Number::min(), Number::max()) : 1;
  std::int64_t result = amount;
  const bool created =
      a.create && !cx.client.exists(path, Watch::none(), cx.stop) &&
      create_if_missing(cx.client, {.path = path, .data = std::to_string(amount)}, cx.stop);
  const auto add = [&](const Node& node) {
    result = sum(path, number_in(path, node.data), amount);
    return std::optional<Data>(std::to_string(result));
  };
  try {
    if (!created) change_value(cx.client, path, add, cx.stop);
  } catch (const ZkError& error) {
    if (error.code() != code::no_node || a.create) throw;
    throw ZkError(error, fmt::format(" (`incr -c {}` creates it)", as_word(path)));
  }
  print_result(cx, path_json(path).set("number", result), std::to_string(result));
  return status::ok;
}

}  // namespace

extern const Command incr_command = make_command<Args>(
    {.name = "incr",
     .group = "Nodes",
     .summary = "Increment the number in a node",
     .keywords = {"counter", "atomic", "add"},
     .details =
         "Prints the new number. Increments are atomic: if somebody else writes at the same time, "
         "zksh reads the value again and retries. If the connection is lost, the write may or may "
         "not have been applied: the status is 10, and zksh does not retry.",
     .examples = {{"incr -c /app/counter", "Create a counter, or add 1."},
                  {"incr /app/counter 10", "Ten more."},
                  {"incr /app/counter -- -3", "Three less."}},
     .json = "path number",
     .writes = true},
    declare, run);
}  // namespace zksh::command_incr
