#ifndef SWITCHYARD_CCHECKSUM_H
#define SWITCHYARD_CCHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The processor's own instruction for CRC32C, which Swift has no name for. Nothing to load and nothing to link.
 */

/* Whether this processor has it; to be asked before it is used. */
bool cchecksum_has_crc32c(void);

/* The state after further bytes: as in the standard before the last inversion, beginning with all ones. */
uint32_t cchecksum_crc32c(uint32_t state, const void *bytes, size_t count);

#endif
