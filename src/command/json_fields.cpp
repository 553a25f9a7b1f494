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

/// The fields that several commands print, and those of nested objects.
constexpr auto shared_fields = std::to_array<JsonField>({
    {"acl", "list of AclEntry", "The ACL of the node."},
    {"ageMs", "integer?", "How long, in milliseconds."},
    {"alive", "boolean?", "Whether the session exists."},
    {"applied", "boolean?", "Whether the operation was applied; null: unknown."},
    {"askedToRelease", "boolean", "Whether somebody asked for the release with revoke."},
    {"aversion", "integer", "How often the ACL was set."},
    {"base64", "string", "Bytes that are not UTF-8, in base64."},
    {"behind", "integer?",
     "How many transactions behind the leader, or contenders behind this one."},
    {"byteHardLimit", "integer", "Of a quota: the hard limit on bytes; -1: no limit."},
    {"bytes", "integer",
     "The total length of values; of a quota: the soft limit on bytes, -1: none."},
    {"check", "string", "The name of the check."},
    {"children", "list of string", "The names of the children, sorted."},
    {"childrenChanged", "integer", "Watch events for changed lists of children."},
    {"client", "string?", "The client's address, HOST:PORT."},
    {"code", "string", "ZooKeeper's name for the error, such as NoNode, or one of zksh's own."},
    {"command", "string", "The command's name."},
    {"config", "string", "The ensemble's configuration, line by line as the servers store it."},
    {"connected", "boolean?", "Whether a client with that session is connected."},
    {"connectedSince", "time?", "When the client connected."},
    {"connections", "integer?", "How many clients are connected to the server."},
    {"contenderNodes", "list of string", "The contender's nodes in the queue."},
    {"count", "integer", "How many; of a quota: the soft limit on nodes, -1: no limit."},
    {"countHardLimit", "integer", "Of a quota: the hard limit on nodes; -1: no limit."},
    {"created", "integer", "Nodes that were created."},
    {"ctime", "time", "When the node was created."},
    {"cversion", "integer", "How often the list of children changed."},
    {"czxid", "hex", "The transaction that created the node."},
    {"data", "data", "The node's value."},
    {"dataLength", "integer?", "The length of the value in bytes."},
    {"deleted", "integer", "Watch events for deleted nodes."},
    {"depth", "integer", "The level below the top, which is 0."},
    {"detail", "string?", "Details."},
    {"ephemeralOwner", "hex?", "The session that owns an ephemeral node; null: not ephemeral."},
    {"ephemerals", "list of string?", "The session's ephemeral nodes."},
    {"error", "string?", "The error message."},
    {"failed", "integer", "Commands that failed."},
    {"fromUs", "integer", "The lower bound, in microseconds."},
    {"held", "string", "The node with which that session holds the previous lock of the circle."},
    {"histogram", "list of Bucket", "A histogram of the requests; empty bars are left out."},
    {"id", "string", "The identity within the scheme."},
    {"identities", "list of Identity", "The identities of the session."},
    {"kind", "string",
     "Of a node: persistent, ephemeral, container or ttl; of a lock: exclusive, read/write, "
     "semaphore, free or missing; of a watch: data, children, persistent or recursive."},
    {"lastRequest", "string?", "The last request of the session."},
    {"leader", "string?", "Who leads."},
    {"left", "integer", "Nodes that were left alone; contenders that have left."},
    {"library", "string", "Whose lock recipe the contender uses: zksh, Curator, kazoo, …"},
    {"limit", "integer?",
     "The number of leases of the semaphore; of a finding: the most that the figure may be."},
    {"line", "integer", "The line's number; in a -c of one line, the number of the command."},
    {"maxFiles", "integer?", "How many files the server may have open."},
    {"maxLatencyUs", "integer?",
     "The longest request time in microseconds, by the server's count."},
    {"maxUs", "integer?", "The longest time, in microseconds."},
    {"meanLatencyUs", "integer?", "The mean request time in microseconds, by the server's count."},
    {"measured", "integer?", "The figure that is wrong."},
    {"member", "boolean", "Whether the ensemble's configuration names it."},
    {"minUs", "integer?", "The shortest time, in microseconds."},
    {"mode", "string", "The mode: exclusive, read, write or lease."},
    {"mtime", "time", "When the value was last set."},
    {"mzxid", "hex", "The transaction that last set the value."},
    {"node", "string?", "The lock's node of this session."},
    {"nodes", "integer?", "How many nodes."},
    {"note", "string", "A note or warning, as a sentence."},
    {"numChildren", "integer?", "How many children the node has."},
    {"number", "integer", "The number of a line or contender, or the number in a node."},
    {"ok", "integer", "Commands that succeeded."},
    {"op", "string", "The operation: create, set, delete, check or another."},
    {"openFiles", "integer?", "How many files the server has open."},
    {"opensSession", "boolean?", "Whether the server opens sessions; null: none was tried."},
    {"otherWatchers", "integer?", "Watchers of the contender that are not contenders themselves."},
    {"outstanding", "integer?", "Outstanding requests of the server."},
    {"owner", "data", "The contender's own data, at most 4096 bytes."},
    {"ownerLength", "integer", "The full length of that data in bytes."},
    {"p50Us", "integer?", "The median request time, in microseconds."},
    {"p99Us", "integer?", "The 99th percentile of the request time, in microseconds."},
    {"path", "text?", "The node."},
    {"paths", "list of string", "Nodes."},
    {"pendingSyncs", "integer?", "Followers that the leader is still synchronising."},
    {"perms", "string", "The allowed permissions: letters of cdrwa."},
    {"pid", "integer", "The process ID."},
    {"problem", "string?", "What is wrong."},
    {"pzxid", "hex", "The last transaction that changed the list of children."},
    {"question", "string", "What is asked."},
    {"readCount", "integer?", "How often the node and those below it were read."},
    {"reason", "string?",
     "Of a gap: disconnected or expired; of a lock: why it is in that state; of a deletion or a "
     "session's end: client, expired, closed or server."},
    {"remedy", "string", "What to do."},
    {"removed", "integer", "Nodes that were removed."},
    {"request", "string", "The kind of request: read, write or sync."},
    {"requestCount", "integer?", "How many requests the interval had."},
    {"role", "string?", "leader, follower, observer or standalone."},
    {"scheme", "string", "world, ip, digest, auth, sasl or x509."},
    {"server", "string?", "HOST:PORT."},
    {"serverId", "integer?", "The server's number in the ensemble or the sandbox."},
    {"serverVersion", "string?", "The server's version."},
    {"serves", "boolean", "Whether the server answers clients."},
    {"session", "hex?", "The session."},
    {"sessionAlive", "boolean?", "Whether the session exists."},
    {"sessions", "list of hex", "Sessions."},
    {"set", "integer", "Nodes whose value was set."},
    {"since", "time?", "Since when."},
    {"source", "string", "The script's name; -c for an option's text, -c#1 and so on for several."},
    {"stat", "Stat?", "The node's metadata."},
    {"state", "string",
     "Of a contender: holds, waits, next (for a lease) or mayHold; of a lock of this shell: "
     "asking, waits, holds, suspended, releasing, lost or gone; of a job: running, ending or "
     "ended; of a server: serving, no-quorum, starting, frozen or stopped; else of the session."},
    {"status", "integer", "The exit status."},
    {"text", "text", "The line; for help, the whole text."},
    {"time", "time", "When."},
    {"timeout", "integer?", "The session's timeout in milliseconds."},
    {"toUs", "integer", "The upper bound, in microseconds."},
    {"token", "hex?",
     "The fencing token, which grows with every holder: the transaction that created the lock's "
     "node. ZKSH_LOCK_TOKEN and --token-file have the same number in decimal."},
    {"tokens", "list of hex",
     "The fencing tokens of several locks, in the order of the command line."},
    {"ttl", "integer", "After how many milliseconds without a write the node is removed."},
    {"type", "string",
     "The event: present (at the start), created, changed, children, deleted, or gap (no "
     "connection for a while); of a fired watch: ZooKeeper's event name."},
    {"unchanged", "integer", "Nodes that needed no change."},
    {"version", "integer?", "The version of the node's value."},
    {"waitsFor", "integer?",
     "The number of the contender that this one is waiting for, by the lock recipe."},
    {"watchCount", "integer?", "How many watches."},
    {"watchEvents", "WatchEvents?", "Watch events that the servers have sent."},
    {"watchedBy", "list of integer", "The numbers of the contenders that watch this one."},
    {"watches", "list of string?", "The nodes that the session watches."},
    {"would", "string", "The action that --dry-run left out."},
    {"writeCount", "integer?", "How often the node and those below it were written."},
    {"zxid", "hex?", "The transaction."},
});
static_assert(std::ranges::is_sorted(shared_fields, {}, &JsonField::name));

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
     "server serverId serves opensSession member role serverVersion zxid behind connections "
     "outstanding meanLatencyUs maxLatencyUs nodes watchCount pendingSyncs openFiles maxFiles "
     "problem",
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

