/// `application/x-www-form-urlencoded`, as in form bodies and query strings.
package enum FormCoding {
    /// The encoding of a space.
    package enum Space: Sendable {
        /// `+`, as HTML forms do.
        case plus
        /// `%20`, which every server reads the same way.
        case percent
    }

    package static func encode(
        _ pairs: some Sequence<(name: String, value: String)>, space: Space = .plus
    ) -> String {
        var output: [UInt8] = []
        for (index, pair) in pairs.enumerated() {
            if index > 0 { output.append(UInt8(ascii: "&")) }
            append(pair.name, to: &output, space)
            output.append(UInt8(ascii: "="))
            append(pair.value, to: &output, space)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The pairs in order. A name without `=` has an empty value, and empty pairs are omitted.
    ///
    /// - Returns: `nil` if a `%` is not followed by two hexadecimal digits or the text is not UTF-8.
    package static func decode(_ text: some StringProtocol) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for item in text.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = item.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decodeItem(halves[0]),
                let value = halves.count > 1 ? decodeItem(halves[1]) : ""
            else {
                return nil
            }
            pairs.append((name, value))
        }
        return pairs
    }

    private static func append(_ text: String, to output: inout [UInt8], _ space: Space) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: " ") where space == .plus: output.append(UInt8(ascii: "+"))
            // Form encoding escapes the tilde, unlike RFC 3986; both can read either.
            case _ where PercentCoding.isUnreserved(byte): output.append(byte)
            default: PercentCoding.appendCoded(byte, to: &output)
            }
        }
    }

    private static func decodeItem(_ bytes: some Sequence<UInt8>) -> String? {
        let spaced = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentCoding.decode(String(decoding: spaced, as: UTF8.self))
    }
}
