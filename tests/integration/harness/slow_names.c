/* Preloaded, makes getaddrinfo() take as long as there is no file named by SLOW_NAMES for every
 * name that ends in ".slow", as a dead name server does; then such a name is 127.0.0.1. A name that ends in ".two" has the
 * addresses 127.0.0.2 and 127.0.0.1, in this order. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*Resolve)(const char*, const char*, const struct addrinfo*, struct addrinfo**);

static int ends_in(const char* name, const char* end) {
  const size_t size = name == NULL ? 0 : strlen(name);
  return size >= strlen(end) && strcmp(name + size - strlen(end), end) == 0;
}

/* freeaddrinfo() of glibc frees one element after the other, whatever call they are of. */
static int find_two(Resolve resolve, const char* service, const struct addrinfo* hints,
                    struct addrinfo** found) {
  const int error = resolve("127.0.0.2", service, hints, found);
  struct addrinfo* last = error == 0 ? *found : NULL;
  while (last != NULL && last->ai_next != NULL) {
    last = last->ai_next;
  }
  return error != 0 ? error : resolve("127.0.0.1", service, hints, &last->ai_next);
}

int getaddrinfo(const char* restrict name, const char* restrict service,
                const struct addrinfo* restrict hints, struct addrinfo** restrict found) {
  // ISO C knows no such conversion, POSIX does (dlsym, "Application Usage").
  __extension__ const Resolve resolve = (Resolve)dlsym(RTLD_NEXT, "getaddrinfo");
  if (ends_in(name, ".two")) {
    return find_two(resolve, service, hints, found);
  }
  if (!ends_in(name, ".slow")) {
    return resolve(name, service, hints, found);
  }
  const char* file = getenv("SLOW_NAMES");
  while (file != NULL && access(file, F_OK) != 0) {
    usleep(10000);
  }
  return resolve("127.0.0.1", service, hints, found);
}
