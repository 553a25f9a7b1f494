// The least that a C program on libzookeeper_mt does to print a node: connect, get, close.
#include "bare.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: bare_get SERVER PATH\n");
    return 2;
  }
  zhandle_t* handle = bare_connect(argv[1]);
  static char data[1 << 20];
  int size = sizeof data;
  struct Stat stat;
  bare_check(zoo_get(handle, argv[2], 0, data, &size, &stat), argv[2]);
  fwrite(data, 1, size < 0 ? 0 : (size_t)size, stdout);
  putchar('\n');
  bare_check(zookeeper_close(handle), "close");
  return 0;
}
