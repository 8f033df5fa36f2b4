#ifndef SWITCHYARD_CCURL_H
#define SWITCHYARD_CCURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CCoding.h"

/*
 * libcurl, opened at first use. No header of libcurl is needed for building, and nothing is loaded or linked until
 * ccurl_load is called; the numbers below are libcurl's documented, stable ABI.
 *
 * Except for ccurl_load itself, call nothing here before ccurl_load has answered NULL.
 * Handles are opaque pointers. Results of type long are libcurl's CURLcode or CURLMcode.
 */

/* Opens libcurl.so.4 and initialises it, once for the process, from any thread. NULL, or what is wrong and which
   package to install. The text lives for ever. */
const char *ccurl_load(void);

/* "libcurl/7.88.1 OpenSSL/3.0.19 …" */
const char *ccurl_version(void);
const char *ccurl_strerror(long code);

typedef void *ccurl_easy;
typedef void *ccurl_multi;
typedef void *ccurl_list;

/* Options of an easy handle. */
enum {
    CCURL_OPT_WRITEDATA = 10001,
    CCURL_OPT_URL = 10002,
    CCURL_OPT_PROXY = 10004,
    CCURL_OPT_READDATA = 10009,
    CCURL_OPT_HTTPHEADER = 10023,
    CCURL_OPT_HEADERDATA = 10029,
    CCURL_OPT_SSLVERSION = 32,
    CCURL_OPT_CUSTOMREQUEST = 10036,
    CCURL_OPT_NOBODY = 44,
    CCURL_OPT_UPLOAD = 46,
    CCURL_OPT_POST = 47,
    CCURL_OPT_HTTPPROXYTUNNEL = 61,
    CCURL_OPT_CAINFO = 10065,
    CCURL_OPT_FRESH_CONNECT = 74,
    CCURL_OPT_FORBID_REUSE = 75,
    CCURL_OPT_HTTPGET = 80,
    CCURL_OPT_HTTP_VERSION = 84,
    CCURL_OPT_BUFFERSIZE = 98,
    CCURL_OPT_NOSIGNAL = 99,
    CCURL_OPT_PRIVATE = 10103,
    CCURL_OPT_CONNECT_ONLY = 141,
    CCURL_OPT_CONNECTTIMEOUT_MS = 156,
    CCURL_OPT_COPYPOSTFIELDS = 10165,
    CCURL_OPT_SEEKDATA = 10168,
    CCURL_OPT_NOPROXY = 10177,
    CCURL_OPT_PROTOCOLS = 181,
    CCURL_OPT_TCP_KEEPALIVE = 213,
    CCURL_OPT_TCP_KEEPIDLE = 214,
    CCURL_OPT_TCP_KEEPINTVL = 215,
    CCURL_OPT_PATH_AS_IS = 234,
    CCURL_OPT_PIPEWAIT = 237,
    CCURL_OPT_SUPPRESS_CONNECT_HEADERS = 265,
    CCURL_OPT_UPLOAD_BUFFERSIZE = 280,
    CCURL_OPT_PREREQDATA = 10313,
    CCURL_OPT_QUICK_EXIT = 322,
    CCURL_OPT_POSTFIELDSIZE_LARGE = 30120,
    CCURL_OPT_INFILESIZE_LARGE = 30115,
};

enum {
    CCURL_HTTP_1_1 = 2,
    CCURL_HTTP_2_OVER_TLS = 4,
    CCURL_HTTP_2_PRIOR_KNOWLEDGE = 5,
    CCURL_PROTOCOLS_HTTP_AND_HTTPS = 3,
    CCURL_TLS_1_2 = 6,
};

/* Options of a multi handle. */
enum {
    CCURL_MOPT_MAXCONNECTS = 6,
    CCURL_MOPT_MAX_CONCURRENT_STREAMS = 16,
};

/* Facts about a transfer. */
enum {
    CCURL_INFO_CONNECT_CODE = 0x200000 + 22,
    CCURL_INFO_OS_ERRNO = 0x200000 + 25,
    CCURL_INFO_NUM_CONNECTS = 0x200000 + 26,
    CCURL_INFO_HTTP_VERSION = 0x200000 + 46,
    CCURL_INFO_PROXY_ERROR = 0x200000 + 59,
    CCURL_INFO_ACTIVESOCKET = 0x500000 + 44,
};

