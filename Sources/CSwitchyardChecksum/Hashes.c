#include "CSwitchyardChecksum.h"

/*
 * The compressions of MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4). They are in C because it is three to four times as fast
 * as Swift in a debug build, and one and a half to three times in a release build.
 */

static inline uint32_t rotated_left(uint32_t word, unsigned bits) { return word << bits | word >> (32 - bits); }
static inline uint32_t rotated_right(uint32_t word, unsigned bits) { return word >> bits | word << (32 - bits); }

static inline uint32_t little_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}
static inline uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[0] << 24;
}

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

void cchecksum_md5(uint32_t *state, const uint8_t *blocks, size_t count) {
    static const unsigned turns[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
    for (; count > 0; count--, blocks += 64) {
        uint32_t block[16];
        for (int index = 0; index < 16; index++) block[index] = little_endian(blocks + 4 * index);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
#pragma clang loop unroll(full)
        for (int step = 0; step < 64; step++) {
            uint32_t mixed;
            int index;
            switch (step / 16) {
            case 0: mixed = (b & c) | (~b & d); index = step; break;
            case 1: mixed = (d & b) | (~d & c); index = (5 * step + 1) % 16; break;
            case 2: mixed = b ^ c ^ d; index = (3 * step + 5) % 16; break;
            default: mixed = c ^ (b | ~d); index = 7 * step % 16; break;
            }
            uint32_t sum = a + mixed + sines[step] + block[index];
            a = d;
            d = c;
            c = b;
            b += rotated_left(sum, turns[step / 16 * 4 + step % 4]);
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
    }
}

void cchecksum_sha1(uint32_t *state, const uint8_t *blocks, size_t count) {
    for (; count > 0; count--, blocks += 64) {
        uint32_t schedule[80];
        for (int index = 0; index < 16; index++) schedule[index] = big_endian(blocks + 4 * index);
        for (int index = 16; index < 80; index++) {
            schedule[index] = rotated_left(
                schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16], 1);
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
#pragma clang loop unroll(full)
        for (int step = 0; step < 80; step++) {
            uint32_t mixed, constant;
            switch (step / 20) {
            case 0: mixed = (b & c) | (~b & d); constant = 0x5a827999; break;
            case 1: mixed = b ^ c ^ d; constant = 0x6ed9eba1; break;
            case 2: mixed = (b & c) | (b & d) | (c & d); constant = 0x8f1bbcdc; break;
            default: mixed = b ^ c ^ d; constant = 0xca62c1d6; break;
            }
            uint32_t sum = rotated_left(a, 5) + mixed + e + constant + schedule[step];
            e = d;
            d = c;
            c = rotated_left(b, 30);
            b = a;
            a = sum;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
    }
}

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t roots[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

void cchecksum_sha256(uint32_t *state, const uint8_t *blocks, size_t count) {
    for (; count > 0; count--, blocks += 64) {
        uint32_t schedule[64];
        for (int index = 0; index < 16; index++) schedule[index] = big_endian(blocks + 4 * index);
        for (int index = 16; index < 64; index++) {
            uint32_t early = schedule[index - 15], late = schedule[index - 2];
            uint32_t s0 = rotated_right(early, 7) ^ rotated_right(early, 18) ^ early >> 3;
            uint32_t s1 = rotated_right(late, 17) ^ rotated_right(late, 19) ^ late >> 10;
            schedule[index] = schedule[index - 16] + s0 + schedule[index - 7] + s1;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
#pragma clang loop unroll(full)
        for (int step = 0; step < 64; step++) {
            uint32_t s1 = rotated_right(e, 6) ^ rotated_right(e, 11) ^ rotated_right(e, 25);
            uint32_t sum1 = h + s1 + ((e & f) ^ (~e & g)) + roots[step] + schedule[step];
            uint32_t s0 = rotated_right(a, 2) ^ rotated_right(a, 13) ^ rotated_right(a, 22);
            uint32_t sum2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + sum1;
            d = c;
            c = b;
            b = a;
            a = sum1 + sum2;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}
