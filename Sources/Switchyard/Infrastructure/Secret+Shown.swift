extension Secret {
    /// A setting as an error may show it: in quotes, or only its length if it might be a secret that was put into the wrong
    /// setting, which is where errors are about settings most often.
    package static func shown(_ setting: String) -> String {
        mayBeShown(setting) ? "“\(setting)”" : "a text of \(setting.utf8.count) bytes that is not shown"
    }

    /// Whether a text is short, on one line, and does not look like a key, a token or an address with a password.
    package static func mayBeShown(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= longest, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return false }
        guard !bytes.contains(where: { "{}\"'`".utf8.contains($0) }) else { return false }
        guard !beginnings.contains(where: { bytes.starts(with: $0.utf8) }) else { return false }
        // user:password@host
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")), bytes[..<at].contains(UInt8(ascii: ":")) { return false }
        return !bytes.split(whereSeparator: { !isCodeByte($0) }).contains(where: isCode)
    }

    private static let longest = 160
    private static let beginnings = ["eyJ", "sb_secret_", "GOCSPX-", "ya29.", "-----BEGIN"]

    /// Bytes of hexadecimal digits and of both alphabets of Base64, without the slash, which is in paths.
    private static func isCodeByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "+=_-".utf8.contains(byte)
    }

    /// Whether it is as long as a key, with digits among letters as in encoded bytes.
    private static func isCode(_ run: ArraySlice<UInt8>) -> Bool {
        run.count >= 24 && run.count(where: isDigit) >= 3 && run.count(where: isLetter) >= 3
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
