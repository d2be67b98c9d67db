/*
 * wallclock.so adds an offset to the wall clock of a process that loads it by LD_PRELOAD: in
 * nanoseconds, the first eight bytes of the file that CURATOR_CHAOS_CLOCK names. The file may be
 * changed at any time. All other clocks stay as they are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t *offset; /* NULL without a file */
static int (*next)(clockid_t, struct timespec *);

__attribute__((constructor)) static void start(void) {
    next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("CURATOR_CHAOS_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        offset = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    int result = next ? next(clock, t) : (int)syscall(SYS_clock_gettime, clock, t);
    if (result != 0 || !offset || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return result;
    const int64_t second = 1000000000;
    int64_t now = t->tv_sec * second + t->tv_nsec + __atomic_load_n(offset, __ATOMIC_RELAXED);
    t->tv_sec = now / second;
    t->tv_nsec = now % second;
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    struct timespec now;
    (void)zone; /* nobody uses it any more */
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t)
        *t = now.tv_sec;
    return now.tv_sec;
}
