/* Datatypes of a number of elements, laid out at random. */
#ifndef TYPES_H
#define TYPES_H
#include "program.h"

/* What a message consists of: its type signature is this one's, repeated. */
typedef enum { BYTE, CHAR, SHORT, INT, FLOAT, DOUBLE, INT64, TWO_INTS, PAIR, ELEMENT_KINDS } Element;

/* A datatype with so many elements' signature. `column`: how many of the type may stand side by side, one
 * element apart, as in a transposition; 0: not wanted. Types other than predefined ones belong to the work. */
MPI_Datatype draw_type(Work* w, Draw* draw, Element element, int elements, int column);

/* Where the bytes of `count` of a type lie, seen from the address that a call is given; *from >= *to if none. */
void span(MPI_Datatype type, MPI_Aint count, MPI_Aint* from, MPI_Aint* to);

#endif