/* Results this package tells apart. */
enum {
    CCURL_OK = 0,
    CCURL_UNSUPPORTED_PROTOCOL = 1,
    CCURL_URL_MALFORMAT = 3,
    CCURL_COULDNT_RESOLVE_PROXY = 5,
    CCURL_COULDNT_RESOLVE_HOST = 6,
    CCURL_COULDNT_CONNECT = 7,
    CCURL_WEIRD_SERVER_REPLY = 8,
    CCURL_HTTP2 = 16,
    CCURL_PARTIAL_FILE = 18,
    CCURL_WRITE_ERROR = 23,
    CCURL_UPLOAD_FAILED = 25,
    CCURL_READ_ERROR = 26,
    CCURL_OUT_OF_MEMORY = 27,
    CCURL_OPERATION_TIMEDOUT = 28,
    CCURL_SSL_CONNECT_ERROR = 35,
    CCURL_ABORTED_BY_CALLBACK = 42,
    CCURL_GOT_NOTHING = 52,
    CCURL_SEND_ERROR = 55,
    CCURL_RECV_ERROR = 56,
    CCURL_PEER_FAILED_VERIFICATION = 60,
    CCURL_BAD_CONTENT_ENCODING = 61,
    CCURL_SEND_FAIL_REWIND = 65,
    CCURL_SSL_CACERT_BADFILE = 77,
    CCURL_AGAIN = 81,
    CCURL_HTTP2_STREAM = 92,
    CCURL_PROXY = 97,
};

/* Special answers of callbacks. */
enum {
    CCURL_WRITE_PAUSE = 0x10000001,
    CCURL_READ_ABORT = 0x10000000,
    CCURL_READ_PAUSE = 0x10000001,
    CCURL_SEEK_OK = 0,
    CCURL_SEEK_FAIL = 1,
    CCURL_PREREQUEST_OK = 0,
    CCURL_PREREQUEST_ABORT = 1,
};

/* For ccurl_pause: the whole state, not a change. */
enum { CCURL_PAUSE_RECEIVING = 1, CCURL_PAUSE_SENDING = 4 };

enum { CCURL_POLL_IN = 1, CCURL_POLL_OUT = 4 };

struct ccurl_waitfd {
    int fd;
    short events;
    short revents;
};

typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *user);
typedef int (*ccurl_seek_callback)(void *user, int64_t offset, int origin);
typedef int (*ccurl_prerequest_callback)(
    void *user, char *peer_address, char *local_address, int peer_port, int local_port);

ccurl_easy ccurl_easy_new(void);
void ccurl_easy_free(ccurl_easy easy);
void ccurl_easy_reset(ccurl_easy easy);

long ccurl_set_long(ccurl_easy easy, long option, long value);
long ccurl_set_offset(ccurl_easy easy, long option, int64_t value);
long ccurl_set_string(ccurl_easy easy, long option, const char *value);
long ccurl_set_pointer(ccurl_easy easy, long option, const void *value);
long ccurl_set_write_callback(ccurl_easy easy, ccurl_data_callback callback);
long ccurl_set_header_callback(ccurl_easy easy, ccurl_data_callback callback);
long ccurl_set_read_callback(ccurl_easy easy, ccurl_data_callback callback);
long ccurl_set_seek_callback(ccurl_easy easy, ccurl_seek_callback callback);
long ccurl_set_prerequest_callback(ccurl_easy easy, ccurl_prerequest_callback callback);
/* CAINFO_BLOB: PEM bytes, copied. */
long ccurl_set_ca_bytes(ccurl_easy easy, const void *bytes, size_t count);

long ccurl_info_long(ccurl_easy easy, long info, long *value);
long ccurl_info_socket(ccurl_easy easy, int *descriptor);
void *ccurl_info_private(ccurl_easy easy);

/* Blocking: runs a whole transfer on the calling thread. */
long ccurl_easy_perform(ccurl_easy easy);
long ccurl_pause(ccurl_easy easy, long state);
long ccurl_send(ccurl_easy easy, const void *bytes, size_t count, size_t *sent);
long ccurl_receive(ccurl_easy easy, void *bytes, size_t count, size_t *received);

/* NULL when out of memory; the old list is untouched then. */
ccurl_list ccurl_list_append(ccurl_list list, const char *line);
void ccurl_list_free(ccurl_list list);

ccurl_multi ccurl_multi_new(void);
long ccurl_multi_free(ccurl_multi multi);
long ccurl_multi_set_long(ccurl_multi multi, long option, long value);
long ccurl_multi_add(ccurl_multi multi, ccurl_easy easy);
long ccurl_multi_remove(ccurl_multi multi, ccurl_easy easy);
long ccurl_multi_perform(ccurl_multi multi, int *running);
long ccurl_multi_poll(ccurl_multi multi, struct ccurl_waitfd *extra, unsigned count, int milliseconds);
long ccurl_multi_wakeup(ccurl_multi multi);
/* The next finished transfer and its result, or NULL. */
ccurl_easy ccurl_multi_next_done(ccurl_multi multi, long *result);

#endif
