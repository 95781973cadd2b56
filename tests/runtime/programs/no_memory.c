/* Preloaded, refuses what HOCKET_TEST_REFUSED names: memfd_create, or open of other processes' descriptors. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_refused(const char* what) {
  const char* refused = getenv("HOCKET_TEST_REFUSED");
  return refused != NULL && strcmp(refused, what) == 0;
}

int memfd_create(const char* name, unsigned flags) {
  if (!is_refused("memfd_create")) return (int)syscall(SYS_memfd_create, name, flags);
  errno = ENOSYS;
  return -1;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const int of_process = strncmp(path, "/proc/", 6) == 0 && strstr(path, "/fd/") != NULL;
  if (!of_process || !is_refused("open")) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  errno = EACCES;
  return -1;
}
