#ifndef FLUID_MEMORY_H
#define FLUID_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, never NULL; when there is none, a message and the end of the job. */
void* allocate(int64_t count, size_t size);

#endif
