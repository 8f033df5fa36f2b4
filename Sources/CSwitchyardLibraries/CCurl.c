/* Apple's platforms have their own. */
#ifndef __APPLE__

#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/* libcurl's own types, as far as this file needs them. */
struct curl_message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};
struct curl_blob {
    void *data;
    size_t length;
    unsigned flags;
};
enum { MESSAGE_DONE = 1, BLOB_COPY = 1, GLOBAL_DEFAULT = 3 };
enum {
    OPT_WRITEFUNCTION = 20011,
    OPT_READFUNCTION = 20012,
    OPT_HEADERFUNCTION = 20079,
    OPT_SEEKFUNCTION = 20167,
    OPT_PREREQFUNCTION = 20312,
    OPT_CAINFO_BLOB = 40309,
    INFO_PRIVATE = 0x100000 + 21,
};

/* Every function used, with the name it has in the library and its exact type, the variadic ones included. */
#define FUNCTIONS(X)                                                                             \
    X(int, global_init, "curl_global_init", (long))                                              \
    X(char *, version, "curl_version", (void))                                                   \
    X(const char *, strerror, "curl_easy_strerror", (int))                                       \
    X(void *, easy_init, "curl_easy_init", (void))                                               \
    X(void, easy_cleanup, "curl_easy_cleanup", (void *))                                         \
    X(void, easy_reset, "curl_easy_reset", (void *))                                             \
    X(int, easy_setopt, "curl_easy_setopt", (void *, int, ...))                                  \
    X(int, easy_getinfo, "curl_easy_getinfo", (void *, int, ...))                                \
    X(int, easy_perform, "curl_easy_perform", (void *))                                          \
    X(int, easy_pause, "curl_easy_pause", (void *, int))                                         \
    X(int, easy_send, "curl_easy_send", (void *, const void *, size_t, size_t *))                \
    X(int, easy_recv, "curl_easy_recv", (void *, void *, size_t, size_t *))                      \
    X(void *, slist_append, "curl_slist_append", (void *, const char *))                         \
    X(void, slist_free_all, "curl_slist_free_all", (void *))                                     \
    X(void *, multi_init, "curl_multi_init", (void))                                             \
    X(int, multi_cleanup, "curl_multi_cleanup", (void *))                                        \
    X(int, multi_setopt, "curl_multi_setopt", (void *, int, ...))                                \
    X(int, multi_add_handle, "curl_multi_add_handle", (void *, void *))                          \
    X(int, multi_remove_handle, "curl_multi_remove_handle", (void *, void *))                    \
    X(int, multi_perform, "curl_multi_perform", (void *, int *))                                 \
    X(int, multi_poll, "curl_multi_poll", (void *, struct ccurl_waitfd *, unsigned, int, int *)) \
    X(int, multi_wakeup, "curl_multi_wakeup", (void *))                                          \
    X(struct curl_message *, multi_info_read, "curl_multi_info_read", (void *, int *))

static struct {
#define DECLARE(result, name, symbol, arguments) result (*name) arguments;
    FUNCTIONS(DECLARE)
#undef DECLARE
} curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];
static bool has_failed;

static void fail(const char *detail) {
    has_failed = true;
    snprintf(
        failure, sizeof failure,
        "libcurl.so.4 cannot be used (%s); install it: on Debian and Ubuntu the package is libcurl4, "
        "7.84 or later",
        detail);
}

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        fail(reason ? reason : "not found");
        return;
    }
#define RESOLVE(result, name, symbol, arguments)                              \
    curl.name = (result(*) arguments)dlsym(library, symbol);                  \
    if (!curl.name) {                                                         \
        fail("it lacks " symbol);                                             \
        return;                                                               \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
    if (curl.global_init(GLOBAL_DEFAULT) != CCURL_OK) fail("its initialisation failed");
}

const char *ccurl_load(void) {
    pthread_once(&once, load);
    return has_failed ? failure : NULL;
}

const char *ccurl_version(void) { return curl.version(); }
const char *ccurl_strerror(long code) { return curl.strerror((int)code); }

ccurl_easy ccurl_easy_new(void) { return curl.easy_init(); }
void ccurl_easy_free(ccurl_easy easy) { curl.easy_cleanup(easy); }
void ccurl_easy_reset(ccurl_easy easy) { curl.easy_reset(easy); }

