// Rehearsal: a Client for --dry-run, which finds out what would be written.
#include "client/rehearsal.h"

#include "base/number.h"
#include "base/time.h"
#include "client/acl_text.h"
#include "client/node_path.h"

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

/// Servers since 3.8.4 and 3.9.2 hide the Stat of a node that may not be read.
bool is_there(const Outcome<Stat>& node) {
  return node.code == code::ok || node.code == code::no_auth;
}

/// A version that is not known may be the wanted one.
bool matches(std::int32_t wanted, const Outcome<Stat>& node, std::int32_t Stat::*version) {
  return wanted == -1 || node.code == code::no_auth || wanted == node.value.*version;
}

int code_of(const CreateOp& op, const Outcome<Stat>& node, const Outcome<Stat>& parent) {
  if (!is_there(parent)) return parent.code;
  if (parent.value.ephemeral_owner != 0) return code::no_children_for_ephemerals;
  if (!is_there(node)) return node.code == code::no_node ? code::ok : node.code;
  return op.sequential ? code::ok : code::node_exists;
}

std::int32_t wanted_version(const Op& op) {
  return std::visit(
      [](const auto& one) -> std::int32_t {
        if constexpr (requires { one.version; }) return one.version;
        return -1;
      },
      op);
}

/// Of all but a creation.
int code_of(const Op& op, const Outcome<Stat>& node) {
  if (removes_root(op)) return code::bad_arguments;
  // A check needs the permission to read.
  if (!is_there(node) || (std::holds_alternative<CheckOp>(op) && node.code != code::ok))
    return node.code;
  if (!matches(wanted_version(op), node, &Stat::version)) return code::bad_version;
  const bool is_parent = node.value.num_children > 0;
  return std::holds_alternative<RemoveOp>(op) && is_parent ? code::not_empty : code::ok;
}

}  // namespace

std::string data_size_text(const Data& data) {
  return data ? counted(data->size(), "byte") : "null";
}

/// Answers the write after all that were begun before it, in whatever order the answers are looked
/// at.
template <class T>
Pending<T> Rehearsal::answer_in_turn(
    std::function<typename Answer<T>::Value(const Monitor::Held&, std::size_t order)> judge) {
  const auto answer = std::make_shared<Answer<T>>();
  monitor().with_lock([&](const Monitor::Held& held) {
    state_(held).unanswered.emplace_back(
        [answer, judge = std::move(judge), order = next_order()](const Monitor::Held& then) {
          (*answer)(then) = judge(then, order);
          return (*answer)(then).has_value();
        });
  });
  return std::make_shared<Answer<T>>([this, answer](const Monitor::Held& held) {
    auto& unanswered = state_(held).unanswered;
    while (!unanswered.empty() && unanswered.front()(held)) unanswered.pop_front();
    return (*answer)(held);
  });
}

/// Starts to read what decides about the operations.
Rehearsal::Stats Rehearsal::read(const std::vector<Op>& ops) {
  Stats stats;
  const auto ask = [&](const std::string& path) {
    auto& asked = stats[path];
    if (!asked) asked = inner().start_exists(path, Watch::none());
  };
  for (const auto& op : ops) {
    ask(path_of(op));
    if (std::holds_alternative<CreateOp>(op)) ask(std::string(parent_path(path_of(op))));
  }
  return stats;
}

/// What the servers would answer about a node after the writes that were not sent.
Outcome<Stat> Rehearsal::node_of(const Monitor::Held& held, const std::string& path,
                                 const Stats& stats) {
  auto node = *(*stats.at(path))(held);
  if (!is_there(node) && node.code != code::no_node) return node;
  const auto& change = state_(held).changes[path];
  if (change.life == Change::Life::Removed) return {.code = code::no_node};
  if (change.life == Change::Life::Made) {
    node = {};
    node.value.ephemeral_owner = change.ephemeral ? 1 : 0;
  }
  node.value.version += change.sets;
  node.value.aversion += change.acl_sets;
  node.value.num_children += change.children;
  return node;
}

/// Returns the operation's code; if that is ok, later ones see what it would have done.
int Rehearsal::carry_out(const Monitor::Held& held, const Op& op, const Stats& stats) {
  auto& changes = state_(held).changes;
  const auto& path = path_of(op);
  const std::string parent(parent_path(path));
  const auto node = node_of(held, path, stats);
  const auto* const create = std::get_if<CreateOp>(&op);
  const int result =
      create ? code_of(*create, node, node_of(held, parent, stats)) : code_of(op, node);
  if (result != code::ok) return result;
  if (create) {
    ++changes[parent].children;
    if (create->sequential) return result;  // the name is not known
    changes[path] = {.life = Change::Life::Made,
                     .ephemeral = create->mode == CreateMode::Ephemeral};
  } else if (std::holds_alternative<RemoveOp>(op)) {
    --changes[parent].children;
    changes[path] = {.life = Change::Life::Removed};
  } else if (std::holds_alternative<SetOp>(op)) {
    ++changes[path].sets;
  }
  return result;
}

