/* Apple's platforms have their own. */
#ifndef __APPLE__

#include "CCoding.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

/* zlib's own stream, as its stable ABI has it. */
struct zlib_stream {
    const uint8_t *next_in;
    unsigned avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *(*allocate)(void *, unsigned, unsigned);
    void (*release)(void *, void *);
    void *user;
    int data_type;
    unsigned long checksum;
    unsigned long reserved;
};
enum { ZLIB_OK = 0, ZLIB_STREAM_END = 1, ZLIB_MEM_ERROR = -4, ZLIB_BUF_ERROR = -5, ZLIB_NO_FLUSH = 0 };
/* The largest window, and a gzip wrapper around it. */
enum { ZLIB_GZIP = 15 + 16 };
enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1, BROTLI_NEEDS_INPUT = 2, BROTLI_NEEDS_OUTPUT = 3 };

static struct {
    const char *(*version)(void);
    int (*init)(struct zlib_stream *, int, const char *, int);
    int (*inflate)(struct zlib_stream *, int);
    int (*reset)(struct zlib_stream *);
    int (*end)(struct zlib_stream *);
    bool is_loaded;
} zlib;

static struct {
    void *(*create)(void *, void *, void *);
    int (*decompress)(void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    int (*error)(const void *);
    void (*destroy)(void *);
    bool is_loaded;
} brotli;

#define RESOLVE(table, name, symbol) (*(void **)&table.name = dlsym(library, symbol))

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    zlib.is_loaded = library && RESOLVE(zlib, version, "zlibVersion") && RESOLVE(zlib, init, "inflateInit2_") &&
                     RESOLVE(zlib, inflate, "inflate") && RESOLVE(zlib, reset, "inflateReset") &&
                     RESOLVE(zlib, end, "inflateEnd");
    library = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
    brotli.is_loaded = library && RESOLVE(brotli, create, "BrotliDecoderCreateInstance") &&
                       RESOLVE(brotli, decompress, "BrotliDecoderDecompressStream") &&
                       RESOLVE(brotli, error, "BrotliDecoderGetErrorCode") &&
                       RESOLVE(brotli, destroy, "BrotliDecoderDestroyInstance");
}

bool ccoding_is_available(enum ccoding_kind kind) {
    pthread_once(&once, load);
    return kind == CCODING_GZIP ? zlib.is_loaded : brotli.is_loaded;
}

struct ccoding_decoder {
    enum ccoding_kind kind;
    struct zlib_stream stream;
    void *brotli;
};

ccoding_decoder ccoding_new(enum ccoding_kind kind) {
    if (!ccoding_is_available(kind)) return NULL;
    ccoding_decoder decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->kind = kind;
    bool is_ready;
    if (kind == CCODING_GZIP) {
        is_ready = zlib.init(&decoder->stream, ZLIB_GZIP, zlib.version(), (int)sizeof decoder->stream) == ZLIB_OK;
    } else {
        decoder->brotli = brotli.create(NULL, NULL, NULL);
        is_ready = decoder->brotli != NULL;
    }
    if (is_ready) return decoder;
    free(decoder);
    return NULL;
}

void ccoding_free(ccoding_decoder decoder) {
    if (decoder->kind == CCODING_GZIP) zlib.end(&decoder->stream);
    if (decoder->brotli) brotli.destroy(decoder->brotli);
    free(decoder);
}

bool ccoding_restart(ccoding_decoder decoder) {
    if (decoder->kind == CCODING_GZIP) return zlib.reset(&decoder->stream) == ZLIB_OK;
    brotli.destroy(decoder->brotli);
    decoder->brotli = brotli.create(NULL, NULL, NULL);
    return decoder->brotli != NULL;
}

static enum ccoding_status decode_gzip(
    struct zlib_stream *stream, const uint8_t **input, size_t *count, uint8_t *output, size_t capacity, size_t *written) {
    unsigned offered = *count > UINT_MAX ? UINT_MAX : (unsigned)*count;
    unsigned room = capacity > UINT_MAX ? UINT_MAX : (unsigned)capacity;
    stream->next_in = *input;
    stream->avail_in = offered;
    stream->next_out = output;
    stream->avail_out = room;
    int result = zlib.inflate(stream, ZLIB_NO_FLUSH);
    *input += offered - stream->avail_in;
    *count -= offered - stream->avail_in;
    *written = room - stream->avail_out;
    switch (result) {
    case ZLIB_STREAM_END: return CCODING_ENDED;
    case ZLIB_OK:
    case ZLIB_BUF_ERROR: /* No progress was possible: no damage. */
        return stream->avail_out == 0 ? CCODING_NEEDS_OUTPUT : CCODING_NEEDS_INPUT;
    case ZLIB_MEM_ERROR: return CCODING_NO_MEMORY;
    default: return CCODING_DAMAGED;
    }
}

static enum ccoding_status decode_brotli(
    void *state, const uint8_t **input, size_t *count, uint8_t *output, size_t capacity, size_t *written) {
    size_t room = capacity;
    int result = brotli.decompress(state, count, input, &room, &output, NULL);
    *written = capacity - room;
    switch (result) {
    case BROTLI_SUCCESS: return CCODING_ENDED;
    case BROTLI_NEEDS_INPUT: return CCODING_NEEDS_INPUT;
    case BROTLI_NEEDS_OUTPUT: return CCODING_NEEDS_OUTPUT;
    /* Codes of failed allocations are -21 to -30; every other one is about the bytes. */
    default: {
        int code = brotli.error(state);
        return code <= -21 && code >= -30 ? CCODING_NO_MEMORY : CCODING_DAMAGED;
    }
    }
}

enum ccoding_status ccoding_decode(
    ccoding_decoder decoder, const uint8_t **input, size_t *count, uint8_t *output, size_t capacity, size_t *written) {
    return decoder->kind == CCODING_GZIP
               ? decode_gzip(&decoder->stream, input, count, output, capacity, written)
               : decode_brotli(decoder->brotli, input, count, output, capacity, written);
}

#endif
