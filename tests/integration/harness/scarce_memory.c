/* Preloaded, lets malloc() fail for more bytes at once than the number in the file named by
 * SCARCE_MEMORY, as long as there is one: in every thread, or after "others" in all but the main
 * one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void* __libc_malloc(size_t size);

static size_t most(const char* file) {
  char text[32] = "";
  const int before = errno;
  const int fd = file == NULL ? -1 : open(file, O_RDONLY | O_CLOEXEC);
  errno = before;
  if (fd == -1) return (size_t)-1;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0 || (strstr(text, "others") != NULL && gettid() == getpid())) return (size_t)-1;
  return strtoul(text, NULL, 10);
}

void* malloc(size_t size) {
  // Smaller ones are not asked about: they are many.
  if (size > 1024 && size > most(getenv("SCARCE_MEMORY"))) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}
