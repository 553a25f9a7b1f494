// The program under a lock: it writes into a ledger when it comes, every 10 ms, and when it leaves.
//
//   stamper LEDGER WHO MILLISECONDS KIND CLAIM...
//
// CLAIM is PATH:MODE, MODE being exclusive, read, write or QUANTITY/LEASES: what the test asked
// for; of zksh's own claims only the token is written down. Each line is one write to a file that
// is open for appending, so that the order of the lines is the order in which things happened:
//
//   NANOSECONDS E WHO PID TOKEN[,TOKEN] CLAIM...     it has come: the first thing that it does
//   NANOSECONDS S WHO PID                            it works
//   NANOSECONDS X WHO PID                            this process of it leaves
//
// The time is CLOCK_BOOTTIME's. KIND says how the program lives (see `kinds`). A ledger that was
// removed ends it, so that nothing outlives a test.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { stamp_every = 10000000, tidying = 200000000, line_size = 1024 };

static int ledger;
static const char* who;
static long long duration;
static volatile sig_atomic_t told;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void stamp(char event, const char* rest) {
  char line[line_size];
  const int size =
      snprintf(line, sizeof line, "%lld %c %s %d%s\n", now(), event, who, (int)getpid(), rest);
  if (size >= (int)sizeof line || write(ledger, line, (size_t)size) != size) _exit(3);
}

static void enter(char** claims) {
  const char* const token = getenv("ZKSH_LOCK_TOKEN");
  char rest[line_size] = " ";
  strncat(rest, token && *token ? token : "-", line_size / 4);
  for (char* at = rest + 1; *at; ++at)
    if (*at == ' ') *at = ',';
  for (; *claims; ++claims) {
    strncat(rest, " ", sizeof rest - strlen(rest) - 1);
    strncat(rest, *claims, sizeof rest - strlen(rest) - 1);
  }
  stamp('E', rest);
}

static int is_removed(void) {
  struct stat status;
  return fstat(ledger, &status) != 0 || status.st_nlink == 0;
}

/// Stamps until `until`; a program that tidies up goes on for a while when it was told to end.
static void work(long long until) {
  struct timespec pause = {0, stamp_every};
  int tidies = 0;
  while (now() < until && !is_removed()) {
    stamp('S', "");
    nanosleep(&pause, NULL);
    if (told && !tidies) {
      tidies = 1;
      if (now() + tidying < until) until = now() + tidying;
    }
  }
  stamp('X', "");
  _exit(told ? 128 + SIGTERM : 0);
}

static void tell(int number) {
  (void)number;
  told = 1;
}

static void ignore_requests(void) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
}

static _Noreturn void end_as(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/// The work is done by a child that ignores requests to end; its parent, which does not, waits.
static void in_child(int new_session) {
  const pid_t child = fork();
  if (child != 0) end_as(child);
  if (new_session)
    setsid();
  else
    setpgid(0, 0);
  ignore_requests();
  work(now() + duration);
}

/// Forks twice, and the first two end at once, as a daemon does.
static void as_daemon(void) {
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  work(now() + duration);
}

/// A child in the same group works on when the program has ended.
static void beside_child(void) {
  if (fork() == 0) {
    ignore_requests();
    work(now() + duration);
  }
  work(now() + duration / 2);
}

static void plain(void) { work(now() + duration); }
static void tidy(void) {
  signal(SIGTERM, tell);
  plain();
}
static void stubborn(void) {
  ignore_requests();
  plain();
}
static void group(void) { in_child(0); }
static void session(void) { in_child(1); }
static void stubborn_daemon(void) {
  ignore_requests();
  as_daemon();
}

static const struct {
  const char* name;
  void (*run)(void);
} kinds[] = {
    {"plain", plain},                      // TERM ends it
    {"tidy", tidy},                        // it works on for 200 ms after TERM
    {"stubborn", stubborn},                // it ignores TERM, INT and HUP
    {"group", group},                      // a stubborn child in a process group of its own
    {"session", session},                  // a stubborn child in a session of its own
    {"daemon", as_daemon},                 // two forks; TERM ends it
    {"stubborn-daemon", stubborn_daemon},  // two forks, and it ignores TERM
    {"child", beside_child},               // a stubborn child that outlives it, in its group
};

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  ledger = open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
  if (ledger < 0) return 3;
  who = argv[2];
  duration = atoll(argv[3]) * 1000000;
  enter(argv + 5);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kinds[i].name, argv[4]) == 0) kinds[i].run();
  return 2;
}
