// LiveTree and PastRecords: a subtree as ordered records, from the servers or as it was.
#include "tree/live_tree.h"

#include "base/error.h"
#include "base/words.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/zk_error.h"
#include "tree/walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace zksh {
namespace {

constexpr std::size_t batch_nodes = 1000;
constexpr std::size_t read_bytes = 2U << 20U;
constexpr std::size_t batches_ahead = 4;
constexpr auto longest_wait = std::chrono::milliseconds(100);  // before a batch is handed over

/// `top` is the walk's.
FoundNode found_node(TreeNode& node, const std::string& top,
                     const std::map<std::string, QuotaLimits>& limits) {
  FoundNode found{.record = {.path = path_from(top, node.path),
                             .life = life_of(node.stat),
                             .acl = std::move(node.acl),
                             .data = std::move(node.data)},
                  .stat = node.stat,
                  .stat_readable = node.stat_readable,
                  .readable = node.readable && node.acl_readable};
  const auto limit = limits.find(found.record.path);
  if (limit != limits.end()) found.record.limits = limit->second;
  return found;
}

/// Adds the limits of a node below `root`, the quota_node of a top, if it holds some.
void add_limits(std::map<std::string, QuotaLimits>& all, const std::string& root,
                const std::string& path, const Data& data) {
  if (base_name(path) != limits_name) return;
  const auto quota = QuotaText::parse(data.value_or(""));
  if (!quota) return;
  auto limits = no_limits;
  for (std::size_t i = 0; i < limits.size(); ++i) limits.at(i) = quota->get(limit_keys.at(i));
  if (limits != no_limits) all[path_from(root, std::string(parent_path(path)))] = limits;
}

}  // namespace

LiveTree::LiveTree(Client& client, Plan plan, std::stop_token stop)
    : client_(client),
      plan_(std::move(plan)),
      stop_(std::move(stop)),
      thread_([this](const std::stop_token& own) {
        std::stop_source either;
        const std::stop_callback by_owner(own, [&] { either.request_stop(); });
        const std::stop_callback by_command(stop_, [&] { either.request_stop(); });
        std::exception_ptr failure;
        try {
          read(either.get_token());
        } catch (...) {
          failure = std::current_exception();  // next() rethrows it
        }
        client_.monitor().change([&](const Monitor::Held& held) {
          state_(held).failure = failure;
          state_(held).ended = true;
        });
      }) {}

LiveTree::~LiveTree() = default;

void LiveTree::read(const std::stop_token& stop) {
  std::map<std::string, QuotaLimits> limits;
  if (plan_.quotas) limits = limits_below({client_, stop}, plan_.top, stop);
  Batch batch;
  std::size_t bytes = 0;
  auto handed_over = Clock::now();
  WalkPlan walk{.tops = {plan_.top},
                .may_be_missing = plan_.may_be_missing,
                .data = true,
                .acls = true,
                .limits = plan_.limits};
  walk.enter = [&](TreeNode& node) {
    if (plan_.top == "/" && is_within(node.path, "/zookeeper")) return;
    bytes += node.path.size() + (node.data ? node.data->size() : 0);
    batch.push_back(found_node(node, plan_.top, limits));
    // A slow walk is shown as it goes, and an interrupted one has written what it had found.
    if (batch.size() < batch_nodes && bytes < read_bytes &&
        Clock::now() - handed_over < longest_wait)
      return;
    hand_over(batch, stop);
    bytes = 0;
    handed_over = Clock::now();
  };
  walk_tree(client_, walk, stop);
  hand_over(batch, stop);
}

void LiveTree::hand_over(Batch& batch, const std::stop_token& stop) {
  auto& monitor = client_.monitor();
  if (!monitor.wait(stop, [&](const Monitor::Held& held) {
        return state_(held).batches.size() < batches_ahead;
      }))
    throw Cancelled();
  monitor.change(
      [&](const Monitor::Held& held) { state_(held).batches.push_back(std::exchange(batch, {})); });
}

