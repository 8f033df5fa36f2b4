/* Apple's platforms have their own. */
#ifndef __APPLE__

#include "CCrypto.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

/* Keys, contexts and digests are never looked into. */
static struct {
    void *(*public_key)(void **, const unsigned char **, long);
    void *(*private_key)(void **, const unsigned char **, long);
    void (*free_key)(void *);
    void *(*new_context)(void);
    void (*free_context)(void *);
    const void *(*sha256)(void);
    int (*begin_verifying)(void *, void **, const void *, void *, void *);
    int (*verify)(void *, const unsigned char *, size_t, const unsigned char *, size_t);
    int (*begin_signing)(void *, void **, const void *, void *, void *);
    int (*sign)(void *, unsigned char *, size_t *, const unsigned char *, size_t);
    void *(*new_key_context)(int, void *);
    void (*free_key_context)(void *);
    int (*begin_key)(void *);
    int (*set_option)(void *, const char *, const char *);
    int (*make_key)(void *, void **);
    int (*write_private_key)(void *, unsigned char **);
    void (*clear_errors)(void);
    bool is_loaded;
} crypto;

#define RESOLVE(name, symbol) (*(void **)&crypto.name = dlsym(library, symbol))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *only_library;

static void load(void) {
    void *library = dlopen(only_library ? only_library : "libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library && !only_library) library = dlopen("libcrypto.so.1.1", RTLD_NOW | RTLD_LOCAL);
    crypto.is_loaded =
        library && RESOLVE(public_key, "d2i_PUBKEY") && RESOLVE(private_key, "d2i_AutoPrivateKey") &&
        RESOLVE(free_key, "EVP_PKEY_free") && RESOLVE(new_context, "EVP_MD_CTX_new") &&
        RESOLVE(free_context, "EVP_MD_CTX_free") && RESOLVE(sha256, "EVP_sha256") &&
        RESOLVE(begin_verifying, "EVP_DigestVerifyInit") && RESOLVE(verify, "EVP_DigestVerify") &&
        RESOLVE(begin_signing, "EVP_DigestSignInit") && RESOLVE(sign, "EVP_DigestSign") &&
        RESOLVE(new_key_context, "EVP_PKEY_CTX_new_id") && RESOLVE(free_key_context, "EVP_PKEY_CTX_free") &&
        RESOLVE(begin_key, "EVP_PKEY_keygen_init") && RESOLVE(set_option, "EVP_PKEY_CTX_ctrl_str") &&
        RESOLVE(make_key, "EVP_PKEY_keygen") && RESOLVE(write_private_key, "i2d_PrivateKey") &&
        RESOLVE(clear_errors, "ERR_clear_error");
}

bool ccrypto_is_available(void) {
    pthread_once(&once, load);
    return crypto.is_loaded;
}

bool ccrypto_open(const char *name) {
    only_library = name;
    bool is_available = ccrypto_is_available();
    only_library = NULL;
    return is_available;
}

static ccrypto_key parse(
    void *(*parser)(void **, const unsigned char **, long), const uint8_t *der, size_t count) {
    if (count > LONG_MAX) return NULL;
    const unsigned char *place = der;
    void *key = parser(NULL, &place, (long)count);
    /* What is wrong with a key stays in the thread's list of errors otherwise. */
    if (!key) crypto.clear_errors();
    if (key && place != der + count) {
        crypto.free_key(key);
        return NULL;
    }
    return key;
}

ccrypto_key ccrypto_public_key(const uint8_t *der, size_t count) {
    return ccrypto_is_available() ? parse(crypto.public_key, der, count) : NULL;
}

ccrypto_key ccrypto_private_key(const uint8_t *der, size_t count) {
    return ccrypto_is_available() ? parse(crypto.private_key, der, count) : NULL;
}

ccrypto_key ccrypto_new_rsa_key(void) {
    /* What OpenSSL calls EVP_PKEY_RSA. */
    const int rsa = 6;
    void *context = ccrypto_is_available() ? crypto.new_key_context(rsa, NULL) : NULL;
    if (!context) return NULL;
    void *key = NULL;
    bool is_good = crypto.begin_key(context) == 1 && crypto.set_option(context, "rsa_keygen_bits", "2048") == 1 &&
                   crypto.make_key(context, &key) == 1;
    crypto.free_key_context(context);
    if (!is_good) crypto.clear_errors();
    return is_good ? key : NULL;
}

size_t ccrypto_der(ccrypto_key key, uint8_t *der, size_t capacity) {
    int size = crypto.write_private_key(key, NULL);
    if (size <= 0) crypto.clear_errors();
    if (size <= 0 || (size_t)size > capacity) return 0;
    unsigned char *place = der;
    return (size_t)crypto.write_private_key(key, &place);
}

void ccrypto_free(ccrypto_key key) { crypto.free_key(key); }

bool ccrypto_verifies(
    ccrypto_key key, const uint8_t *signature, size_t signature_count, const uint8_t *message, size_t count) {
    void *context = crypto.new_context();
    if (!context) return false;
    bool is_good = crypto.begin_verifying(context, NULL, crypto.sha256(), NULL, key) == 1 &&
                   crypto.verify(context, signature, signature_count, message, count) == 1;
    crypto.free_context(context);
    if (!is_good) crypto.clear_errors();
    return is_good;
}

size_t ccrypto_sign(ccrypto_key key, const uint8_t *message, size_t count, uint8_t *signature, size_t capacity) {
    void *context = crypto.new_context();
    if (!context) return 0;
    size_t size = capacity;
    bool is_good = crypto.begin_signing(context, NULL, crypto.sha256(), NULL, key) == 1 &&
                   crypto.sign(context, signature, &size, message, count) == 1;
    crypto.free_context(context);
    if (!is_good) crypto.clear_errors();
    return is_good ? size : 0;
}

#endif
