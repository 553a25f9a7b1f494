// The least that a C program on libzookeeper_mt does to hold a lock for a moment: connect, create
// an ephemeral sequential node, list the queue, close.
#include "bare.h"

#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: bare_lock SERVER PATH\n");
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
  bare_check(zookeeper_close(handle), "close");
  return held ? 0 : 75;
}
