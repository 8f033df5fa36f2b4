/// The codes of authenticator apps (RFC 6238): six digits, with a new code every thirty seconds.
package enum OneTimeCode {
    package static let period: Int64 = 30

    package static func step(at seconds: Int64) -> Int64 { max(0, seconds) / period }

    /// The time step of a code; the clocks of user and server may differ by one step.
    package static func step(of code: String, key: [UInt8], at seconds: Int64) -> Int64? {
        let now = step(at: seconds)
        return (now - 1...now + 1).first { OneTimeCode.code(key: key, step: $0) == code }
    }

    package static func code(key: [UInt8], step: Int64) -> String {
        let message = (0..<8).reversed().map { UInt8(truncatingIfNeeded: step >> ($0 * 8)) }
        let digest = HMACSHA1.code(for: message, key: key)
        let offset = Int(digest[19] & 15)
        let word = digest[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(word % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }
}
