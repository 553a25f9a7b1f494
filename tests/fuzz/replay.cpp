// fuzz_replay: runs the corpus through the fuzz targets, without a fuzzer.
//
//   fuzz_replay CORPUS          every target on all files of the directory CORPUS/NAME
//   fuzz_replay NAME FILE…      one target
#include "fuzz.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <unistd.h>

namespace {

using zksh::fuzz::choose_target;
using zksh::fuzz::targets;

/// Printed if an input crashes the process.
std::string running;  // NOLINT: read by the signal handler

extern "C" void tell_input(int number) {
  // Nothing can be done if this fails.
  const auto written = write(STDERR_FILENO, running.data(), running.size());
  static_cast<void>(written);
  signal(number, SIG_DFL);
  raise(number);
}

void run_file(const std::filesystem::path& file) {
  running = "ended by the input " + file.string() + '\n';
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  zksh::fuzz::require(stream.is_open() && !stream.bad(), "the input can be read", file.string());
  LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

int run_corpus(const std::filesystem::path& corpus) {
  std::size_t inputs = 0;
  for (const auto& target : targets) {
    choose_target(target.name);
    std::size_t own = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus / target.name)) {
      run_file(entry.path());
      ++own;
    }
    zksh::fuzz::require(own > 0, "each target has inputs", target.name);
    inputs += own;
  }
  std::cout << targets.size() << " targets, " << inputs << " inputs\n";
  return 0;
}

}  // namespace

int main(int count, char** words) try {
  signal(SIGABRT, tell_input);
  if (count == 2) return run_corpus(words[1]);
  if (count < 2 || !choose_target(words[1])) {
    std::cerr << "usage: fuzz_replay CORPUS | NAME FILE…\ntargets:";
    for (const auto& target : targets) std::cerr << ' ' << target.name;
    std::cerr << '\n';
    return 2;
  }
  for (int i = 2; i < count; ++i) run_file(words[i]);
  return 0;
} catch (const std::exception& error) {
  std::cerr << running << error.what() << '\n';
  return 1;
}
