// try_sessions: tests whether servers open sessions, as clients need; that they answer words shows
// less.
#pragma once

#include "ensemble/health.h"

#include <chrono>
#include <stop_token>
#include <vector>

namespace zksh {

class Client;

/// Opens a session with each server that serves, all at once, with the TLS and SASL of `own`, and
/// closes them again: both are transactions, which the ensemble must commit. Sets `session` of each
/// that was tried, and the problem of each that opened none in `time`; one that refuses the
/// identity gets a note, as nothing is known of its sessions then. `answers` are the members', in
/// the same order. Blocks for `time`, and for two seconds more if a server falls silent. Throws
/// Cancelled.
void try_sessions(Client& own, const std::vector<MemberAnswers>& answers,
                  std::vector<MemberHealth>& members, std::chrono::milliseconds time,
                  const std::stop_token& stop);

}  // namespace zksh
