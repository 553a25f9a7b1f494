// Quota: the nodes that hold the limits and the usage of a subtree, and their texts.
#include "node/quota.h"

#include "base/number.h"
#include "client/client.h"
#include "client/connect_string.h"
#include "client/node_path.h"
#include "node/parents.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

namespace zksh {
namespace {

/// Creates a node unless it exists. Asks that first, since this session may lack the permission to
/// create nodes beside an existing one.
void create_missing(Client& client, const std::string& path, const std::stop_token& stop) {
  if (!client.exists(path, Watch::none(), stop))
    create_if_missing(client, {.path = path, .data = std::nullopt}, stop);
}

void write_limits(Client& client, const std::string& path, const QuotaText& limits,
                  const std::stop_token& stop) {
  const auto node = limits_node(path);
  for (auto slash = node.find('/', 1); slash != std::string::npos;
       slash = node.find('/', slash + 1))
    create_missing(client, node.substr(0, slash), stop);
  const auto usage = usage_node(path);
  const bool has_limits = client.exists(node, Watch::none(), stop).has_value();
  const bool has_usage = client.exists(usage, Watch::none(), stop).has_value();
  std::vector<Op> ops;
  ops.reserve(3);
  if (has_limits)
    ops.emplace_back(SetOp{.path = node, .data = limits.text()});
  else
    ops.emplace_back(CreateOp{.path = node, .data = limits.text()});
  if (!has_limits || !has_usage) {
    // The servers count when the node is created.
    if (has_usage) ops.emplace_back(RemoveOp{.path = usage});
    QuotaText nothing;
    nothing.set(QuotaText::count, 0);
    nothing.set(QuotaText::bytes, 0);
    ops.emplace_back(CreateOp{.path = usage, .data = nothing.text()});
  }
  client.multi(ops, stop);
}

void remove_limits(Client& client, const std::string& path, const std::stop_token& stop) {
  std::vector<Op> ops;
  for (const auto& node : {limits_node(path), usage_node(path)})
    if (client.exists(node, Watch::none(), stop)) ops.emplace_back(RemoveOp{.path = node});
  client.multi(ops, stop);
  try {
    // A rehearsal still reads the children that it would have removed.
    std::vector<std::string> gone{std::string(limits_name), std::string(usage_name)};
    for (auto node = quota_node(path); node != quota_root; node = parent_path(node)) {
      auto names = client.children(node, Watch::none(), stop).names.strings();
      std::erase_if(names, [&](const auto& name) { return std::ranges::count(gone, name) > 0; });
      if (!names.empty()) return;
      client.remove({.path = node}, stop);
      gone = {std::string(base_name(node))};
    }
  } catch (const ZkError& error) {
    // Somebody else sets or removes a quota beside it.
    if (error.code() != code::no_node && error.code() != code::not_empty) throw;
  }
}

/// The hard limit of a node that was hit: "at most 5 nodes"; empty if it has none, or it cannot be
/// read. `creates`: a node was to be created.
std::string hit_limit(Client& client, const std::string& whole, bool creates,
                      const std::stop_token& stop) {
  const auto read = [&](const std::string& node) -> std::optional<QuotaText> {
    const auto outcome = client.await(client.start_get(node, Watch::none()), stop);
    if (outcome.code != code::ok) return std::nullopt;
    return QuotaText::parse(outcome.value.data.value_or(""));
  };
  const auto limits = read(limits_node(whole));
  if (!limits) return {};
  const auto most_nodes = limits->get(QuotaText::count_hard_limit);
  const auto most_bytes = limits->get(QuotaText::byte_hard_limit);
  const auto usage = read(usage_node(whole));
  const bool nodes_full =
      creates && most_nodes >= 0 && usage && usage->get(QuotaText::count) >= most_nodes;
  if (most_bytes >= 0 && !nodes_full) return fmt::format("at most {} bytes", most_bytes);
  return most_nodes >= 0 ? fmt::format("at most {} nodes", most_nodes) : "";
}

}  // namespace

QuotaPlace::QuotaPlace(Client& client, const std::stop_token& stop) : given_(client) {
  const auto server = client.server();
  chroot_ = parse_connect_string(server).chroot;
  if (chroot_.empty()) return;
  // Waits first: an error of this session says why there is no connection.
  client.await_connection("", stop);
  own_ = client.another();
  own_->open(server.substr(0, server.size() - chroot_.size()));
  own_->await_connection("", stop);
  for (const auto& [scheme, secret] : client.credentials())
    if (const auto outcome = own_->await(own_->start_add_auth(scheme, secret), stop);
        outcome.code != code::ok)
      throw ZkError(outcome.code, "");
}

QuotaPlace::~QuotaPlace() = default;

std::string QuotaPlace::whole(const std::string& path) const { return whole_path(chroot_, path); }

std::string QuotaPlace::inside_chroot(const std::string& whole) const {
  if (chroot_.empty()) return whole;
  if (whole == chroot_) return "/";
  return whole.starts_with(chroot_ + '/') ? whole.substr(chroot_.size())
                                          : whole + " (outside the chroot)";
}

void QuotaPlace::write(const std::function<void()>& work, const std::stop_token& stop) const {
  if (!own_) return work();
  given_.multi({CheckOp{.path = "/"}}, stop);
  try {
    work();
  } catch (const ZkError& error) {
    if (error.code() != code::no_auth) throw;
    throw ZkError(error, " (which is outside the chroot: quotas are kept under the whole path)");
  }
}

std::string quota_node(const std::string& path) { return std::string(quota_root) + path; }

std::string limits_node(const std::string& path) {
  return fmt::format("{}{}/{}", quota_root, path, limits_name);
}

std::string usage_node(const std::string& path) {
  return fmt::format("{}{}/{}", quota_root, path, usage_name);
}

std::string quota_argument(const Context& cx, const std::string& path) {
  if (cx.input == Input::Pipe && path_flaw(path)) return path;
  return cx.resolve(path);
}

void write_quota(const QuotaPlace& place, const std::string& path, const QuotaText& limits,
                 const std::stop_token& stop) {
  place.write([&] { write_limits(place.client(), place.whole(path), limits, stop); }, stop);
}

void remove_quota(const QuotaPlace& place, const std::string& path, const std::stop_token& stop) {
  place.write([&] { remove_limits(place.client(), place.whole(path), stop); }, stop);
}

bool exceeds(const QuotaText& usage, const QuotaText& limits, std::string_view what) {
  const auto hard =
      what == QuotaText::count ? QuotaText::count_hard_limit : QuotaText::byte_hard_limit;
  return std::ranges::any_of(std::array{what, hard}, [&](std::string_view limit) {
    return limits.get(limit) >= 0 && limits.get(limit) < usage.get(what);
  });
}

QuotaText read_quota(const QuotaPlace& place, const std::string& node,
                     const std::stop_token& stop) {
  const auto text = place.client().get(node, Watch::none(), stop).data.value_or("");
  const auto quota = QuotaText::parse(text);
  if (!quota)
    throw Error(fmt::format("{} does not hold a quota: \"{}\"", node, text),
                status::server_refused);
  return *quota;
}

ZkError explained_quota(Client& client, const ZkError& error, const std::stop_token& stop) {
  if (error.code() != code::quota_exceeded || error.path().empty()) return error;
  try {
    const QuotaPlace place(client, stop);
    const bool creates = !client.exists(error.path(), Watch::none(), stop);
    for (auto node = place.whole(error.path()); node != "/"; node = parent_path(node)) {
      const auto limit = hit_limit(place.client(), node, creates, stop);
      if (limit.empty()) continue;
      return {error, fmt::format(" (the quota is that of {}: {}; `listquota` shows its usage)",
                                 place.inside_chroot(node), limit)};
    }
  } catch (const ZkError&) {
    return error;  // the quota cannot be read
  }
  return error;
}

std::optional<QuotaText> QuotaText::parse(std::string_view text) {
  QuotaText quota;
  if (text.find_first_not_of(",;") == std::string_view::npos) return quota;
  while (!text.empty()) {
    const auto pair = text.substr(0, text.find_first_of(",;"));
    text.remove_prefix(pair.size());
    text.remove_prefix(std::min(text.find_first_not_of(",;"), text.size()));

    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto rest = pair.substr(equals + 1);
    const auto number = rest.substr(0, rest.find('='));
    const auto value = java_number_in<std::int64_t>(number);
    // Java reads "key==1" as -1, and "key=" is an error.
    const bool is_empty = number.empty() && rest.find_first_not_of('=') != std::string_view::npos;
    if (!value && !is_empty) return std::nullopt;
    quota.set(pair.substr(0, equals), value.value_or(-1));
  }
  return quota;
}

std::int64_t QuotaText::get(std::string_view key) const {
  const auto entry = values_.find(key);
  return entry == values_.end() ? -1 : entry->second;
}

void QuotaText::set(std::string_view key, std::int64_t value) {
  values_.insert_or_assign(std::string(key), value);
}

std::string QuotaText::text() const {
  std::string others;
  for (const auto& [key, value] : values_) {
    if (key != count && key != bytes) others += fmt::format(";{}={}", key, value);
  }
  const auto* separator = others.empty() ? "" : "=";
  return fmt::format("{}={},{}={}{}{}", count, get(count), bytes, get(bytes), separator, others);
}

}  // namespace zksh
