/* Preloaded, makes getaddrinfo() take as long as there is no file named by SLOW_NAMES for every
 * name that ends in ".slow", as a dead name server does; then such a name is 127.0.0.1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*Resolve)(const char*, const char*, const struct addrinfo*, struct addrinfo**);

int getaddrinfo(const char* restrict name, const char* restrict service,
                const struct addrinfo* restrict hints, struct addrinfo** restrict found) {
  // ISO C knows no such conversion, POSIX does (dlsym, "Application Usage").
  __extension__ const Resolve resolve = (Resolve)dlsym(RTLD_NEXT, "getaddrinfo");
  const size_t size = name == NULL ? 0 : strlen(name);
  if (size < 5 || strcmp(name + size - 5, ".slow") != 0) {
    return resolve(name, service, hints, found);
  }
  const char* file = getenv("SLOW_NAMES");
  while (file != NULL && access(file, F_OK) != 0) {
    usleep(10000);
  }
  return resolve("127.0.0.1", service, hints, found);
}
