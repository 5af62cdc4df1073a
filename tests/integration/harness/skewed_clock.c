/* Preloaded into a process, it moves its wall clock by SKEWED_CLOCK_SECONDS, or by the seconds that
 * the file SKEWED_CLOCK_FILE contains at each reading. Only that one: timers and everything that
 * measures lengths of time stay as they are. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long skew_in(const char* path) {
  char text[32] = "";
  const int saved = errno;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t size = read(file, text, sizeof text - 1);
    text[size < 0 ? 0 : size] = '\0';
    close(file);
  }
  errno = saved;
  return atol(text);
}

static long skew(void) {
  const char* path = getenv("SKEWED_CLOCK_FILE");
  if (path != NULL) return skew_in(path);
  const char* text = getenv("SKEWED_CLOCK_SECONDS");
  return text == NULL ? 0 : atol(text);
}

int clock_gettime(clockid_t clock, struct timespec* to) {
  const int result = (int)syscall(SYS_clock_gettime, clock, to);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    to->tv_sec += skew();
  }
  return result;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  const int result = (int)syscall(SYS_gettimeofday, to, zone);
  if (result == 0) to->tv_sec += skew();
  return result;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}
