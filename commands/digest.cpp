// digest: print the id of a user and a password, as ACLs have it.
#include "command/command.h"
#include "node/acl_argument.h"
#include "node/node_json.h"

namespace zksh::command_digest {
namespace {

struct Args {
  std::string user;
  std::optional<std::string> password;
};

void declare(Options& o, Args& a) {
  o.text("user", a.user, "The user.");
  o.text("password", a.password, "@FILE, or - for standard input; by default it is asked for.");
}

int run(Context& cx, const Args& a) {
  // Does not quote the words, which may be a password.
  if (a.user.find(':') != std::string::npos)
    throw UsageError(
        "a user name cannot contain a colon; zksh asks for the password, or @FILE reads it");
  const auto from = a.password.value_or("");
  if (!from.empty() && from != "-" && !from.starts_with('@'))
    throw UsageError(
        "a password cannot be given on the command line; @FILE reads it, - takes it from stdin");
  const auto id = digest_of_password(cx, a.user, from);
  print_result(cx, Json::object().set("scheme", "digest").set("id", id), cx.out.shown(id));
  return status::ok;
}

}  // namespace

extern const Command digest_command = make_command<Args>(
    {.name = "digest",
     .group = "Access",
     .summary = "Print the hash of a user and a password for ACLs",
     .keywords = {"password", "hash", "ACL", "SHA-1", "encrypt", "user", "login"},
     .details = "Prints USER:HASH, the id of the digest scheme in an ACL: digest:USER:HASH:perms. "
                "create and setAcl also compute it themselves: see setAcl. Asks no server. The "
                "hash is an unsalted SHA-1: whoever reads it can guess a weak password.",
     .examples = {{"digest ann @/etc/hostname", "Of the password in a file."}},
     .json = "scheme id",
     .needs = Needs::Nothing},
    declare, run);
}  // namespace zksh::command_digest