std::optional<FoundNode> LiveTree::next() {
  auto& monitor = client_.monitor();
  while (at_ == batch_.size()) {
    if (!monitor.wait(stop_, [&](const Monitor::Held& held) {
          return !state_(held).batches.empty() || state_(held).ended;
        }))
      throw Cancelled();
    bool ended = false;
    std::exception_ptr failure;
    at_ = 0;
    batch_.clear();
    monitor.change([&](const Monitor::Held& held) {
      auto& state = state_(held);
      ended = state.batches.empty();
      failure = state.failure;
      if (ended) return;
      batch_ = std::move(state.batches.front());
      state.batches.pop_front();
    });
    if (ended && failure) std::rethrow_exception(failure);
    if (ended) return std::nullopt;
  }
  return std::move(batch_[at_++]);
}

std::map<std::string, QuotaLimits> limits_below(const QuotaPlace& place, const std::string& top,
                                                const std::stop_token& stop) {
  std::map<std::string, QuotaLimits> all;
  const auto whole = place.whole(top);
  if (is_within(whole, "/zookeeper")) return all;
  const auto root = whole == "/" ? std::string(quota_root) : quota_node(whole);
  WalkPlan plan{.tops = {root}, .may_be_missing = true, .data = true};
  plan.enter = [&](TreeNode& node) { add_limits(all, root, node.path, node.data); };
  walk_tree(place.client(), plan, stop);
  return all;
}

PastRecords::PastRecords(const PastTree& tree, std::string top)
    : tree_(tree), top_(std::move(top)), paths_(tree.below(top_)) {
  if (paths_.empty()) throw ZkError(code::no_node, top_);
  if (top_ == "/")
    std::erase_if(paths_, [](std::string_view path) { return is_within(path, "/zookeeper"); });
  const auto rank = [](std::string_view path) { return path == "/" ? std::string_view() : path; };
  std::ranges::sort(paths_, stands_before, rank);
  if (is_within(top_, "/zookeeper")) return;
  const auto root = top_ == "/" ? std::string(quota_root) : quota_node(top_);
  for (const auto path : tree.below(root))
    add_limits(limits_, root, std::string(path), tree.find(path)->data);
}

/// Each server counts the usage of quotas for itself when it starts: what is in the files is old.
Data PastRecords::data_of(const std::string& path, const PastNode& node) const {
  const auto above = parent_path(path);
  const bool usage = base_name(path) == usage_name && is_within(path, quota_root) &&
                     tree_.find(join_path(above, limits_name));
  if (!usage) return node.data;
  std::int64_t bytes = 0;
  const auto counted = tree_.below(above.substr(quota_root.size()));
  for (const auto one : counted)
    bytes += static_cast<std::int64_t>(tree_.find(one)->data.value_or("").size());
  return fmt::format("count={},bytes={}", counted.size(), bytes);
}

std::optional<FoundNode> PastRecords::next() {
  if (at_ == paths_.size()) return std::nullopt;
  const std::string path(paths_[at_++]);
  const auto& node = *tree_.find(path);
  auto acl = tree_.acl_of(node);
  const auto life = life_of(node.stat);
  // Ephemerals are left out, except the top.
  if (acl.empty() && (life.kind != NodeKind::Ephemeral || path == top_))
    throw Error(fmt::format(
        "the files do not tell the ACL of {}: its snapshot names it by the number {}, which its "
        "list lacks, and no transaction sets it. Servers fail what is asked of such a node; take "
        "the files of another member",
        as_word(path), node.acl));
  FoundNode found{.record = {.path = path_from(top_, path),
                             .life = life,
                             .acl = std::move(acl),
                             .data = data_of(path, node)}};
  found.record.life.certain = true;
  const auto limit = limits_.find(found.record.path);
  if (limit != limits_.end()) found.record.limits = limit->second;
  return found;
}

}  // namespace zksh
