// addauth: show the servers a credential.
#include "command.h"
#include "value.h"

namespace zksh {
namespace {

struct Args {
  std::string scheme;
  std::optional<std::string> credential;
  std::vector<std::string> surplus;
};

void declare(Options& o, Args& a) {
  o.text("scheme", a.scheme, "digest, or what else the servers know.");
  o.text("auth", a.credential, "For digest user:password. @FILE takes it from a file.");
  o.legacy().words("surplus", a.surplus, "zkCli ignores further words.");
}

/// What a file or standard input gives ends with a newline, a credential does not.
std::string credential_of(const Context& cx, const std::string& argument) {
  auto credential = value_of(cx, argument);
  if (credential != argument && credential.ends_with('\n')) credential.pop_back();
  return credential;
}

/// Java's client sends a null where there is no credential. The digest scheme of the servers fails
/// at it; the C client sends an empty one in its place, and that is accepted.
bool fails_without_credential(const std::string& scheme) { return scheme == "digest"; }

int run(Context& cx, const Args& a) {
  if (cx.input != Input::Pipe) {
    if (!a.credential) throw SyntaxError("too few arguments: scheme auth expected");
    // Not with the words themselves: they may be parts of a password.
    if (!a.surplus.empty())
      throw UsageError("too many words (a credential with blanks wants quotes)");
  }
  if (!a.credential && fails_without_credential(a.scheme)) {
    cx.client.fail_authentication();
    return status::not_authorised;
  }
  try {
    cx.client.add_auth(a.scheme, credential_of(cx, a.credential.value_or("")), cx.stop);
  } catch (const ZkError& error) {
    if (error.code() != code::auth_failed) throw;
    if (cx.input != Input::Pipe)
      cx.out.err_line("the server does not know the scheme, or refused the credential");
    return status::not_authorised;
  }
  return status::ok;
}

}  // namespace

extern const Command addauth_command = make_command<Args>(
    {.name = "addauth",
     .group = "Access",
     .summary = "Show the servers a credential",
     .details =
         "Adds an identity to the session, for good; ACLs that name it then let the session in. "
         "With digest any user and password are accepted: a wrong one is an identity that no ACL "
         "names. A scheme that the servers do not know, or a credential that they refuse, ends "
         "the session: `connect` opens another. Connecting again forgets the identities. A "
         "password that is typed stays out of the saved history; @FILE keeps it off the screen.",
     .examples = {{"addauth digest ann:secret", "Be ann."}, {"whoami", "Who am I now?"}},
     .zkcli_syntax = "scheme auth"},
    declare, run);
}  // namespace zksh