const JsonField& field_named(std::string_view name, std::span<const JsonField> own) {
  for (const auto fields : {own, std::span<const JsonField>(shared_fields)})
    if (const auto found = std::ranges::find(fields, name, &JsonField::name); found != fields.end())
      return *found;
  throw std::logic_error(fmt::format("nothing describes the JSON field {}", name));
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
  if (base == "text") return reference("Text");
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

Json schema_of_shape(const std::vector<std::string_view>& shape, std::span<const JsonField> own) {
  auto properties = Json::object();
  auto required = Json::array();
  for (auto name : shape) {
    const bool optional = name.starts_with('[');
    if (optional) name = name.substr(1, name.size() - 2);
    const auto& field = field_named(name, own);
    properties.set(name, schema_of(field));
    if (!optional) required.add(name);
    if (field.base() != "time") continue;
    const auto iso = fmt::format("{}Iso", name);
    properties.set(iso, or_null(of_type("string")));
    if (!optional) required.add(iso);
  }
  return object_of(std::move(properties), std::move(required));
}

Json schema_of_shapes(std::string_view declared, std::span<const JsonField> own = {}) {
  const auto shapes = json_shapes(declared);
  const auto schema = [&](const auto& shape) { return schema_of_shape(shape, own); };
  return shapes.size() == 1 ? schema(shapes.front()) : any_of(Json::array(shapes, schema));
}

}  // namespace

