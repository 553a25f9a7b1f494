// Shared by the bare contestants: a session of the C client, and nothing else.
#ifndef ZKSH_BENCH_BARE_H
#define ZKSH_BENCH_BARE_H

#include <zookeeper/zookeeper.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t bare_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bare_changed = PTHREAD_COND_INITIALIZER;
static int bare_connected;

static void bare_watch(zhandle_t* handle, int type, int state, const char* path, void* context) {
  (void)handle;
  (void)type;
  (void)path;
  (void)context;
  if (state != ZOO_CONNECTED_STATE) return;
  pthread_mutex_lock(&bare_mutex);
  bare_connected = 1;
  pthread_cond_signal(&bare_changed);
  pthread_mutex_unlock(&bare_mutex);
}

static void bare_check(int code, const char* what) {
  if (code == ZOK) return;
  fprintf(stderr, "%s: %s\n", what, zerror(code));
  exit(1);
}

/// Blocks until the session is connected; exits if no handle can be created.
static zhandle_t* bare_connect(const char* server) {
  zoo_set_debug_level((ZooLogLevel)0);
  zhandle_t* handle = zookeeper_init(server, bare_watch, 30000, NULL, NULL, 0);
  if (!handle) bare_check(ZSYSTEMERROR, server);
  pthread_mutex_lock(&bare_mutex);
  while (!bare_connected) pthread_cond_wait(&bare_changed, &bare_mutex);
  pthread_mutex_unlock(&bare_mutex);
  return handle;
}

#endif
