// JSON fields: the table, and the schema generated from it.
#include "command/json_fields.h"

#include "base/json.h"
#include "base/text.h"
#include "command/command.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace zksh {
namespace {

constexpr std::string_view list_prefix = "list of ";

constexpr auto fields = std::to_array<JsonField>({
    {"a", "string?", "The value in the first tree, as text; may be truncated."},
    {"aBytes", "integer", "The length of the value in the first tree."},
    {"aboveEphemeralsLeft", "integer",
     "Nodes that were left because they have ephemerals below them."},
    {"acl", "list of AclEntry", "The ACL of the node."},
    {"acls", "integer", "Nodes whose ACL was set."},
    {"acquireMaxUs", "number?", "The longest time until the lock was acquired, in microseconds."},
    {"acquireP50Us", "number?", "The median time until the lock was acquired, in microseconds."},
    {"acquireP99Us", "number?",
     "The 99th percentile of the time until the lock was acquired, in microseconds."},
    {"acquisitions", "integer", "How often a lock was acquired."},
    {"ageMs", "integer?", "How long, in milliseconds."},
    {"alive", "boolean?", "Whether the session exists."},
    {"answer", "string?", "The server's answer."},
    {"applied", "boolean?", "Whether the operation was applied; null: unknown."},
    {"askedToRelease", "boolean", "Whether somebody asked for the release with revoke."},
    {"at", "integer", "The position of the first byte that differs."},
    {"aversion", "integer", "How often the ACL was set."},
    {"b", "string?", "The value in the second tree, as text; may be truncated."},
    {"bBytes", "integer", "The length of the value in the second tree."},
    {"base64", "string", "Bytes that are not UTF-8, in base64."},
    {"behind", "integer?",
     "How many transactions behind the leader, or contenders behind this one."},
    {"binary", "boolean", "The value is not text, but matches."},
    {"byteHardLimit", "integer", "Of a quota: the hard limit on bytes; -1: no limit."},
    {"bytes", "integer",
     "The total length of values; of a quota: the soft limit on bytes, -1: none."},
    {"change", "string", "The change: create, set, set the ACL of, set the quota of or delete."},
    {"changes", "Changes?", "What has happened since -w started."},
    {"check", "string", "The name of the check."},
    {"children", "list of string", "The names of the children, sorted."},
    {"childrenAdded", "list of string", "Children that were added."},
    {"childrenChanged", "integer", "Watch events for changed lists of children."},
    {"childrenRemoved", "list of string", "Children that were removed."},
    {"circle", "list of Link?", "The deadlock that this contender is part of."},
    {"circles", "list of Circle", "Deadlocks: circles of sessions that wait for each other."},
    {"client", "string?", "The client's address, HOST:PORT."},
    {"clients", "list of ClientLoad", "The clients, the busiest first."},
    {"code", "string", "ZooKeeper's name for the error, such as NoNode, or one of zksh's own."},
    {"command", "string", "The command's name."},
    {"config", "string", "The ensemble's configuration, line by line as the servers store it."},
    {"conflicts", "integer", "Nodes that could not be changed."},
    {"connectString", "string", "The version and the servers as clients name them."},
    {"connected", "boolean?", "Whether a client with that session is connected."},
    {"connectedSince", "time?", "When the client connected."},
    {"connectedTo", "string?", "The server of this session, HOST:PORT."},
    {"connections", "integer?", "How many clients are connected to the server."},
    {"contenderCount", "integer?", "How many contenders the lock has."},
    {"contenderNodes", "list of string", "The contender's nodes in the queue."},
    {"contenders", "list of Contender", "Who holds the lock or waits for it, in queue order."},
    {"copied", "integer", "Nodes that were copied."},
    {"count", "integer", "How many; of a quota: the soft limit on nodes, -1: no limit."},
    {"countHardLimit", "integer", "Of a quota: the hard limit on nodes; -1: no limit."},
    {"counter", "integer?", "The number of the next sequential node."},
    {"created", "integer", "Nodes that were created."},
    {"creates", "integer", "Operations that created a node."},
    {"ctime", "time", "When the node was created."},
    {"cversion", "integer", "How often the list of children changed."},
    {"cxid", "integer", "The number that the client gave its request; 0: the server's own."},
    {"czxid", "hex", "The transaction that created the node."},
    {"data", "data", "The node's value."},
    {"dataLength", "integer?", "The length of the value in bytes."},
    {"deleted", "integer", "Watch events for deleted nodes."},
    {"deletes", "integer", "Operations that deleted a node."},
    {"depth", "integer", "The level below the top, which is 0."},
    {"detail", "string?", "Details."},
    {"difference", "string", "What differs: onlyInA, onlyInB, data, acl, quota or kind."},
    {"digests", "integer", "How often the tree's digest was compared, and was right."},
    {"directory", "string", "The directory on this machine."},
    {"end", "boolean", "Marks the last line of a complete dump."},
    {"endedBy", "hex?", "The session that deleted the node of another; else null."},
    {"ephemeralCount", "integer", "How many of the nodes are ephemeral."},
    {"ephemeralOwner", "hex?", "The session that owns an ephemeral node; null: not ephemeral."},
    {"ephemerals", "list of string?", "The session's ephemeral nodes."},
    {"ephemeralsBelow", "list of Ephemeral?", "The ephemeral nodes below."},
    {"ephemeralsLeft", "integer", "Ephemeral nodes that were left alone."},
    {"ephemeralsLeftOut", "integer", "Ephemeral nodes that the dump leaves out."},
    {"error", "string?", "The error message."},
    {"events", "integer", "Watch events that the servers sent."},
    {"eventsByOneRelease", "integer", "The most watch events that one release caused."},
    {"eventsPerRelease", "number?", "Watch events per release."},
    {"exceeded", "boolean", "Whether the usage exceeds a limit."},
    {"existing", "integer", "Nodes that existed already."},
    {"exists", "boolean", "Whether the node exists."},
    {"failed", "integer", "Commands that failed."},
    {"fields", "Figures?", "The answer's keys and values."},
    {"file", "string", "The file."},
    {"findings", "list of Finding", "With --deep: what is wrong."},
    {"format", "string", "Always zksh-tree."},
    {"fromUs", "integer", "The lower bound, in microseconds."},
    {"fromZxid", "hex?", "The first transaction concerned."},
    {"handoffMaxUs", "number?",
     "The longest time from a release to the next acquisition, in microseconds."},
    {"handoffP50Us", "number?", "The median time of a handoff, in microseconds."},
    {"handoffP99Us", "number?", "The 99th percentile of handoffs, in microseconds."},
    {"harmless", "boolean", "Nothing is lost by it."},
    {"held", "string", "The node with which that session holds the previous lock of the circle."},
    {"heldMs", "integer?", "For how long the lock was held, in milliseconds; null: never."},
    {"help", "string", "What the setting does."},
    {"histogram", "list of Bucket", "A histogram of the requests; empty bars are left out."},
    {"id", "string", "The identity within the scheme."},
    {"identities", "list of Identity", "The identities of the session."},
    {"intervalMs", "integer", "The time in which the requests were counted, in milliseconds."},
    {"isNew", "boolean", "Whether the node was created."},
    {"job", "integer", "The job's number."},
    {"jobs", "integer", "How many jobs run in the background."},
    {"kind", "string",
     "Of a node: persistent, ephemeral, container or ttl; of a lock: exclusive, read/write, "
     "semaphore, free or missing; of a watch: data, children, persistent or recursive."},
    {"lastRequest", "string?", "The last request of the session."},
    {"latencyUs", "integer?", "The time of one request, in microseconds."},
    {"leader", "string?", "Who leads."},
    {"leaves", "integer", "Nodes without children."},
    {"left", "integer", "Nodes that were left alone; contenders that have left."},
    {"library", "string", "Whose lock recipe the contender uses: zksh, Curator, kazoo, …"},
    {"limit", "integer?",
     "The number of leases of the semaphore; of a finding: the most that the figure may be."},
    {"limits", "Quota", "The quota."},
    {"line", "integer", "The line's number; in a -c of one line, the number of the command."},
    {"locks", "list of string", "The locks of this shell."},
    {"logs", "integer", "Transaction logs."},
    {"matches", "integer", "How many lines of the value match."},
    {"maxFiles", "integer?", "How many files the server may have open."},
    {"maxLatencyUs", "integer?",
     "The longest request time in microseconds, by the server's count."},
    {"maxUs", "integer?", "The longest time, in microseconds."},
    {"meanLatencyUs", "integer?", "The mean request time in microseconds, by the server's count."},
    {"measured", "integer?", "The figure that is wrong."},
    {"memberCount", "integer", "How many servers were asked."},
    {"members", "list of Member", "The servers."},
    {"minUs", "integer?", "The shortest time, in microseconds."},
    {"missed", "boolean", "The change happened while there was no connection."},
    {"mode", "string", "The mode: exclusive, read, write or lease."},
    {"moved", "integer", "Nodes that were moved."},
    {"mtime", "time", "When the value was last set."},
    {"multi", "integer?", "The number of the operation within its multi, from 1."},
    {"mzxid", "hex", "The transaction that last set the value."},
    {"name", "string", "The setting's name."},
    {"namespaces", "list of NodeLoad", "The nodes below / that were used."},
    {"nested", "integer", "How often this shell has acquired the lock that it holds (--nest)."},
    {"new", "data", "The value after the change."},
    {"node", "string?", "The lock's node of this session."},
    {"nodes", "integer?", "How many nodes."},
    {"nodesLeft", "integer", "Nodes that the contenders left behind."},
    {"note", "string", "A note or warning, as a sentence."},
    {"notes", "list of string", "Notes that are not problems."},
    {"numChildren", "integer?", "How many children the node has."},
    {"number", "integer", "The number of a line or contender, or the number in a node."},
    {"offset", "integer", "The place in the file."},
    {"ok", "integer", "Commands that succeeded."},
    {"old", "data", "The value before the change."},
    {"oldVersion", "integer?", "The version before the change."},
    {"op", "string", "The operation: create, set, delete, check or another."},
    {"openFiles", "integer?", "How many files the server has open."},
    {"openWatches", "list of OpenWatch", "The watches that were set and have not fired."},
    {"operations", "integer", "Operations."},
    {"origin", "string", "Where the setting's value comes from."},
    {"otherNodes", "list of string", "Children of the lock that are not contenders."},
    {"otherWatchers", "integer?", "Watchers of the contender that are not contenders themselves."},
    {"otherWatches", "integer",
     "Watches that zksh itself needs: for locks, waiting commands and completion."},
    {"outcome", "string", "How it ended: released, deleted, closed or expired; open: it has not."},
    {"outstanding", "integer?", "Outstanding requests of the server."},
    {"owner", "data", "The contender's own data, at most 4096 bytes."},
    {"ownerLength", "integer", "The full length of that data in bytes."},
    {"ownerSession", "Session?", "The session that an ephemeral node belongs to."},
    {"p50Us", "integer?", "The median request time, in microseconds."},
    {"p99Us", "integer?", "The 99th percentile of the request time, in microseconds."},
    {"passed", "list of string", "The checks that found nothing."},
    {"path", "string?", "The node."},
    {"paths", "list of string", "Nodes."},
    {"pendingSyncs", "integer?", "Followers that the leader is still synchronising."},
    {"perms", "string", "The allowed permissions: letters of cdrwa."},
    {"pid", "integer", "The process ID."},
    {"position", "integer?", "The place in the queue."},
    {"printwatches", "boolean", "Whether watch events are printed."},
    {"problem", "string?", "What is wrong."},
    {"problemCount", "integer", "How many problems."},
    {"problems", "list of string", "What is wrong with the ensemble."},
    {"pzxid", "hex", "The last transaction that changed the list of children."},
    {"question", "string", "What is asked."},
    {"quorum", "integer?", "How many voters must serve."},
    {"quota", "PlainQuota", "The quota of a dumped node: the limits that are set."},
    {"quotas", "integer", "Nodes whose quota was set."},
    {"quoted", "string", "The words, quoted."},
    {"readCount", "integer?", "How often the node and those below it were read."},
    {"readable", "boolean", "Whether the children could be read."},
    {"reason", "string?",
     "Of a gap: disconnected or expired; of a lock: why it is in that state; of a deletion or a "
     "session's end: client, expired, closed or server."},
    {"recipe", "string", "The recipe that was tried."},
    {"releaseMaxUs", "number?", "The longest time of a release, in microseconds."},
    {"releaseP50Us", "number?", "The median time of a release, in microseconds."},
    {"releaseP99Us", "number?", "The 99th percentile of releases, in microseconds."},
    {"remedy", "string", "What to do."},
    {"removed", "integer", "Nodes that were removed."},
    {"request", "string", "The kind of request: read, write or sync."},
    {"requestCount", "integer?", "How many requests the interval had."},
    {"requests", "list of Request", "The measurements of the server."},
    {"requestsPerAcquisition", "number?", "Requests per acquisition."},
    {"role", "string?", "leader, follower, observer or standalone."},
    {"scheme", "string", "world, ip, digest, auth, sasl or x509."},
    {"seconds", "integer", "How long the job has been running."},
    {"server", "string?", "HOST:PORT."},
    {"serverId", "integer?", "The server's number in the ensemble or the sandbox."},
    {"serverVersion", "string?", "The server's version."},
    {"serverWatches", "integer?", "The number of watches on all servers."},
    {"servers", "list of ServerLoad", "The servers."},
    {"serves", "boolean", "Whether the server answers clients."},
    {"serving", "integer", "How many servers serve."},
    {"session", "hex?", "The session."},
    {"sessionAlive", "boolean?", "Whether the session exists."},
    {"sessions", "list of hex", "Sessions."},
    {"set", "integer", "Nodes whose value was set."},
    {"sets", "integer", "Operations that set a value."},
    {"since", "time?", "Since when."},
    {"snapshots", "integer", "Intact snapshots."},
    {"source", "string", "The script's name; -c for an option's text, -c#1 and so on for several."},
    {"starts", "boolean", "Whether a server starts on the files."},
    {"stat", "Stat?", "The node's metadata."},
    {"state", "string",
     "Of a contender: holds, waits, next (for a lease) or mayHold; of a lock of this shell: "
     "asking, waits, holds, suspended, releasing, lost or gone; of a job: running, ending or "
     "ended; of a server: serving, no-quorum, starting, frozen or stopped; else of the "
     "session."},
    {"status", "integer", "The exit status."},
    {"summary", "string", "A summary in one sentence."},
    {"syncedFollowers", "integer?", "Followers that are in sync."},
    {"text", "string", "The line; for help, the whole text."},
    {"time", "time", "When."},
    {"timeout", "integer?", "The session's timeout in milliseconds."},
    {"timing", "boolean", "Whether each command's time is printed."},
    {"toUs", "integer", "The upper bound, in microseconds."},
    {"toZxid", "hex?", "The last transaction concerned."},
    {"together", "integer", "The largest number of simultaneous holders."},
    {"token", "hex?",
     "The fencing token, which grows with every holder: the transaction that created the lock's "
     "node. ZKSH_LOCK_TOKEN and --token-file have the same number in decimal."},
    {"tokens", "list of hex",
     "The fencing tokens of several locks, in the order of the command line."},
    {"tookUs", "number", "The total time, in microseconds."},
    {"transactions", "integer", "Transactions."},
    {"ttl", "integer", "After how many milliseconds without a write the node is removed."},
    {"type", "string",
     "The event: present (at the start), created, changed, children, deleted, or gap (no "
     "connection for a while); of a fired watch: ZooKeeper's event name."},
    {"unchanged", "integer", "Nodes that needed no change."},
    {"unchecked", "list of Unchecked", "With --deep: the checks that were not possible."},
    {"usage", "Quota", "The current usage."},
    {"value", "string", "The setting's value."},
    {"verdict", "string", "healthy, degraded or down."},
    {"version", "integer?", "The version of the node's value; of a dump: 1."},
    {"voters", "integer", "How many servers vote."},
    {"waitedMs", "integer", "For how long it waited, in milliseconds."},
    {"waitsFor", "integer?",
     "The number of the contender that this one is waiting for, by the lock recipe."},
    {"warnings", "list of string", "What is wrong with the lock."},
    {"watchCount", "integer?", "How many watches."},
    {"watchEvents", "WatchEvents?", "Watch events that the servers have sent."},
    {"watchedBy", "list of integer", "The numbers of the contenders that watch this one."},
    {"watcherSource", "string",
     "measured: the servers reported the watchers; inferred: derived from the recipe."},
    {"watchers", "list of Watcher?", "Who watches the node."},
    {"watches", "list of string?", "The nodes that the session watches."},
    {"watchesLeft", "integer?", "Watches that the contenders left behind."},
    {"wholePath", "string", "The path with the chroot."},
    {"word", "string", "The four-letter word."},
    {"would", "string", "The action that --dry-run left out."},
    {"writeCount", "integer?", "How often the node and those below it were written."},
    {"zkshVersion", "string", "zksh's version."},
    {"zxid", "hex?", "The transaction."},
});
static_assert(std::ranges::is_sorted(fields, {}, &JsonField::name));

constexpr auto objects = std::to_array<JsonObject>({
    {"AclEntry", "scheme id perms", "One entry of an ACL."},
    {"Bucket", "fromUs toUs count", "A bar of a histogram."},
    {"Changes", "since left watchEvents", "Changes of a lock."},
    {"ClientLoad", "client requestCount lastRequest session server path",
     "A client's connection, and the first ephemeral of its session."},
    {"Contender",
     "number state mode library contenderNodes owner ownerLength session sessionAlive connected "
     "client ctime ageMs token waitsFor watchedBy otherWatchers askedToRelease",
     "A contender for a lock."},
    {"Ephemeral", "session client path", "An ephemeral node and its session."},
    {"Error", "error code path command status [source] [line]", "On standard error: an error."},
    {"Event", "time state type path", "On standard error: a fired watch."},
    {"Finding", "check server path problem measured limit sessions remedy",
     "Something that is wrong: a server's, a node's or the ensemble's."},
    {"Identity", "scheme id", "An identity of a session."},
    {"Link", "session path held", "A session that holds one lock and waits for another."},
    {"Member",
     "server serverId serves role serverVersion zxid behind connections outstanding meanLatencyUs "
     "maxLatencyUs nodes watchCount pendingSyncs openFiles maxFiles problem",
     "A server of the ensemble."},
    {"NodeLoad", "path readCount writeCount", "A node below / with all below it."},
    {"Note", "note time [command]", "On standard error: a note or warning."},
    {"OpenWatch", "path kind", "A watch: data, children, persistent or recursive."},
    {"PlainQuota", "[count] [bytes] [countHardLimit] [byteHardLimit]", "The limits that are set."},
    {"Question", "question time [command]", "On standard error: a question at the terminal."},
    {"Quota", "count bytes countHardLimit byteHardLimit", "Limits or usage."},
    {"Request", "request count minUs p50Us p99Us maxUs error [histogram]", "Request times."},
    {"ServerLoad", "server serverId role requestCount meanLatencyUs connections watchCount problem",
     "A server's requests in the interval."},
    {"Session", "session alive client server timeout connectedSince lastRequest ephemerals watches",
     "A session, as the servers report it."},
    {"Stat",
     "czxid mzxid pzxid ctime mtime version cversion aversion ephemeralOwner dataLength "
     "numChildren",
     "The metadata of a node, with ZooKeeper's field names."},
    {"Tally", "ok failed", "On standard error: the end of --pipe."},
    {"Unchecked", "check server reason", "A check that was not possible."},
    {"WatchEvents", "deleted childrenChanged", "Watch events, by kind."},
    {"Watcher", "session client", "A watching session."},
    {"Written", "would path detail", "With --dry-run: an action that was left out."},
});

const JsonField& field_named(std::string_view name) {
  const auto* const found = std::ranges::find(fields, name, &JsonField::name);
  if (found == fields.end())
    throw std::logic_error(fmt::format("the JSON field {} is not in the table", name));
  return *found;
}

Json reference(std::string_view object) {
  return Json::object().set("$ref", fmt::format("#/$defs/{}", object));
}

Json of_type(std::string_view type) { return Json::object().set("type", type); }

Json list_of(Json items) { return of_type("array").set("items", std::move(items)); }

Json any_of(Json choices) { return Json::object().set("anyOf", std::move(choices)); }

Json or_null(Json schema) {
  auto choices = Json::array();
  choices.add(std::move(schema)).add(of_type("null"));
  return any_of(std::move(choices));
}

Json object_of(Json properties, Json required) {
  return of_type("object")
      .set("properties", std::move(properties))
      .set("required", std::move(required))
      .set("additionalProperties", false);
}

Json schema_of_base(std::string_view base) {
  if (base == "data") return reference("Data");
  if (base == "Figures") return of_type("object");
  if (base == "Circle") return list_of(reference("Link"));
  if (base == "hex") return of_type("string").set("pattern", "^0x[0-9a-f]+$");
  if (base == "time") return of_type("integer");
  const bool is_object = base.front() >= 'A' && base.front() <= 'Z';
  return is_object ? reference(base) : of_type(base);
}

Json schema_of(const JsonField& field) {
  auto schema = schema_of_base(field.base());
  if (field.is_list()) schema = list_of(std::move(schema));
  if (field.can_be_null()) schema = or_null(std::move(schema));
  return std::move(schema).set("description", field.meaning);
}

Json schema_of_shape(const std::vector<std::string_view>& shape) {
  auto properties = Json::object();
  auto required = Json::array();
  for (auto name : shape) {
    const bool optional = name.starts_with('[');
    if (optional) name = name.substr(1, name.size() - 2);
    const auto& field = field_named(name);
    properties.set(name, schema_of(field));
    if (!optional) required.add(name);
    if (field.base() != "time") continue;
    const auto iso = fmt::format("{}Iso", name);
    properties.set(iso, or_null(of_type("string")));
    if (!optional) required.add(iso);
  }
  return object_of(std::move(properties), std::move(required));
}

Json schema_of_shapes(std::string_view declared) {
  const auto shapes = json_shapes(declared);
  return shapes.size() == 1 ? schema_of_shape(shapes.front())
                            : any_of(Json::array(shapes, schema_of_shape));
}

}  // namespace

