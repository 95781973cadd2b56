/* Random numbers that depend on nothing but a seed: the same on all ranks and with every MPI. */
#ifndef DRAW_H
#define DRAW_H
#include <stddef.h>
#include <stdint.h>

/* The output function of SplitMix64 (Steele, Lea and Flood, 2014) over both. */
static inline uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) + 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

typedef struct {
  uint64_t state;
} Draw;

static inline uint64_t draw_bits(Draw* draw) {
  draw->state += 0x9e3779b97f4a7c15u;
  return mixed(draw->state, 0);
}

/* From 0 to n - 1; 0 where there is nothing to choose from. */
static inline int below(Draw* draw, int n) { return n > 1 ? (int)(draw_bits(draw) % (uint64_t)n) : 0; }

static inline int between(Draw* draw, int least, int most) { return least + below(draw, most - least + 1); }

static inline int chance(Draw* draw, int percent) { return below(draw, 100) < percent; }

/* order[0..n-1]: the numbers from 0 in random order. */
static inline void shuffled(Draw* draw, int n, int* order) {
  for (int i = 0; i < n; ++i) {
    const int j = below(draw, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
}

#endif
