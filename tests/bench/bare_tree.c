// The fastest that a C program makes, walks, reads and removes a tree of znodes: asynchronous
// calls, the next ones sent by the completions themselves, and batched multis; no order, no check.
#include "bare.h"

#include <semaphore.h>
#include <string.h>

#define BATCH 1000
#define BATCHES_IN_FLIGHT 8
#define READS_IN_FLIGHT 256
#define PATH_SIZE 256

static zhandle_t* zh;
static sem_t finished;

// The nodes that were found; those from `next` on have not been asked for.
static char** paths;
static size_t found, room, next;
static int in_flight;
static int with_values;

static void keep(const char* parent, const char* name) {
  if (found == room) paths = realloc(paths, (room = room ? 2 * room : 4096) * sizeof *paths);
  const size_t length = strlen(parent) + strlen(name) + 2;
  paths[found] = malloc(length);
  if (!*parent || !strcmp(parent, "/"))
    snprintf(paths[found], length, "%s%s", parent, name);
  else
    snprintf(paths[found], length, "%s/%s", parent, name);
  puts(paths[found++]);
}

static void ask(void);
static void settled(void) {
  --in_flight;
  ask();
  if (in_flight == 0) sem_post(&finished);
}

static void listed(int code, const struct String_vector* names, const struct Stat* stat,
                   const void* data) {
  (void)stat;
  bare_check(code, data);
  for (int i = 0; i < names->count; ++i) keep(data, names->data[i]);
  settled();
}

static void acl_read(int code, struct ACL_vector* acl, struct Stat* stat, const void* data) {
  (void)acl;
  (void)stat;
  bare_check(code, data);
  settled();
}

static void value_read(int code, const char* value, int length, const struct Stat* stat,
                       const void* data) {
  (void)value;
  (void)length;
  bare_check(code, data);
  if (stat->numChildren > 0) {
    ++in_flight;
    bare_check(zoo_aget_children2(zh, data, 0, listed, data), data);
  }
  settled();
}

static void ask(void) {
  // In bursts: each wakes the client's sending thread once.
  if (in_flight > READS_IN_FLIGHT / 2) return;
  while (in_flight < READS_IN_FLIGHT && next < found) {
    const char* path = paths[next++];
    if (with_values) {
      in_flight += 2;
      bare_check(zoo_aget(zh, path, 0, value_read, path), path);
      bare_check(zoo_aget_acl(zh, path, acl_read, path), path);
    } else {
      ++in_flight;
      bare_check(zoo_aget_children2(zh, path, 0, listed, path), path);
    }
  }
}

static void first_listed(int code, const struct String_vector* names, const struct Stat* stat,
                         const void* data) {
  // On the completion thread, as all that follows: nothing needs a lock.
  listed(code, names, stat, data);
}

static void walk(const char* top) {
  in_flight = 1;
  keep("", top);
  next = 1;
  bare_check(zoo_aget_children2(zh, top, 0, first_listed, paths[0]), top);
  sem_wait(&finished);
}

struct Slot {
  zoo_op_t ops[BATCH];
  zoo_op_result_t results[BATCH];
  char paths[BATCH][PATH_SIZE];
  char created[BATCH][PATH_SIZE];
  int size;
};
static struct Slot slots[BATCHES_IN_FLIGHT];
static sem_t idle;
static struct Slot* free_slots[BATCHES_IN_FLIGHT];
static int free_count;
static pthread_mutex_t slots_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct Slot* slot;

static void answered(int code, const void* data) {
  bare_check(code, "multi");
  pthread_mutex_lock(&slots_mutex);
  free_slots[free_count++] = (struct Slot*)data;
  pthread_mutex_unlock(&slots_mutex);
  sem_post(&idle);
}

static void send_slot(void) {
  if (!slot) return;
  bare_check(zoo_amulti(zh, slot->size, slot->ops, slot->results, answered, slot), "multi");
  slot = NULL;
}

static int place(void) {
  if (slot && slot->size == BATCH) send_slot();
  if (!slot) {
    sem_wait(&idle);
    pthread_mutex_lock(&slots_mutex);
    slot = free_slots[--free_count];
    pthread_mutex_unlock(&slots_mutex);
    slot->size = 0;
  }
  return slot->size++;
}

static void await_all(void) {
  send_slot();
  for (int i = 0; i < BATCHES_IN_FLIGHT; ++i) sem_wait(&idle);
}

static void make(const char* path) {
  static const char value[] = "0123456789abcdef0123456789abcdef";
  const int i = place();
  snprintf(slot->paths[i], PATH_SIZE, "%s", path);
  zoo_create_op_init(&slot->ops[i], slot->paths[i], value, sizeof value - 1, &ZOO_OPEN_ACL_UNSAFE,
                     0, slot->created[i], PATH_SIZE);
}

static void make_below(const char* parent, int depth, int width) {
  char path[PATH_SIZE];
  for (int i = 0; i < width; ++i) {
    if (snprintf(path, sizeof path, "%s/node-%08d", parent, i) >= PATH_SIZE) exit(1);
    make(path);
    if (depth > 1) make_below(path, depth - 1, width);
  }
}

static void remove_all(void) {
  while (found-- > 0) {
    const int i = place();
    snprintf(slot->paths[i], PATH_SIZE, "%s", paths[found]);
    zoo_delete_op_init(&slot->ops[i], slot->paths[i], -1);
  }
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: bare_tree SERVER create|list|dump|delete PATH [DEPTH WIDTH]\n");
    return 2;
  }
  zh = bare_connect(argv[1]);
  sem_init(&finished, 0, 0);
  sem_init(&idle, 0, BATCHES_IN_FLIGHT);
  for (; free_count < BATCHES_IN_FLIGHT; ++free_count) free_slots[free_count] = &slots[free_count];
  const char* what = argv[2];
  if (!strcmp(what, "create")) {
    make(argv[3]);
    make_below(argv[3], argc > 4 ? atoi(argv[4]) : 1, argc > 5 ? atoi(argv[5]) : 1);
  } else {
    with_values = !strcmp(what, "dump");
    walk(argv[3]);
  }
  if (!strcmp(what, "delete")) remove_all();
  await_all();
  bare_check(zookeeper_close(zh), "close");
  return 0;
}
