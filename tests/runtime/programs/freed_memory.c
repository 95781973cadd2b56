/* Preloaded: small blocks that are freed are filled and stay for a while. A process that writes to one of them ends. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 8192, MOST_BYTES = 4096, FILL = 0xa5 };

void __libc_free(void* block); /* glibc's own */

static unsigned char* kept[KEPT];
static size_t next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void check(const unsigned char* block) {
  static const char text[] = "memory was written to after it was freed\n";
  const size_t bytes = block != NULL ? malloc_usable_size((void*)block) : 0;
  for (size_t i = 0; i < bytes; ++i)
    if (block[i] != FILL) {
      if (write(STDERR_FILENO, text, sizeof text - 1) > 0) abort();
      abort();
    }
}

void free(void* block) {
  const size_t bytes = block != NULL ? malloc_usable_size(block) : 0;
  if (bytes == 0 || bytes > MOST_BYTES) {
    __libc_free(block);
    return;
  }
  memset(block, FILL, bytes);
  pthread_mutex_lock(&lock);
  unsigned char* const oldest = kept[next];
  kept[next] = block;
  next = (next + 1) % KEPT;
  pthread_mutex_unlock(&lock);
  check(oldest);
  __libc_free(oldest);
}

__attribute__((destructor)) static void check_all(void) {
  for (size_t i = 0; i < KEPT; ++i) check(kept[i]);
}
