/// Percent-encoding according to RFC 3986.
package enum PercentCoding {
    /// The part of a URL for which a text is encoded.
    package enum Part: Sendable {
        /// Keeps only the unreserved characters, which is right everywhere.
        case strict
        /// One segment of a path; a `/` is encoded.
        case pathSegment
        /// A path of several segments; a `/` is kept.
        case path
        /// A name or value in a query of the form `a=b&c=d`.
        case queryItem
        /// A complete query.
        case query
        case fragment
    }

    /// Encodes everything that is not allowed in `part`, with upper-case hexadecimal digits.
    ///
    /// A `%` is encoded, too, so encoding twice changes the text.
    package static func encode(_ text: some StringProtocol, as part: Part = .strict) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count + 16)
        append(text.utf8, to: &output, as: part)
        return String(decoding: output, as: UTF8.self)
    }

    package static func append(_ bytes: some Sequence<UInt8>, to output: inout [UInt8], as part: Part) {
        let others = letters(of: part)
        for byte in bytes {
            if isUnreserved(byte) || others.contains(byte) {
                output.append(byte)
            } else {
                appendCoded(byte, to: &output)
            }
        }
    }

    /// The bytes of an encoded text; `nil` if a `%` is not followed by two hexadecimal digits.
    package static func decodeBytes(_ text: some StringProtocol) -> [UInt8]? {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                output.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(Hex.value(of:)),
                let low = rest.next().flatMap(Hex.value(of:))
            else {
                return nil
            }
            output.append(high << 4 | low)
        }
        return output
    }

    /// Like `decodeBytes`, but also `nil` if the bytes are not UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        decodeBytes(text).flatMap { String(validating: $0, as: UTF8.self) }
    }

    static func appendCoded(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "%"))
        output.append(Hex.digit(byte >> 4, uppercase: true))
        output.append(Hex.digit(byte & 15, uppercase: true))
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// The characters allowed in a part besides the unreserved ones.
    private static func letters(of part: Part) -> ASCIISet {
        switch part {
        case .strict: ASCIISet()
        case .pathSegment: segment
        case .path: path
        case .queryItem: queryItem
        case .query, .fragment: query
        }
    }

    private static let segment = ASCIISet("!$&'()*+,;=:@")
    private static let path = ASCIISet("!$&'()*+,;=:@/")
    private static let query = ASCIISet("!$&'()*+,;=:@/?")
    // Without the separators of items, and without `+`, which many servers read as a space.
    private static let queryItem = ASCIISet("!$'()*,:@/?")
}

/// A set of ASCII characters in two words.
struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ letters: StaticString = "") {
        for index in 0..<letters.utf8CodeUnitCount {
            let letter = letters.utf8Start[index]
            if letter < 64 { low |= 1 << letter } else if letter < 128 { high |= 1 << (letter - 64) }
        }
    }

    func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low & 1 << byte != 0
        case 64..<128: high & 1 << (byte - 64) != 0
        default: false
        }
    }
}

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

extension Collection<UInt8> {
    /// Whether it is a web page, which no service's API returns: it comes from a proxy, a network's sign-in page or a wrong
    /// address.
    package var isWebPage: Bool { first { $0 > 0x20 } == UInt8(ascii: "<") }
}
