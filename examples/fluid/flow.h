/* The flow: fluxes between cells, and figure 10 of Ranka, Wang and Fox's paper on NICE as a serial program.
 *
 * The Euler equations of a gas in a closed box around an airfoil, which a pressure wave hits. Finite volumes
 * around the points of the mesh, first order, Rusanov's flux (1961), explicit steps. A point has `values`
 * values, four per fluid: mass, momentum in x and y, energy in its cell. Fluids differ in the strength of
 * the wave, and nothing else couples them: more fluids make longer messages.
 *
 * Every value is a 64-bit integer, in units of 2^-48. A flux is rounded to that unit once, by the rank that
 * works on the edge; after that there are only sums of integers, which come out the same in any order. So
 * a parallel run must agree with the serial run in every bit, and mass is kept exactly. */
#ifndef FLUID_FLOW_H
#define FLUID_FLOW_H

#include <stdint.h>

#include "mesh.h"

enum { VALUES_OF_A_FLUID = 4 };

/* The time step that is stable for every fluid. */
double flow_step(const Mesh* mesh);

/* The values of point v when the flow starts. */
void flow_start(const Mesh* mesh, int64_t v, int values, int64_t* y);

/* What flows through the face of edge e within a step: from the cell at its second end, added to y1, and taken from
 * y2. old1 and old2 are the values at the ends before the step. */
void flow_sweep_edge(const Mesh* mesh, int64_t e, double step, int values, const int64_t* old1, const int64_t* old2,
                     int64_t* y1, int64_t* y2);

/* The push of the walls against the cell of point v within a step. */
void flow_push_wall(const Mesh* mesh, int64_t v, double step, int values, const int64_t* old, int64_t* y);

/* The whole calculation without other ranks; y is [points][values]. */
void flow_serial(const Mesh* mesh, int steps, int values, int64_t* y);

#endif
