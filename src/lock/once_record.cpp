// OnceRecord: which keys of --once were run under a lock.
#include "lock/once_record.h"

#include "recipes/lock_requests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace zksh {
namespace {

constexpr std::size_t most_keys = 100;
constexpr std::size_t longest_key = 200;

}  // namespace

OnceRecord::OnceRecord(Context& cx, const Lock& lock)
    : cx_(cx), lock_(lock), path_(path_of(lock.plan().paths.front())) {}

void OnceRecord::check(const std::string& path, const std::string& key) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (key.empty() || key.size() > longest_key || std::ranges::any_of(key, is_control))
    throw UsageError(fmt::format("--once: a key is one line of 1 to {} bytes", longest_key));
  if (path == "/") throw UsageError("--once: beside / there is no place for a record");
}

bool OnceRecord::has(const std::string& key) {
  for (;;) {
    const auto content = read();
    if (!content) throw LockLost(lock_.name() + " was lost");
    if (std::ranges::find(content->keys, key) != content->keys.end()) return true;
    const int result = write(*content);
    if (result == code::ok) return false;
    if (result == code::lock_lost) throw LockLost(lock_.name() + " was lost");
  }
}

bool OnceRecord::add(const std::string& key) {
  for (;;) {
    auto content = read();
    if (!content) return false;
    auto& keys = content->keys;
    if (std::ranges::find(keys, key) != keys.end()) return true;
    keys.push_back(key);
    if (keys.size() > most_keys)
      keys.erase(keys.begin(), keys.end() - static_cast<std::ptrdiff_t>(most_keys));
    const int result = write(*content);
    if (result == code::ok) return true;
    if (result == code::lock_lost) return false;
  }
}

bool OnceRecord::await_connection() {
  const auto gone = [&](const Monitor::Held& held) { return lock_.stage(held) == LockStage::Gone; };
  auto& monitor = cx_.client.monitor();
  const bool settled = monitor.wait(cx_.stop, [&](const Monitor::Held& held) {
    return gone(held) || cx_.client.state(held) == SessionState::Connected;
  });
  if (!settled) throw Cancelled();
  return !monitor.with_lock(gone);
}

std::optional<OnceRecord::Content> OnceRecord::read() {
  while (await_connection()) {
    const auto outcome = cx_.client.await(cx_.client.start_get(path_, Watch::none()), cx_.stop);
    if (LockRequests::lost(outcome.code)) continue;
    if (outcome.code == code::no_node) return Content{};
    if (outcome.code != code::ok) throw ZkError(outcome.code, path_);
    Content content{.keys = {}, .version = outcome.value.stat.version};
    std::istringstream lines(outcome.value.data.value_or(""));
    for (std::string line; std::getline(lines, line);) content.keys.push_back(line);
    return content;
  }
  return std::nullopt;
}

int OnceRecord::write(const Content& content) {
  std::vector<Op> ops;
  for (const auto& node : lock_.status().holding.nodes) ops.emplace_back(CheckOp{.path = node});
  const auto checks = ops.size();
  std::string data;
  for (const auto& key : content.keys) data += key + '\n';
  if (content.version)
    ops.emplace_back(SetOp{.path = path_, .data = data, .version = *content.version});
  else
    ops.emplace_back(CreateOp{.path = path_, .data = data});
  const auto outcome = cx_.client.await(cx_.client.start_multi(ops), cx_.stop);
  if (outcome.code == code::ok || LockRequests::lost(outcome.code)) return outcome.code;
  const auto& results = outcome.value;
  const auto failed = std::ranges::find(results, outcome.code, &OpResult::code);
  if (failed < results.begin() + static_cast<std::ptrdiff_t>(checks) &&
      outcome.code == code::no_node)
    return code::lock_lost;
  // Somebody else has made, changed or removed it meanwhile: it is read again.
  if (outcome.code == code::no_node || outcome.code == code::node_exists ||
      outcome.code == code::bad_version)
    return outcome.code;
  throw ZkError(outcome.code, path_, true);
}

}  // namespace zksh
