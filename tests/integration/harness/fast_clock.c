/* Preloaded into a process, it makes time pass FAST_CLOCK_TIMES as fast: its wall clock, its monotonic
 * clock and its timers. A test of what happens after a period that cannot be configured need not wait
 * for all of it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { second_ns = 1000000000 };

static long long times = 1;
static struct timespec began_wall, began_monotonic;

__attribute__((constructor)) static void begin(void) {
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &began_wall);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &began_monotonic);
  const char* text = getenv("FAST_CLOCK_TIMES");
  if (text != NULL) times = atol(text);
}

static long long ns(const struct timespec* time) {
  return (long long)time->tv_sec * second_ns + time->tv_nsec;
}

static struct timespec time_of(long long ns) {
  return (struct timespec){.tv_sec = ns / second_ns, .tv_nsec = ns % second_ns};
}

static void scale(struct timespec* now, const struct timespec* began) {
  *now = time_of(ns(began) + (ns(now) - ns(began)) * times);
}

int clock_gettime(clockid_t clock, struct timespec* to) {
  const int result = (int)syscall(SYS_clock_gettime, clock, to);
  if (result != 0) return result;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) scale(to, &began_wall);
  if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE) scale(to, &began_monotonic);
  return result;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  (void)zone;
  struct timespec now;
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *to = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return result;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}

/* Asio sets its timers by lengths of time; its only instant is one that is over. */
int timerfd_settime(int fd, int flags, const struct itimerspec* wanted, struct itimerspec* before) {
  struct itimerspec sooner = *wanted;
  if ((flags & TFD_TIMER_ABSTIME) == 0) {
    sooner.it_value = time_of((ns(&wanted->it_value) + times - 1) / times);
    sooner.it_interval = time_of((ns(&wanted->it_interval) + times - 1) / times);
  }
  return (int)syscall(SYS_timerfd_settime, fd, flags, &sooner, before);
}
