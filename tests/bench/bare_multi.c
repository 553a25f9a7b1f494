// The fastest that a C program makes, lists and deletes many znodes: batched multis, several in
// flight.
#include "bare.h"

#include <semaphore.h>
#include <string.h>

#define BATCH 1000
#define IN_FLIGHT 8
#define PATH_SIZE 512

struct Slot {
  zoo_op_t ops[BATCH];
  zoo_op_result_t results[BATCH];
  char paths[BATCH][PATH_SIZE];
  char created[BATCH][PATH_SIZE];
};

static struct Slot slots[IN_FLIGHT];
static sem_t idle;
static struct Slot* free_slots[IN_FLIGHT];
static int free_count;
static pthread_mutex_t slots_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct Slot* take_slot(void) {
  sem_wait(&idle);
  pthread_mutex_lock(&slots_mutex);
  struct Slot* slot = free_slots[--free_count];
  pthread_mutex_unlock(&slots_mutex);
  return slot;
}

static void answered(int code, const void* data) {
  bare_check(code, "multi");
  pthread_mutex_lock(&slots_mutex);
  free_slots[free_count++] = (struct Slot*)data;
  pthread_mutex_unlock(&slots_mutex);
  sem_post(&idle);
}

static void open_slots(void) {
  sem_init(&idle, 0, IN_FLIGHT);
  for (free_count = 0; free_count < IN_FLIGHT; ++free_count)
    free_slots[free_count] = &slots[free_count];
}

static void await_all(void) {
  for (int i = 0; i < IN_FLIGHT; ++i) sem_wait(&idle);
}

static void create_tree(zhandle_t* handle, const char* parent, int count) {
  bare_check(zoo_create(handle, parent, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), parent);
  for (int done = 0; done < count;) {
    struct Slot* slot = take_slot();
    int size = 0;
    for (; size < BATCH && done < count; ++size, ++done) {
      snprintf(slot->paths[size], PATH_SIZE, "%s/node-%08d", parent, done);
      zoo_create_op_init(&slot->ops[size], slot->paths[size], NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0,
                         slot->created[size], PATH_SIZE);
    }
    bare_check(zoo_amulti(handle, size, slot->ops, slot->results, answered, slot), "multi");
  }
  await_all();
}

static void delete_tree(zhandle_t* handle, const char* parent) {
  struct String_vector names;
  bare_check(zoo_get_children(handle, parent, 0, &names), parent);
  for (int done = 0; done < names.count;) {
    struct Slot* slot = take_slot();
    int size = 0;
    for (; size < BATCH && done < names.count; ++size, ++done) {
      snprintf(slot->paths[size], PATH_SIZE, "%s/%s", parent, names.data[done]);
      zoo_delete_op_init(&slot->ops[size], slot->paths[size], -1);
    }
    bare_check(zoo_amulti(handle, size, slot->ops, slot->results, answered, slot), "multi");
  }
  await_all();
  deallocate_String_vector(&names);
  bare_check(zoo_delete(handle, parent, -1), parent);
}

static int by_name(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

static void list_children(zhandle_t* handle, const char* parent) {
  struct String_vector names;
  bare_check(zoo_get_children(handle, parent, 0, &names), parent);
  qsort(names.data, (size_t)names.count, sizeof *names.data, by_name);
  putchar('[');
  for (int i = 0; i < names.count; ++i) printf(i ? ", %s" : "%s", names.data[i]);
  puts("]");
  deallocate_String_vector(&names);
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: bare_multi SERVER create|list|delete PATH [COUNT]\n");
    return 2;
  }
  zhandle_t* handle = bare_connect(argv[1]);
  open_slots();
  if (!strcmp(argv[2], "create")) create_tree(handle, argv[3], argc > 4 ? atoi(argv[4]) : 1);
  if (!strcmp(argv[2], "list")) list_children(handle, argv[3]);
  if (!strcmp(argv[2], "delete")) delete_tree(handle, argv[3]);
  bare_check(zookeeper_close(handle), "close");
  return 0;
}
