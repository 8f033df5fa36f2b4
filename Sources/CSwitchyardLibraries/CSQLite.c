#include "CSQLite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#ifdef __APPLE__
#define LIBRARY "/usr/lib/libsqlite3.dylib"
#define ADVICE "it is part of the system"
#else
#define LIBRARY "libsqlite3.so.0"
#define ADVICE "install it: on Debian and Ubuntu the package is libsqlite3-0"
#endif

enum { OPEN_READWRITE = 0x2, OPEN_CREATE = 0x4, OPEN_NOMUTEX = 0x8000, OPEN_PRIVATECACHE = 0x40000 };

/* Every function used, with the name it has in the library and its exact type. */
#define FUNCTIONS(X)                                                                                            \
    X(int, open, "sqlite3_open_v2", (const char *, void **, int, const char *))                                 \
    X(int, close, "sqlite3_close_v2", (void *))                                                                 \
    X(int, extended_result_codes, "sqlite3_extended_result_codes", (void *, int))                               \
    X(int, extended_errcode, "sqlite3_extended_errcode", (void *))                                              \
    X(int, exec, "sqlite3_exec", (void *, const char *, int (*)(void *, int, char **, char **), void *, char **)) \
    X(int, get_autocommit, "sqlite3_get_autocommit", (void *))                                                  \
    X(int, changes, "sqlite3_changes", (void *))                                                                \
    X(int, prepare, "sqlite3_prepare_v3", (void *, const char *, int, unsigned, void **, const char **))        \
    X(int, finalize, "sqlite3_finalize", (void *))                                                              \
    X(int, step, "sqlite3_step", (void *))                                                                      \
    X(int, reset, "sqlite3_reset", (void *))                                                                    \
    X(int, clear_bindings, "sqlite3_clear_bindings", (void *))                                                  \
    X(int, bind_int64, "sqlite3_bind_int64", (void *, int, long long))                                          \
    X(int, bind_text64, "sqlite3_bind_text64",                                                                  \
      (void *, int, const char *, unsigned long long, void (*)(void *), unsigned char))                         \
    X(int, bind_blob64, "sqlite3_bind_blob64", (void *, int, const void *, unsigned long long, void (*)(void *))) \
    X(long long, column_int64, "sqlite3_column_int64", (void *, int))                                           \
    X(const unsigned char *, column_text, "sqlite3_column_text", (void *, int))                                 \
    X(const void *, column_blob, "sqlite3_column_blob", (void *, int))                                          \
    X(int, column_bytes, "sqlite3_column_bytes", (void *, int))

static struct {
#define DECLARE(result, name, symbol, arguments) result (*name) arguments;
    FUNCTIONS(DECLARE)
#undef DECLARE
} sqlite;

enum { PREPARE_PERSISTENT = 1, ENCODING_UTF8 = 1 };
/* Tells SQLite to copy what is bound. */
#define TRANSIENT ((void (*)(void *))(intptr_t)-1)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];
static bool has_failed;

static void fail(const char *detail) {
    has_failed = true;
    snprintf(failure, sizeof failure, LIBRARY " cannot be used (%s); " ADVICE, detail);
}

static void load(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        fail(reason ? reason : "not found");
        return;
    }
#define RESOLVE(result, name, symbol, arguments)              \
    sqlite.name = (result(*) arguments)dlsym(library, symbol); \
    if (!sqlite.name) {                                       \
        fail("it lacks " symbol);                             \
        return;                                               \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
}

const char *csqlite_load(void) {
    pthread_once(&once, load);
    return has_failed ? failure : NULL;
}

int csqlite_open(const char *path, csqlite_connection *connection) {
    int result = sqlite.open(
        path, connection, OPEN_READWRITE | OPEN_CREATE | OPEN_NOMUTEX | OPEN_PRIVATECACHE, NULL);
    if (result == CSQLITE_OK) {
        sqlite.extended_result_codes(*connection, 1);
        return result;
    }
    if (*connection) {
        result = sqlite.extended_errcode(*connection);
        sqlite.close(*connection);
        *connection = NULL;
    }
    return result;
}

void csqlite_close(csqlite_connection connection) { sqlite.close(connection); }
int csqlite_run(csqlite_connection connection, const char *sql) {
    return sqlite.exec(connection, sql, NULL, NULL, NULL);
}
bool csqlite_is_in_transaction(csqlite_connection connection) { return !sqlite.get_autocommit(connection); }
int csqlite_changes(csqlite_connection connection) { return sqlite.changes(connection); }

int csqlite_prepare(csqlite_connection connection, const char *sql, csqlite_statement *statement) {
    return sqlite.prepare(connection, sql, -1, PREPARE_PERSISTENT, statement, NULL);
}
void csqlite_finalize(csqlite_statement statement) { sqlite.finalize(statement); }
int csqlite_step(csqlite_statement statement) { return sqlite.step(statement); }
void csqlite_reset(csqlite_statement statement) {
    sqlite.reset(statement);
    sqlite.clear_bindings(statement);
}

int csqlite_bind_integer(csqlite_statement statement, int parameter, int64_t value) {
    return sqlite.bind_int64(statement, parameter, value);
}
int csqlite_bind_text(csqlite_statement statement, int parameter, const char *bytes, size_t count) {
    return sqlite.bind_text64(statement, parameter, bytes ? bytes : "", count, TRANSIENT, ENCODING_UTF8);
}
int csqlite_bind_bytes(csqlite_statement statement, int parameter, const void *bytes, size_t count) {
    return sqlite.bind_blob64(statement, parameter, bytes ? bytes : "", count, TRANSIENT);
}

int64_t csqlite_integer(csqlite_statement statement, int column) { return sqlite.column_int64(statement, column); }
/* The length is that of the form asked for last, so the pointer comes first. */
const void *csqlite_text(csqlite_statement statement, int column, size_t *count) {
    const void *text = sqlite.column_text(statement, column);
    *count = (size_t)sqlite.column_bytes(statement, column);
    return text;
}
const void *csqlite_bytes(csqlite_statement statement, int column, size_t *count) {
    const void *bytes = sqlite.column_blob(statement, column);
    *count = (size_t)sqlite.column_bytes(statement, column);
    return bytes;
}
