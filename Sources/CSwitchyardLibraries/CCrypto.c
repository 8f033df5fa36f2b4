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
