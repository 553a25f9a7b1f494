// ProgramLaunch: what a program under a lock is started with.
#pragma once

#include "lock/lock_manager.h"
#include "lock/lock_program.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// The program's name for messages: its first word, or the first line of its text.
std::string program_name(const LockProgram& program);
/// The words that run a text: $SHELL -c, or /bin/sh -c if that is not set.
std::vector<std::string> shell_words(const std::string& text);
/// The environment variables that describe the lock, see run_under_lock.
std::vector<std::pair<std::string, std::string>> lock_environment(const Lock& lock);

/// Blocks until the lock is safe for more than `least`, that is, until a server answers. Returns
/// false if the lock is lost or unwanted. Throws Cancelled on a stop.
bool await_safety(Context& cx, const Lock& lock, BootClock::duration least);

}  // namespace zksh
