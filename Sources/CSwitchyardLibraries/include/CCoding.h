#ifndef SWITCHYARD_CCODING_H
#define SWITCHYARD_CCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The decoders of compressed bodies: zlib (libz.so.1) and Brotli's (libbrotlidec.so.1), which libcurl's own packages
 * depend on; opened at first use like libcurl itself, and no header of theirs is needed for building.
 *
 * libcurl could call them itself. It takes a body that stops in the middle of a compressed stream for a whole one, though.
 */

enum ccoding_kind { CCODING_GZIP, CCODING_BROTLI };

enum ccoding_status {
    /* The stream has its end, checksum and length included. */
    CCODING_ENDED,
    /* All input is used up, and the stream goes on. */
    CCODING_NEEDS_INPUT,
    /* The output is full. */
    CCODING_NEEDS_OUTPUT,
    CCODING_DAMAGED,
    CCODING_NO_MEMORY,
};

typedef struct ccoding_decoder *ccoding_decoder;

/* Whether the library is there; from any thread. */
bool ccoding_is_available(enum ccoding_kind kind);

/* NULL without the library, or without memory. For one thread at a time. */
ccoding_decoder ccoding_new(enum ccoding_kind kind);
void ccoding_free(ccoding_decoder decoder);
/* Back to the beginning of a stream; false without memory. */
bool ccoding_restart(ccoding_decoder decoder);

/* Decodes from *input to output until one of them is used up or the stream ends, and moves *input and *count on. */
enum ccoding_status ccoding_decode(
    ccoding_decoder decoder, const uint8_t **input, size_t *count, uint8_t *output, size_t capacity, size_t *written);

#endif
