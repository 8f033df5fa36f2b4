#ifndef SWITCHYARD_CPOSTGRES_H
#define SWITCHYARD_CPOSTGRES_H

/* The place of libpq. Nothing calls it yet, so nothing is declared. */

#endif