std::string_view JsonField::base() const {
  auto text = type;
  if (can_be_null()) text.remove_suffix(1);
  if (is_list()) text.remove_prefix(list_prefix.size());
  return text;
}

std::span<const JsonField> json_fields() { return fields; }
std::span<const JsonObject> json_objects() { return objects; }

std::vector<std::vector<std::string_view>> json_shapes(std::string_view declared) {
  std::vector<std::vector<std::string_view>> shapes;
  for (const auto alternative : split(declared, '|')) {
    shapes.push_back(split(alternative, ' '));
    std::erase(shapes.back(), "");
  }
  return shapes;
}

std::string json_shapes_text(std::string_view declared) {
  std::string text;
  for (const auto& shape : json_shapes(declared))
    text += fmt::format("{}{}", text.empty() ? "" : "; or ", fmt::join(shape, ", "));
  return text;
}

std::string json_schema() {
  auto definitions = Json::object();
  auto required = Json::array();
  required.add("base64");
  auto bytes = object_of(Json::object().set("base64", of_type("string")), std::move(required));
  auto data = Json::array();
  data.add(of_type("string")).add(or_null(std::move(bytes)));
  definitions.set("Data", any_of(std::move(data)));
  for (const auto& object : objects) definitions.set(object.name, schema_of_shapes(object.fields));
  // What a line of any command may be.
  auto lines = Json::array();
  for (const auto* const name : {"Error", "Note", "Event", "Tally", "Written"})
    lines.add(Json::object().set("$ref", fmt::format("#/$defs/{}", name)));
  for (const Command* command : all_commands())
    if (!command->json.empty()) {
      definitions.set(command->name, schema_of_shapes(command->json));
      lines.add(Json::object().set("$ref", fmt::format("#/$defs/{}", command->name)));
    }
  return Json::object()
             .set("$schema", "https://json-schema.org/draft/2020-12/schema")
             .set("anyOf", std::move(lines))
             .set("$defs", std::move(definitions))
             .text() +
         '\n';
}

}  // namespace zksh
