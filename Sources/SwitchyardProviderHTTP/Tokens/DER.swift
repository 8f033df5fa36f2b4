/// The parts of ASN.1's distinguished encoding that keys and certificates need.
enum DER {
    enum Tag: UInt8 {
        case integer = 0x02
        case bits = 0x03
        case octets = 0x04
        case null = 0x05
        case object = 0x06
        case sequence = 0x30
        /// The version, at the beginning of a certificate's content.
        case version = 0xA0
        /// The public key within a private EC key.
        case publicHalf = 0xA1
    }

    static func encode(_ tag: Tag, _ contents: [UInt8]...) -> [UInt8] {
        let contents = contents.flatMap { $0 }
        return [tag.rawValue] + length(contents.count) + contents
    }

    /// A positive number.
    static func integer(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        guard let first = digits.first else { return encode(.integer, [0]) }
        return encode(.integer, first >= 0x80 ? [0] : [], digits)
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        var rest = count
        var bytes: [UInt8] = []
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    /// The elements in `bytes`, each with its tag, its contents and as a whole; `nil` if the bytes are not a sequence of
    /// elements.
    static func elements(_ bytes: ArraySlice<UInt8>) -> [(
        tag: UInt8, contents: ArraySlice<UInt8>, whole: ArraySlice<UInt8>
    )]? {
        var found: [(tag: UInt8, contents: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)] = []
        var rest = bytes
        while let tag = rest.first {
            var place = rest.startIndex + 1
            guard place < rest.endIndex else { return nil }
            var count = Int(rest[place])
            place += 1
            if count >= 0x80 {
                let digits = count & 0x7F
                guard (1...4).contains(digits), rest.endIndex - place >= digits else { return nil }
                count = rest[place..<(place + digits)].reduce(0) { $0 << 8 | Int($1) }
                place += digits
            }
            guard rest.endIndex - place >= count else { return nil }
            found.append((tag, rest[place..<(place + count)], rest[rest.startIndex..<(place + count)]))
            rest = rest[(place + count)...]
        }
        return found
    }

    /// The public key of a certificate. The certificate's signature is not verified, since it comes from the published keys.
    static func publicKey(ofCertificate der: [UInt8]) -> [UInt8]? {
        guard let outer = elements(der[...]), outer.count == 1, outer[0].tag == Tag.sequence.rawValue,
            let parts = elements(outer[0].contents), let inside = parts.first, let fields = elements(inside.contents)
        else { return nil }
        // The version is optional. Number, algorithm, issuer, validity, subject and key follow.
        let place = fields.first?.tag == Tag.version.rawValue ? 6 : 5
        guard fields.count > place, fields[place].tag == Tag.sequence.rawValue else { return nil }
        return Array(fields[place].whole)
    }
}
