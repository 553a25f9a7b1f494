// stopwatch FD PROGRAM [ARGUMENT…]: runs a program and prints its wall time (µs), CPU time (µs),
// peak memory (KiB) and status on a descriptor, which the program does not inherit. A small process
// of its own: a child's peak memory counts what its parent had when it was forked.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long microseconds(const struct timeval* time) {
  return time->tv_sec * 1000000L + time->tv_usec;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int report = atoi(argv[1]);
  struct timespec begin;
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const pid_t child = vfork();
  if (child < 0) return 126;
  if (child == 0) {
    close(report);
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) < 0) return 126;
  clock_gettime(CLOCK_MONOTONIC, &end);
  dprintf(report, "%ld %ld %ld %d\n",
          (end.tv_sec - begin.tv_sec) * 1000000L + (end.tv_nsec - begin.tv_nsec) / 1000,
          microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime), usage.ru_maxrss,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}
