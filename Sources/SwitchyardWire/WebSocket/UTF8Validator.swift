/// Validates UTF-8 in pieces of any size, and refuses at the first invalid byte.
///
/// Overlong forms, surrogates and values above U+10FFFF are refused at their second byte, since no continuation can make them
/// valid.
package struct UTF8Validator: Sendable {
    /// The number of continuation bytes missing in the current character.
    private var due = 0
    /// The bounds of the next continuation byte; narrower than 80...BF only right after some lead bytes.
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF

    package init() {}

    /// Whether the bytes so far end between two characters.
    package var isComplete: Bool { due == 0 }

    /// Takes the next bytes; returns `false` if the text is invalid.
    package mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            if due == 0 {
                // ASCII, sixteen bytes at a time.
                while index + 16 <= count {
                    let words =
                        bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                        | bytes.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self)
                    if words & 0x8080_8080_8080_8080 != 0 { break }
                    index += 16
                }
                if index == count { break }
                let byte = bytes[index]
                index += 1
                if byte < 0x80 { continue }
                guard begin(byte) else { return false }
            } else {
                let byte = bytes[index]
                index += 1
                guard byte >= low, byte <= high else { return false }
                due -= 1
                low = 0x80
                high = 0xBF
            }
        }
        return true
    }

    private mutating func begin(_ lead: UInt8) -> Bool {
        switch lead {
        case 0xC2...0xDF: due = 1
        case 0xE0...0xEF:
            due = 2
            if lead == 0xE0 { low = 0xA0 }
            if lead == 0xED { high = 0x9F }
        case 0xF0...0xF4:
            due = 3
            if lead == 0xF0 { low = 0x90 }
            if lead == 0xF4 { high = 0x8F }
        default: return false
        }
        return true
    }
}
