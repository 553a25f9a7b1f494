// Rehearsal: a Client for --dry-run, which finds out what would be written.
#include "client/rehearsal.h"

#include "base/number.h"
#include "base/time.h"
#include "client/acl_text.h"
#include "client/node_path.h"

#include <fmt/core.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace zksh {
namespace {

std::string details(const CreateOp& op) {
  auto text = data_size_text(op.data);
  if (op.sequential) text += ", sequential";
  if (op.mode == CreateMode::Ephemeral) text += ", ephemeral";
  if (op.mode == CreateMode::Container) text += ", container";
  if (op.ttl > 0) text += ", TTL " + short_time(std::chrono::milliseconds(op.ttl));
  return text;
}

template <class T>
Pending<T> answer_later(std::function<typename Answer<T>::Value(const Monitor::Held&)> derive) {
  return std::make_shared<Answer<T>>(std::move(derive));
}

/// A version that is not known may be the wanted one.
bool matches(std::int32_t wanted, const Stat* stat, std::int32_t Stat::*version) {
  return wanted == -1 || stat == nullptr || wanted == stat->*version;
}

}  // namespace

std::string data_size_text(const Data& data) {
  return data ? counted(data->size(), "byte") : "null";
}

/// What the servers would answer about a node after the writes that were not sent.
Outcome<Stat> Rehearsal::after_rehearsed_writes(const Monitor::Held& held, const std::string& path,
                                                const Outcome<Stat>& now) {
  auto& overlay = overlay_(held);
  if (overlay.removed.contains(path)) return {.code = code::no_node};
  if (now.code == code::no_node && overlay.made.contains(path)) return {};
  auto then = now;
  if (const auto gone = overlay.removed_children.find(path); gone != overlay.removed_children.end())
    then.value.num_children -= gone->second;
  return then;
}

void Rehearsal::apply(const Monitor::Held& held, std::size_t order, const Op& op) {
  auto& overlay = overlay_(held);
  if (const auto* create = std::get_if<CreateOp>(&op)) {
    note(held, order, {.verb = "create", .path = create->path, .detail = details(*create)});
    if (create->sequential) return;
    overlay.made.insert(create->path);
    overlay.removed.erase(create->path);
  } else if (const auto* remove = std::get_if<RemoveOp>(&op)) {
    note(held, order, {.verb = "delete", .path = remove->path});
    overlay.made.erase(remove->path);
    if (overlay.removed.insert(remove->path).second)
      ++overlay.removed_children[std::string(parent_path(remove->path))];
  } else if (const auto* set = std::get_if<SetOp>(&op)) {
    note(held, order, {.verb = "set", .path = set->path, .detail = data_size_text(set->data)});
  }
}

Pending<Created> Rehearsal::start_create(const CreateOp& op) {
  const std::string parent(parent_path(op.path));
  const auto node = inner().start_exists(op.path, Watch::none());
  const auto above = inner().start_exists(parent, Watch::none());
  const auto order = next_order();
  return answer_later<Created>([this, op, parent, node, above, order](const Monitor::Held& held) {
    Answer<Created>::Value answer;
    if (!(*node)(held) || !(*above)(held)) return answer;
    const auto at = after_rehearsed_writes(held, op.path, *(*node)(held));
    const auto under = after_rehearsed_writes(held, parent, *(*above)(held));
    answer.emplace();
    answer->value.path = op.path;
    if (under.code != code::ok)
      answer->code = under.code;
    else if (under.value.ephemeral_owner != 0)
      answer->code = code::no_children_for_ephemerals;
    else if ((at.code == code::ok || at.code == code::no_auth) && !op.sequential)
      answer->code = code::node_exists;
    else if (at.code != code::no_node && at.code != code::ok && at.code != code::no_auth)
      answer->code = at.code;
    else
      apply(held, order, op);
    return answer;
  });
}

/// Answers a write to a node after reading the node; `carry_out` returns the write's code if the
/// node exists. It gets a null Stat if that may not be read (since 3.9).
template <class T>
Pending<T> Rehearsal::write_node(
    const std::string& path,
    std::function<int(const Monitor::Held&, std::size_t order, const Stat*)> carry_out) {
  const auto node = inner().start_exists(path, Watch::none());
  const auto order = next_order();
  return answer_later<T>([this, path, node, order, carry_out = std::move(carry_out)](
                             const Monitor::Held& held) -> typename Answer<T>::Value {
    if (!(*node)(held)) return std::nullopt;
    const auto at = after_rehearsed_writes(held, path, *(*node)(held));
    Outcome<T> outcome{.code = at.code};
    if (at.code == code::ok || at.code == code::no_auth)
      outcome.code = carry_out(held, order, at.code == code::ok ? &at.value : nullptr);
    if constexpr (std::is_same_v<T, Stat>) outcome.value = at.value;
    return outcome;
  });
}

Pending<Nothing> Rehearsal::start_remove(const RemoveOp& op) {
  if (removes_root(op))
    return answer_later<Nothing>(
        [](const Monitor::Held&) { return Outcome<Nothing>{.code = code::bad_arguments}; });
  return write_node<Nothing>(
      op.path, [this, op](const Monitor::Held& held, std::size_t order, const Stat* stat) {
        if (!matches(op.version, stat, &Stat::version)) return code::bad_version;
        if (stat && stat->num_children > 0) return code::not_empty;
        apply(held, order, op);
        return code::ok;
      });
}

Pending<Stat> Rehearsal::start_set(const SetOp& op) {
  return write_node<Stat>(
      op.path, [this, op](const Monitor::Held& held, std::size_t order, const Stat* stat) {
        if (!matches(op.version, stat, &Stat::version)) return code::bad_version;
        apply(held, order, op);
        return code::ok;
      });
}

Pending<Nothing> Rehearsal::start_set_acl(const std::string& path, const Acl& acl,
                                          std::int32_t version) {
  return write_node<Nothing>(
      path, [this, path, version, detail = acl_text(without_hashes(acl))](
                const Monitor::Held& held, std::size_t order, const Stat* stat) {
        if (!matches(version, stat, &Stat::aversion)) return code::bad_version;
        note(held, order, {.verb = "set the ACL of", .path = path, .detail = detail});
        return code::ok;
      });
}

Pending<std::vector<OpResult>> Rehearsal::start_multi(const std::vector<Op>& ops) {
  return answer_later<std::vector<OpResult>>(
      [this, ops, order = next_order()](const Monitor::Held& held) {
        Answer<std::vector<OpResult>>::Value answer;
        answer.emplace();
        for (const auto& op : ops) {
          apply(held, order, op);
          const auto* create = std::get_if<CreateOp>(&op);
          answer->value.push_back(
              {.code = code::ok, .path = create ? create->path : std::string(), .stat = {}});
        }
        return answer;
      });
}

Pending<Node> Rehearsal::start_reconfigure(const Reconfiguration& change) {
  const auto config = inner().start_get_config(Watch::none());
  return answer_later<Node>(
      [this, change, config, order = next_order()](const Monitor::Held& held) {
        Answer<Node>::Value answer;
        if (!(*config)(held)) return answer;
        answer = *(*config)(held);
        if (answer->code != code::ok) return answer;
        std::string detail;
        if (change.joining) detail += "joining " + *change.joining;
        if (change.leaving) detail += (detail.empty() ? "" : ", ") + ("leaving " + *change.leaving);
        if (change.members) detail += "members " + *change.members;
        note(held, order, {.verb = "reconfigure", .path = "the ensemble", .detail = detail});
        return answer;
      });
}

}  // namespace zksh