std::string_view JsonField::base() const {
  auto text = type;
  if (can_be_null()) text.remove_suffix(1);
  if (is_list()) text.remove_prefix(list_prefix.size());
  return text;
}

std::vector<JsonField> json_fields() {
  std::vector<JsonField> all(shared_fields.begin(), shared_fields.end());
  for (const Command* command : all_commands())
    all.insert(all.end(), command->json_fields.begin(), command->json_fields.end());
  std::ranges::stable_sort(all, {}, &JsonField::name);
  return all;
}
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
  auto text = Json::array();
  text.add(of_type("string")).add(std::move(bytes));
  definitions.set("Text", any_of(std::move(text)));
  definitions.set("Data", or_null(reference("Text")));
  for (const auto& object : objects) definitions.set(object.name, schema_of_shapes(object.fields));
  // What a line of any command may be.
  auto lines = Json::array();
  for (const auto* const name : {"Error", "Note", "Question", "Event", "Tally", "Written"})
    lines.add(reference(name));
  for (const Command* command : all_commands())
    if (!command->json.empty()) {
      definitions.set(command->name, schema_of_shapes(command->json, command->json_fields));
      lines.add(reference(command->name));
    }
  return Json::object()
             .set("$schema", "https://json-schema.org/draft/2020-12/schema")
             .set("anyOf", std::move(lines))
             .set("$defs", std::move(definitions))
             .text() +
         '\n';
}

}  // namespace zksh
