#ifndef SWITCHYARD_CPOSTGRES_H
#define SWITCHYARD_CPOSTGRES_H

/* libpq, opened at first use: see CPostgres.c. */

#endif
