// Node JSON: znodes, Stats and ACLs in the form that commands print with -o json.
#include "node/node_json.h"

#include "base/number.h"

namespace zksh {

Json path_json(const std::string& path) { return Json::object().set("path", path); }

Json stat_json(const Stat& stat) {
  return Json::object()
      .set("czxid", zxid_text(stat.czxid))
      .set("mzxid", zxid_text(stat.mzxid))
      .set("pzxid", zxid_text(stat.pzxid))
      .set_time("ctime", stat.ctime)
      .set_time("mtime", stat.mtime)
      .set("version", stat.version)
      .set("cversion", stat.cversion)
      .set("aversion", stat.aversion)
      .set("ephemeralOwner",
           stat.ephemeral_owner == 0 ? Json() : Json(zxid_text(stat.ephemeral_owner)))
      .set("dataLength", stat.data_length)
      .set("numChildren", stat.num_children);
}

Json acl_json(const Acl& acl) {
  return Json::array(without_hashes(acl), [](const AclEntry& entry) {
    return Json::object()
        .set("scheme", entry.scheme)
        .set("id", entry.id)
        .set("perms", perm_letters(entry.perms));
  });
}

Json identities_json(const std::vector<Identity>& identities) {
  return Json::array(identities, [](const Identity& identity) {
    return Json::object().set("scheme", identity.scheme).set("id", user_of(identity));
  });
}

JsonLine json_line(Context& cx, const std::string& path) {
  JsonLine line([&cx](std::string_view text) { cx.out.out(text); });
  line.set("path", path);
  return line;
}

void print_json(Context& cx, const Json& json) { cx.out.out(json.text() + '\n'); }

void acknowledge(Context& cx, const Json& json) {
  if (cx.out.json()) print_json(cx, json);
}

void print_result(Context& cx, const Json& json, std::string_view line) {
  cx.out.line("{}", cx.out.json() ? json.text() : line);
}

}  // namespace zksh
