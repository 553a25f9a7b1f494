// The fastest that a C program carries out mixed single requests: asynchronous calls, a window of
// them in flight, and each result written as it comes. Whoever waits for room is woken when half
// the window is free, and not for each answer: that is what costs most.
#include "bare.h"

#include <string.h>

#define PATH_SIZE 256

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER;
static int in_flight;
static int awaited = -1;  // the number in flight that somebody waits for

static void taken(int code, const char* what) {
  bare_check(code, what);
  pthread_mutex_lock(&mutex);
  if (--in_flight == awaited) pthread_cond_signal(&room);
  pthread_mutex_unlock(&mutex);
}

/// Blocks while more than `most` are in flight, and then until no more than `left` are.
static void await_room(int most, int left) {
  pthread_mutex_lock(&mutex);
  if (in_flight > most) {
    awaited = left;
    while (in_flight > left) pthread_cond_wait(&room, &mutex);
    awaited = -1;
  }
  pthread_mutex_unlock(&mutex);
}

static void count_one(int window) {
  await_room(window - 1, window / 2);
  pthread_mutex_lock(&mutex);
  ++in_flight;
  pthread_mutex_unlock(&mutex);
}

static void created(int code, const char* path, const struct Stat* stat, const void* data) {
  (void)stat;
  (void)data;
  fprintf(stderr, "Created %s\n", path);
  taken(code, "create");
}

static void read_value(int code, const char* value, int size, const struct Stat* stat,
                       const void* data) {
  (void)stat;
  (void)data;
  fwrite(value, 1, size > 0 ? (size_t)size : 0, stdout);
  putchar('\n');
  taken(code, "get");
}

static void written(int code, const struct Stat* stat, const void* data) {
  (void)stat;
  (void)data;
  taken(code, "set");
}

static void looked_at(int code, const struct Stat* stat, const void* data) {
  (void)data;
  if (stat)
    printf(
        "cZxid = 0x%llx\nctime = %lld\nmZxid = 0x%llx\nmtime = %lld\npZxid = 0x%llx\n"
        "cversion = %d\ndataVersion = %d\naclVersion = %d\nephemeralOwner = 0x%llx\n"
        "dataLength = %d\nnumChildren = %d\n",
        (unsigned long long)stat->czxid, (long long)stat->ctime, (unsigned long long)stat->mzxid,
        (long long)stat->mtime, (unsigned long long)stat->pzxid, stat->cversion, stat->version,
        stat->aversion, (unsigned long long)stat->ephemeralOwner, stat->dataLength,
        stat->numChildren);
  taken(code, "stat");
}

static void removed(int code, const void* data) {
  (void)data;
  taken(code, "delete");
}

/// Carries out the line; 0 when it is none that is known here.
static int send_line(zhandle_t* handle, int window, char* line) {
  const char* const verb = strtok(line, " \n");
  const char* const path = strtok(NULL, " \n");
  const char* const value = strtok(NULL, "\n");
  if (!verb || !path) return 0;
  const int size = value ? (int)strlen(value) : -1;
  int code = ZOK;
  count_one(window);
  if (!strcmp(verb, "create"))
    code = zoo_acreate2(handle, path, value, size, &ZOO_OPEN_ACL_UNSAFE, 0, created, NULL);
  else if (!strcmp(verb, "get"))
    code = zoo_aget(handle, path, 0, read_value, NULL);
  else if (!strcmp(verb, "set"))
    code = zoo_aset(handle, path, value, size, -1, written, NULL);
  else if (!strcmp(verb, "stat"))
    code = zoo_aexists(handle, path, 0, looked_at, NULL);
  else if (!strcmp(verb, "delete"))
    code = zoo_adelete(handle, path, -1, removed, NULL);
  else
    return 0;
  bare_check(code, verb);
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: bare_pipe SERVER WINDOW FILE\n");
    return 2;
  }
  FILE* const lines = fopen(argv[3], "r");
  const int window = atoi(argv[2]);
  if (!lines || window < 1) return 2;
  static char buffer[1 << 16];
  setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
  zhandle_t* const handle = bare_connect(argv[1]);
  char line[PATH_SIZE];
  while (fgets(line, sizeof line, lines))
    if (!send_line(handle, window, line)) return 2;
  await_room(0, 0);
  bare_check(zookeeper_close(handle), "close");
  fclose(lines);
  return 0;
}
