#ifndef SWITCHYARD_CRYPTO_H
#define SWITCHYARD_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Signatures over SHA-256, by OpenSSL's libcrypto (version 3, or 1.1), which libcurl's own packages depend on; opened at
 * first use like libcurl itself, and no header of its is needed for building.
 */

typedef struct ccrypto_key *ccrypto_key;

/* Whether the library is there; from any thread, as all of these. */
bool ccrypto_is_available(void);

/* Opens this library in place of the usual ones, for tests of machines that lack them. Before any other call; says whether it is
   there. */
bool ccrypto_open(const char *name);

/* Of a SubjectPublicKeyInfo, and of a PKCS #8 or PKCS #1 key, both as DER. NULL for what is none. */
ccrypto_key ccrypto_public_key(const uint8_t *der, size_t count);
ccrypto_key ccrypto_private_key(const uint8_t *der, size_t count);
/* A new RSA key of 2048 bits; NULL without the library. */
ccrypto_key ccrypto_new_rsa_key(void);
void ccrypto_free(ccrypto_key key);

/* The size of a private key as DER, PKCS #1 for RSA; 0 if it has no room. */
size_t ccrypto_der(ccrypto_key key, uint8_t *der, size_t capacity);

/* RSA with PKCS #1 padding, or ECDSA with a signature in DER, by the kind of the key. */
bool ccrypto_verifies(
    ccrypto_key key, const uint8_t *signature, size_t signature_count, const uint8_t *message, size_t count);

/* The signature's size, or 0 if it cannot be made or has no room. */
size_t ccrypto_sign(ccrypto_key key, const uint8_t *message, size_t count, uint8_t *signature, size_t capacity);

#endif
