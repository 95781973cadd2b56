/* What a program is made of, and how often. */
#include "program.h"

const Operation operations[] = {
    {"exchange", exchange, 38, 0},
    {"complete", complete, 12, 0},
    {"start", start, 12, 0},
    {"free persistent", free_persistent, 3, 0},
    {"create communicator", create_communicator, 12, 0},
    {"free communicator", free_communicator, 5, 0},
    {"collective", collective, 8, 0},
    {"nonblocking collective", nonblocking_collective, 5, 0},
    {"ring", ring, 5, 0},
    {"persistent ring", persistent_ring, 3, 0},
    {"pairs", pairs, 3, 0},
    {"fan in", fan_in, 3, 0},
    {"cancelled receive", cancelled_receive, 1, 0},
    {"erroneous", erroneous, 3, 0},
    {"attributes", attributes, 1, 1},
    {"window", window, 2, 1},
    {"file", file, 1, 1},
    {NULL, NULL, 0, 0},
};

const Operation* choose_operation(Program* p) {
  int total = 0;
  for (const Operation* o = operations; o->name != NULL; ++o) total += o->weight;
  for (;;) {
    int lot = below(&p->draw, total);
    const Operation* o = operations;
    while (lot >= o->weight) lot -= o++->weight;
    if (!o->alone || p->threads == 1) return o;
  }
}