long ccurl_set_long(ccurl_easy easy, long option, long value) { return curl.easy_setopt(easy, (int)option, value); }
long ccurl_set_offset(ccurl_easy easy, long option, int64_t value) { return curl.easy_setopt(easy, (int)option, value); }
long ccurl_set_string(ccurl_easy easy, long option, const char *value) { return curl.easy_setopt(easy, (int)option, value); }
long ccurl_set_pointer(ccurl_easy easy, long option, const void *value) { return curl.easy_setopt(easy, (int)option, value); }

long ccurl_set_write_callback(ccurl_easy easy, ccurl_data_callback callback) {
    return curl.easy_setopt(easy, OPT_WRITEFUNCTION, callback);
}
long ccurl_set_header_callback(ccurl_easy easy, ccurl_data_callback callback) {
    return curl.easy_setopt(easy, OPT_HEADERFUNCTION, callback);
}
long ccurl_set_read_callback(ccurl_easy easy, ccurl_data_callback callback) {
    return curl.easy_setopt(easy, OPT_READFUNCTION, callback);
}
long ccurl_set_seek_callback(ccurl_easy easy, ccurl_seek_callback callback) {
    return curl.easy_setopt(easy, OPT_SEEKFUNCTION, callback);
}
long ccurl_set_prerequest_callback(ccurl_easy easy, ccurl_prerequest_callback callback) {
    return curl.easy_setopt(easy, OPT_PREREQFUNCTION, callback);
}
long ccurl_set_ca_bytes(ccurl_easy easy, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, BLOB_COPY};
    return curl.easy_setopt(easy, OPT_CAINFO_BLOB, &blob);
}

long ccurl_info_long(ccurl_easy easy, long info, long *value) { return curl.easy_getinfo(easy, (int)info, value); }
long ccurl_info_socket(ccurl_easy easy, int *descriptor) {
    return curl.easy_getinfo(easy, CCURL_INFO_ACTIVESOCKET, descriptor);
}
void *ccurl_info_private(ccurl_easy easy) {
    void *user = NULL;
    curl.easy_getinfo(easy, INFO_PRIVATE, &user);
    return user;
}

long ccurl_easy_perform(ccurl_easy easy) { return curl.easy_perform(easy); }
long ccurl_pause(ccurl_easy easy, long state) { return curl.easy_pause(easy, (int)state); }
long ccurl_send(ccurl_easy easy, const void *bytes, size_t count, size_t *sent) {
    *sent = 0;
    return curl.easy_send(easy, bytes, count, sent);
}
long ccurl_receive(ccurl_easy easy, void *bytes, size_t count, size_t *received) {
    *received = 0;
    return curl.easy_recv(easy, bytes, count, received);
}

ccurl_list ccurl_list_append(ccurl_list list, const char *line) { return curl.slist_append(list, line); }
void ccurl_list_free(ccurl_list list) { curl.slist_free_all(list); }

ccurl_multi ccurl_multi_new(void) { return curl.multi_init(); }
long ccurl_multi_free(ccurl_multi multi) { return curl.multi_cleanup(multi); }
long ccurl_multi_set_long(ccurl_multi multi, long option, long value) { return curl.multi_setopt(multi, (int)option, value); }
long ccurl_multi_add(ccurl_multi multi, ccurl_easy easy) { return curl.multi_add_handle(multi, easy); }
long ccurl_multi_remove(ccurl_multi multi, ccurl_easy easy) { return curl.multi_remove_handle(multi, easy); }
long ccurl_multi_perform(ccurl_multi multi, int *running) { return curl.multi_perform(multi, running); }
long ccurl_multi_poll(ccurl_multi multi, struct ccurl_waitfd *extra, unsigned count, int milliseconds) {
    return curl.multi_poll(multi, extra, count, milliseconds, NULL);
}
long ccurl_multi_wakeup(ccurl_multi multi) { return curl.multi_wakeup(multi); }

ccurl_easy ccurl_multi_next_done(ccurl_multi multi, long *result) {
    int left = 0;
    for (struct curl_message *message = curl.multi_info_read(multi, &left); message;
         message = curl.multi_info_read(multi, &left)) {
        if (message->kind != MESSAGE_DONE) continue;
        *result = message->data.result;
        return message->easy;
    }
    return NULL;
}

#endif
