/* Preloaded into a process, it moves its wall clock by SKEWED_CLOCK_SECONDS. Only that one: timers
 * and everything that measures lengths of time stay as they are. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long skew(void) {
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
