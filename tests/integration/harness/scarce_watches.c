/* Preloaded, makes inotify_add_watch() fail with the errno in the file named by SCARCE_WATCHES, as
 * long as there is one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*AddWatch)(int, const char*, uint32_t);

int inotify_add_watch(int descriptor, const char* path, uint32_t mask) {
  const char* name = getenv("SCARCE_WATCHES");
  FILE* file = name == NULL ? NULL : fopen(name, "re");
  if (file != NULL) {
    int number = 0;
    const int found = fscanf(file, "%d", &number);
    fclose(file);
    errno = found == 1 ? number : ENOSPC;
    return -1;
  }
  // ISO C knows no such conversion, POSIX does (dlsym, "Application Usage").
  __extension__ const AddWatch add_watch = (AddWatch)dlsym(RTLD_NEXT, "inotify_add_watch");
  return add_watch(descriptor, path, mask);
}
