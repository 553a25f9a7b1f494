// zkCli style: which zkCli's results, usage texts and errors zksh mimics.
#pragma once

#include "command/command.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace zksh {

/// Whether a zkCli of any version has a command of this name.
bool zkcli_has(std::string_view name);

enum class ZkCliVersion { V34, V38, V39 };

/// The setting zkcli.
ZkCliVersion mimicked_zkcli(const Settings& settings);

/// Whether results go to somebody at the prompt, who can paste them back there: ACLs, quotas and
/// events then have zksh's own forms, unless the setting zkcli-output, or a format that was chosen,
/// says otherwise. Scripts get zkCli's.
bool prints_for_prompt(const Context& cx);
/// Whether results must look as in zkCli 3.4, because of the setting zkcli and zkCli's format. It
/// printed a Stat to stderr after each get, set and setAcl, no notices about deprecated forms, and
/// children in the server's order.
bool prints_as_34(const Context& cx);

/// Whether a version in 3.4's form, after the other words, counts: not when zksh takes the place of
/// a later zkCli, which ignores it.
bool old_version_counts(const Context& cx);
/// The version that a write expects, from -v or in 3.4's form; -1: any. Throws UsageError.
std::int32_t expected_version(const Context& cx, const std::optional<std::string>& version,
                              const std::optional<std::int32_t>& old_form);

/// The usage that zkCli.sh prints for an unknown command, verbatim.
std::string zkcli_usage(ZkCliVersion version);
/// What zkCli.sh prints for too few words: lines, or nothing, as 3.4 does. The command must have
/// zkcli_syntax.
std::string zkcli_usage_of(const Command& command, ZkCliVersion version);

/// Whether a word names an option that zkCli has only under another name: --ephemeral for its -e.
bool has_other_name_in_zkcli(const Command& command, std::string_view word);

/// The exception that zkCli's option parser, Apache commons-cli 1.5, throws for a command's words
/// (without its name): class name and message. nullopt if it accepts them, or is not asked.
std::optional<std::string> commons_cli_error(const Command& command,
                                             std::span<const std::string> words);

}  // namespace zksh
