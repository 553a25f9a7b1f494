// The least that a C program on libzookeeper_mt does to hold a lock for a moment: connect, create
// an ephemeral sequential node, list the queue, close. With a program it does what zksh does: runs
// that under the lock, and gives the lock back by deleting the node before it closes.
#include "bare.h"

#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char** environ;

/// Returns the wait status, or -1 if the program cannot be run.
static int run(char** words) {
  pid_t child;
  int status = -1;
  if (posix_spawnp(&child, words[0], NULL, NULL, words, environ) != 0) return -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: bare_lock SERVER PATH [PROGRAM [ARGUMENT...]]\n");
    return 2;
  }
  zhandle_t* handle = bare_connect(argv[1]);
  static char path[4096];
  static char created[4096];
  snprintf(path, sizeof path, "%s/_c_00000000-0000-4000-8000-000000000000-lock-", argv[2]);
  bare_check(zoo_create(handle, path, "bare", 4, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL,
                        created, sizeof created),
             path);
  struct String_vector names;
  bare_check(zoo_get_children(handle, argv[2], 0, &names), argv[2]);
  const char* own = strrchr(created, '/') + 1;
  const int held = names.count == 1 && !strcmp(names.data[0], own);
  deallocate_String_vector(&names);
  const int failed = held && argc > 3 && run(argv + 3) != 0;
  if (argc > 3) bare_check(zoo_delete(handle, created, -1), created);
  bare_check(zookeeper_close(handle), "close");
  if (!held) return 75;
  return failed;
}
