#ifndef SWITCHYARD_CSQLITE_H
#define SWITCHYARD_CSQLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * SQLite, opened at first use. No header of SQLite is needed for building, and nothing is loaded or linked until
 * csqlite_load is called; the numbers below are SQLite's documented, stable ABI.
 *
 * Except for csqlite_load itself, call nothing here before csqlite_load has answered NULL.
 * Results of type int are SQLite's extended result codes. A connection and its statements are used by one thread at a time.
 */

/* Opens libsqlite3 once for the process, from any thread. NULL, or what is wrong and which package to install. The text
   lives for ever. */
const char *csqlite_load(void);

typedef void *csqlite_connection;
typedef void *csqlite_statement;

enum {
    CSQLITE_OK = 0,
    CSQLITE_BUSY = 5,
    CSQLITE_NOMEM = 7,
    CSQLITE_READONLY = 8,
    CSQLITE_IOERR = 10,
    CSQLITE_CORRUPT = 11,
    CSQLITE_FULL = 13,
    CSQLITE_CANTOPEN = 14,
    CSQLITE_NOTADB = 26,
    CSQLITE_ROW = 100,
    CSQLITE_DONE = 101,
};

/* Opens a file for reading and writing, and makes it if it is missing. On failure there is no connection. */
int csqlite_open(const char *path, csqlite_connection *connection);
/* Finalise all statements first. */
void csqlite_close(csqlite_connection connection);
/* Runs statements that answer nothing. */
int csqlite_run(csqlite_connection connection, const char *sql);
/* Whether a transaction is open: some failures have ended it already. */
bool csqlite_is_in_transaction(csqlite_connection connection);
/* Rows changed by the last statement. */
int csqlite_changes(csqlite_connection connection);

int csqlite_prepare(csqlite_connection connection, const char *sql, csqlite_statement *statement);
void csqlite_finalize(csqlite_statement statement);
/* CSQLITE_ROW, CSQLITE_DONE, or a failure. */
int csqlite_step(csqlite_statement statement);
/* Makes it ready for the next use and forgets what was bound. */
void csqlite_reset(csqlite_statement statement);

/* Parameters count from 1. Text and bytes are copied. */
int csqlite_bind_integer(csqlite_statement statement, int parameter, int64_t value);
int csqlite_bind_text(csqlite_statement statement, int parameter, const char *bytes, size_t count);
int csqlite_bind_bytes(csqlite_statement statement, int parameter, const void *bytes, size_t count);

/* Columns count from 0. What is pointed to lives until the next step or reset; count is its length in bytes. */
int64_t csqlite_integer(csqlite_statement statement, int column);
const void *csqlite_text(csqlite_statement statement, int column, size_t *count);
const void *csqlite_bytes(csqlite_statement statement, int column, size_t *count);

#endif
