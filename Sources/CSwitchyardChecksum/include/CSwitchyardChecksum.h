#ifndef SWITCHYARD_CCHECKSUM_H
#define SWITCHYARD_CCHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Checksums that Swift has no name for or is slow at in a debug build. Nothing to load and nothing to link.
 */

/* Whether this processor has it; to be asked before it is used. */
bool cchecksum_has_crc32c(void);

/* The state after further bytes: as in the standard before the last inversion, beginning with all ones. */
uint32_t cchecksum_crc32c(uint32_t state, const void *bytes, size_t count);

/* Each mixes `count` blocks of 64 bytes into the words of its state: four, five and eight. */
void cchecksum_md5(uint32_t *state, const uint8_t *blocks, size_t count);
void cchecksum_sha1(uint32_t *state, const uint8_t *blocks, size_t count);
void cchecksum_sha256(uint32_t *state, const uint8_t *blocks, size_t count);

#endif
