// A preloaded getaddrinfo that resolves the names in a file, $MOVING_NAMES: lines of a name and an
// address, of which a name may have several, and which a test changes as an administrator changes
// those of a DNS server. While the file says "NAME hang", no name resolves, for 15 s at most.
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier): glibc's name
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int Getaddrinfo(const char*, const char*, const struct addrinfo*, struct addrinfo**);

static int is_hanging(const char* path) {
  FILE* const file = fopen(path, "r");
  char name[256];
  char address[256];
  int hangs = 0;
  while (file && !hangs && fscanf(file, "%255s %255s", name, address) == 2)
    hangs = strcmp(address, "hang") == 0;
  if (file) fclose(file);
  return hangs;
}

// glibc's own header names the parameters with two underscores.
int told_getaddrinfo(const char* node, const char* service, const struct addrinfo* hints,
                     struct addrinfo** result) __asm__("getaddrinfo");

int told_getaddrinfo(const char* node, const char* service, const struct addrinfo* hints,
                     struct addrinfo** result) {
  Getaddrinfo* const real = (Getaddrinfo*)dlsym(RTLD_NEXT, "getaddrinfo");
  const char* const path = getenv("MOVING_NAMES");
  const int numeric_only = hints && (hints->ai_flags & AI_NUMERICHOST) != 0;
  for (int tries = 0; path && node && !numeric_only && tries < 150 && is_hanging(path); ++tries)
    usleep(100000);
  FILE* const file = path && node ? fopen(path, "r") : NULL;
  if (!file) return real(node, service, hints, result);
  char name[256];
  char address[256];
  int problem = EAI_NONAME;
  struct addrinfo** next = result;
  while (!numeric_only && fscanf(file, "%255s %255s", name, address) == 2) {
    if (strcmp(name, node) != 0) continue;
    problem = real(address, service, hints, next);
    if (problem != 0) break;
    while (*next) next = &(*next)->ai_next;
  }
  fclose(file);
  return next == result ? real(node, service, hints, result) : problem;
}
