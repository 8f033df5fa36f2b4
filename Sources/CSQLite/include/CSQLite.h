#ifndef SWITCHYARD_CSQLITE_H
#define SWITCHYARD_CSQLITE_H

/* SQLite, opened at first use: see CSQLite.c. */

#endif
