#include "CSwitchyardChecksum.h"

#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>
#include <nmmintrin.h>

#define CRC32C_TARGET __attribute__((target("sse4.2")))
#define crc32c_word(state, word) ((uint32_t)_mm_crc32_u64((state), (word)))
#define crc32c_byte(state, byte) _mm_crc32_u8((state), (byte))

bool cchecksum_has_crc32c(void) {
    unsigned int eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_SSE4_2) != 0;
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

#define CRC32C_TARGET
#define crc32c_word(state, word) __crc32cd((state), (word))
#define crc32c_byte(state, byte) __crc32cb((state), (byte))

bool cchecksum_has_crc32c(void) { return true; }

#elif defined(__aarch64__) && defined(__linux__)

#include <arm_acle.h>
#include <sys/auxv.h>

#define CRC32C_TARGET __attribute__((target("crc")))
#define crc32c_word(state, word) __crc32cd((state), (word))
#define crc32c_byte(state, byte) __crc32cb((state), (byte))

/* HWCAP_CRC32 of the kernel's <asm/hwcap.h>. */
bool cchecksum_has_crc32c(void) { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }

#endif

#ifdef CRC32C_TARGET

CRC32C_TARGET uint32_t cchecksum_crc32c(uint32_t state, const void *bytes, size_t count) {
    const unsigned char *next = bytes;
    for (; count >= 8; next += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, next, sizeof word);
        state = crc32c_word(state, word);
    }
    for (; count > 0; next++, count--) state = crc32c_byte(state, *next);
    return state;
}

#else

bool cchecksum_has_crc32c(void) { return false; }

uint32_t cchecksum_crc32c(uint32_t state, const void *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return state;
}

#endif
