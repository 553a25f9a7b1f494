// ProgramLaunch: what a program under a lock is started with.
#pragma once

#include "lock/lock_manager.h"
#include "lock/lock_program.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace zksh {

/// For people: its first word, or the first line of its text.
std::string program_name(const LockProgram& program);
/// What runs a text: $SHELL -c, or /bin/sh -c where that is not set.
std::vector<std::string> shell_words(const std::string& text);
/// What a program finds in its environment of the lock, see run_under_lock.
std::vector<std::pair<std::string, std::string>> lock_environment(const Lock& lock);

/// Blocks until a lock is safe for more than `least`: while no server answers, until one does.
/// False: it is lost, or wanted back. Throws Cancelled on a stop.
bool await_safety(Context& cx, const Lock& lock, BootClock::duration least);

}  // namespace zksh