void Rehearsal::note(const Monitor::Held& held, std::size_t order, const Op& op) {
  if (const auto* create = std::get_if<CreateOp>(&op))
    note(held, order, {.verb = "create", .path = create->path, .detail = details(*create)});
  else if (const auto* remove = std::get_if<RemoveOp>(&op))
    note(held, order, {.verb = "delete", .path = remove->path});
  else if (const auto* set = std::get_if<SetOp>(&op))
    note(held, order, {.verb = "set", .path = set->path, .detail = data_size_text(set->data)});
}

/// Carries out all operations, or none if one fails.
Outcome<std::vector<OpResult>> Rehearsal::carry_out_all(const Monitor::Held& held,
                                                        const std::vector<Op>& ops,
                                                        const Stats& stats) {
  auto& changes = state_(held).changes;
  std::map<std::string, Change> before;
  Outcome<std::vector<OpResult>> outcome;
  for (const auto& op : ops) {
    auto& result = outcome.value.emplace_back();
    if (outcome.code != code::ok) {
      result.code = code::runtime_inconsistency;
      continue;
    }
    for (const auto& path : {path_of(op), std::string(parent_path(path_of(op)))})
      before.emplace(path, changes[path]);
    outcome.code = result.code = carry_out(held, op, stats);
    if (std::holds_alternative<CreateOp>(op)) result.path = path_of(op);
    if (std::holds_alternative<SetOp>(op)) result.stat = node_of(held, path_of(op), stats).value;
  }
  if (outcome.code != code::ok)
    for (const auto& [path, change] : before) changes[path] = change;
  return outcome;
}

/// Rehearses a transaction of one operation; `take` converts its result.
template <class T>
Pending<T> Rehearsal::rehearse(const Op& op, std::function<T(const OpResult&)> take) {
  const auto all = start_multi({op});
  return std::make_shared<Answer<T>>(
      [all, take = std::move(take)](const Monitor::Held& held) -> typename Answer<T>::Value {
        const auto& outcome = (*all)(held);
        if (!outcome) return std::nullopt;
        return Outcome<T>{.code = outcome->code, .value = take(outcome->value.front())};
      });
}

Pending<Created> Rehearsal::start_create(const CreateOp& op) {
  return rehearse<Created>(
      op, [](const OpResult& result) { return Created{.path = result.path, .stat = {}}; });
}

Pending<Nothing> Rehearsal::start_remove(const RemoveOp& op) {
  return rehearse<Nothing>(op, [](const OpResult& /*result*/) { return Nothing{}; });
}

Pending<Stat> Rehearsal::start_set(const SetOp& op) {
  return rehearse<Stat>(op, [](const OpResult& result) { return result.stat; });
}

Pending<Nothing> Rehearsal::start_set_acl(const std::string& path, const Acl& acl,
                                          std::int32_t version) {
  const Stats stats{{path, inner().start_exists(path, Watch::none())}};
  return answer_in_turn<Nothing>(
      [this, path, version, stats, detail = acl_text(without_hashes(acl))](
          const Monitor::Held& held, std::size_t order) -> Answer<Nothing>::Value {
        if (!(*stats.at(path))(held)) return std::nullopt;
        const auto node = node_of(held, path, stats);
        if (!is_there(node)) return Outcome<Nothing>{.code = node.code};
        if (!matches(version, node, &Stat::aversion))
          return Outcome<Nothing>{.code = code::bad_version};
        ++state_(held).changes[path].acl_sets;
        note(held, order, {.verb = "set the ACL of", .path = path, .detail = detail});
        return Outcome<Nothing>{};
      });
}

Pending<std::vector<OpResult>> Rehearsal::start_multi(const std::vector<Op>& ops) {
  return answer_in_turn<std::vector<OpResult>>(
      [this, ops, stats = read(ops), missing = std::string()](
          const Monitor::Held& held,
          std::size_t order) mutable -> Answer<std::vector<OpResult>>::Value {
        // Goes on where it ended, since it is called again whenever an answer arrives.
        for (auto one = stats.lower_bound(missing); one != stats.end(); ++one) {
          if ((*one->second)(held)) continue;
          missing = one->first;
          return std::nullopt;
        }
        auto outcome = carry_out_all(held, ops, stats);
        if (outcome.code == code::ok)
          for (const auto& op : ops) note(held, order, op);
        return outcome;
      });
}

Pending<Node> Rehearsal::start_reconfigure(const Reconfiguration& change) {
  const auto config = inner().start_get_config(Watch::none());
  return std::make_shared<Answer<Node>>(
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
