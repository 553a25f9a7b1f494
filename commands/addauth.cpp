// addauth: authenticate with a credential.
#include "client/client.h"
#include "command/command.h"
#include "command/line_history.h"
#include "config/security_settings.h"
#include "config/settings.h"
#include "node/value.h"

namespace zksh::command_addauth {
namespace {

struct Args {
  std::optional<std::string> scheme;
  std::optional<std::string> credential;
  std::optional<std::string> file;
  std::vector<std::string> surplus;
};

void declare(Options& o, Args& a) {
  o.text("scheme", a.scheme, "digest, or another scheme that the servers know.");
  o.suggest({"digest"});
  o.text("auth", a.credential,
         "For digest user:password; zksh asks for what is missing. @FILE reads it from a file, "
         "user:@FILE the password alone.");
  o.file("--file", a.file,
         "Add all credentials of a file: a scheme and a credential on each line.");
  o.legacy().words("surplus", a.surplus, "zkCli ignores further words.");
}

/// Reads the file or standard input that the argument names, for all of it or for a digest's
/// password, without a final newline.
std::string credential_of(const Context& cx, const std::string& scheme,
                          const std::string& argument) {
  const auto colon = argument.find(":@");
  if (cx.input != Input::Pipe && scheme == "digest" && colon == argument.find(':') &&
      colon != std::string::npos)
    return argument.substr(0, colon + 1) + credential_of(cx, "", argument.substr(colon + 1));
  auto credential = value_of(cx, argument);
  if (credential != argument && credential.ends_with('\n')) credential.pop_back();
  return credential;
}

int add(Context& cx, const std::string& scheme, const std::string& credential) {
  try {
    cx.client.add_auth(scheme, credential, cx.stop);
  } catch (const ZkError& error) {
    if (cx.services.settings.drop_in) return status::ok;  // zkCli does not wait for the answer
    if (error.code() != code::auth_failed) throw;
    if (cx.input != Input::Pipe)
      throw Error("the server does not know the scheme, or refused the credential",
                  status::not_authorised);
    return status::not_authorised;
  }
  return status::ok;
}

std::string answer(Context& cx, const std::string& prompt, bool hidden) {
  if (!cx.can_ask())
    throw UsageError("there is no terminal to ask for it; use @FILE or --file FILE");
  const auto text = cx.ask(prompt, hidden);
  if (!text) throw Cancelled("nothing was added");
  return *text;
}

void check_words(const Args& a) {
  // Does not quote the words, which may be parts of a password.
  if (!a.surplus.empty())
    throw UsageError("too many words (quote a credential that contains blanks)");
  if (a.file && a.scheme) throw UsageError("--file already gives the schemes");
  if (a.scheme && !a.credential && *a.scheme != "digest")
    throw SyntaxError("too few arguments: scheme auth expected");
}

int run(Context& cx, const Args& a) {
  if (!a.scheme && !a.file) throw SyntaxError("too few arguments: scheme expected");
  if (cx.input != Input::Pipe) check_words(a);
  if (a.file) {
    const auto file = read_auth_file(*a.file);
    if (!file.warning.empty()) cx.out.err_line("{}", file.warning);
    for (const auto& each : file.credentials)
      if (const int result = add(cx, each.scheme, each.secret); result != status::ok) return result;
    return status::ok;
  }
  if (cx.services.settings.drop_in && cx.history.next() == 0)
    return status::ok;  // zkCli ends before the answer
  // zkCli fails then: Java's client sends null, on which the servers' digest scheme fails; the C
  // client sends an empty credential, which is accepted.
  if (cx.input == Input::Pipe && !a.credential && *a.scheme == "digest") {
    cx.client.fail_authentication();
    return cx.excused(status::not_authorised);
  }
  auto credential = credential_of(cx, *a.scheme, a.credential.value_or(""));
  if (cx.input != Input::Pipe && *a.scheme == "digest") {
    if (credential.empty()) credential = answer(cx, "User: ", false);
    if (credential.find(':') == std::string::npos)
      credential += ':' + answer(cx, fmt::format("Password of {}: ", credential), true);
  }
  return add(cx, *a.scheme, credential);
}

}  // namespace

extern const Command addauth_command = make_command<Args>(
    {.name = "addauth",
     .group = "Access",
     .summary = "Add a credential to the session",
     .keywords = {"auth", "login", "password", "authenticate", "digest", "security", "sudo",
                  "passwd"},
     .details = "Adds an identity to the session. Nodes whose ACLs name that identity are then "
                "accessible, until the session ends. With digest, servers accept any user and "
                "password: a wrong one is simply an identity that no ACL names. zksh asks for a "
                "missing user or password at the terminal, without echoing the password. If the "
                "servers do not know the scheme or refuse the credential, the session ends; "
                "`connect` opens a new one. A new session starts without identities. Passwords are "
                "masked in the history; use user:@FILE to keep them off the screen.",
     .examples = {{"addauth digest ann:secret", "Be ann."}, {"whoami", "Who am I now?"}},
     .zkcli_syntax = "scheme auth"},
    declare, run);
}  // namespace zksh::command_addauth
