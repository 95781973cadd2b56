#include "flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static const double unit = 1.0 / ((int64_t)1 << 48);
static const double gamma_of_air = 1.4;

/* In no fluid is any wave faster than 4: the strongest one has at most twice the pressure 1 at density 1. */
double flow_step(const Mesh* mesh) { return mesh->step / 8; }

static int64_t round_to_unit(double value) { return llrint(value / unit); }

void flow_start(const Mesh* mesh, int64_t v, int values, int64_t* y) {
  const double x = mesh->xy[2 * v] + 0.25, height = mesh->xy[2 * v + 1] - 0.1; /* from the middle of the wave */
  const double wave = 1 / (1 + 100 * (x * x + height * height));
  const int fluids = values / VALUES_OF_A_FLUID;
  for (int fluid = 0; fluid < fluids; ++fluid, y += VALUES_OF_A_FLUID) {
    const double pressure = 1 + wave * (fluid + 1) / fluids;
    y[0] = round_to_unit(mesh->area[v]);
    y[1] = y[2] = 0;
    y[3] = round_to_unit(mesh->area[v] * (pressure / (gamma_of_air - 1)));
  }
}

/* Densities of one fluid in a cell. */
typedef struct {
  double mass, x, y, energy, pressure;
} Gas;

static Gas gas_at(const Mesh* mesh, int64_t v, const int64_t* values) {
  const double scale = unit / mesh->area[v];
  Gas gas = {(double)values[0] * scale, (double)values[1] * scale, (double)values[2] * scale, (double)values[3] * scale,
             0};
  gas.pressure = (gamma_of_air - 1) * (gas.energy - 0.5 * (gas.x * gas.x + gas.y * gas.y) / gas.mass);
  return gas;
}

void flow_sweep_edge(const Mesh* mesh, int64_t e, double step, int values, const int64_t* old1, const int64_t* old2,
                     int64_t* y1, int64_t* y2) {
  const double nx = mesh->normals[2 * e], ny = mesh->normals[2 * e + 1], length = sqrt(nx * nx + ny * ny);
  for (int i = 0; i < values; i += VALUES_OF_A_FLUID) {
    const Gas a = gas_at(mesh, mesh->ends[e][0], old1 + i), b = gas_at(mesh, mesh->ends[e][1], old2 + i);
    const double through_a = (a.x * nx + a.y * ny) / a.mass, through_b = (b.x * nx + b.y * ny) / b.mass;
    const double fastest = fmax(fabs(through_a) + sqrt(gamma_of_air * a.pressure / a.mass) * length,
                                fabs(through_b) + sqrt(gamma_of_air * b.pressure / b.mass) * length);
    const double flux[VALUES_OF_A_FLUID] = {
        fastest * (b.mass - a.mass) - (a.mass * through_a + b.mass * through_b),
        fastest * (b.x - a.x) - (a.x * through_a + b.x * through_b + (a.pressure + b.pressure) * nx),
        fastest * (b.y - a.y) - (a.y * through_a + b.y * through_b + (a.pressure + b.pressure) * ny),
        fastest * (b.energy - a.energy) - ((a.energy + a.pressure) * through_a + (b.energy + b.pressure) * through_b),
    };
    for (int k = 0; k < VALUES_OF_A_FLUID; ++k) {
      const int64_t flows = round_to_unit(0.5 * step * flux[k]);
      y1[i + k] += flows;
      y2[i + k] -= flows;
    }
  }
}

void flow_push_wall(const Mesh* mesh, int64_t v, double step, int values, const int64_t* old, int64_t* y) {
  const double* wall = mesh->wall + 2 * v;
  for (int i = 0; i < values; i += VALUES_OF_A_FLUID) {
    const double push = step * gas_at(mesh, v, old + i).pressure;
    y[i + 1] -= round_to_unit(push * wall[0]);
    y[i + 2] -= round_to_unit(push * wall[1]);
  }
}

void flow_serial(const Mesh* mesh, int steps, int values, int64_t* y) {
  const size_t bytes = (size_t)mesh->points * (size_t)values * sizeof *y;
  const double step = flow_step(mesh);
  int64_t* old = allocate(mesh->points * values, sizeof *old);
  for (int64_t v = 0; v < mesh->points; ++v) flow_start(mesh, v, values, y + v * values);
  for (int i = 0; i < steps; ++i) {
    memcpy(old, y, bytes);
    for (int64_t e = 0; e < mesh->edges; ++e) {
      const int64_t v1 = (int64_t)mesh->ends[e][0] * values, v2 = (int64_t)mesh->ends[e][1] * values;
      flow_sweep_edge(mesh, e, step, values, old + v1, old + v2, y + v1, y + v2);
    }
    for (int64_t v = 0; v < mesh->points; ++v) flow_push_wall(mesh, v, step, values, old + v * values, y + v * values);
  }
  free(old);
}
