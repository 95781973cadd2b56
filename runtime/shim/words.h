#pragma once
/* MPI calls without any MPI: arguments are carried as machine words. Handles are ints in MPICH and
 * pointers in Open MPI, and both calling conventions in use (System V x86-64, AAPCS64) pass either in
 * one 64-bit slot. */
#include <stdint.h>

typedef intptr_t word;

/* Parameters and arguments, by their number. */
#define P0 void
#define P1 word a1
#define P2 P1, word a2
#define P3 P2, word a3
#define P4 P3, word a4
#define P5 P4, word a5
#define P6 P5, word a6
#define P7 P6, word a7
#define P8 P7, word a8
#define P9 P8, word a9
#define P10 P9, word a10
#define P11 P10, word a11
#define P12 P11, word a12
#define A0
#define A1 a1
#define A2 A1, a2
#define A3 A2, a3
#define A4 A3, a4
#define A5 A4, a5
#define A6 A5, a6
#define A7 A6, a7
#define A8 A7, a8
#define A9 A8, a9
#define A10 A9, a10
#define A11 A10, a11
#define A12 A11, a12

/* In a function with parameters P##n: calls what is at `function` with the same arguments. */
#define PASS_TO(function, n) ((int (*)(P##n))(uintptr_t)(function))(A##n)
