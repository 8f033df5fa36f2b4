/// How dates stand in a text.
package enum JSONDateCoding: Hashable, Sendable {
    /// `2026-01-31T12:00:00.123456Z`: read to the nanosecond, written to the microsecond, all that a `Date` holds.
    case rfc3339
    /// Seconds since 1970.
    case seconds
    /// Milliseconds since 1970.
    case milliseconds
}

/// How the names of properties become keys.
package enum JSONKeyCoding: Hashable, Sendable {
    case asWritten
    /// `imageURL` and `image_url` are the same, both ways. The keys of dictionaries stay as they are.
    case snakeCase
}

/// Dictionaries, whose keys are content and no names.
protocol StringKeyed {}
extension Dictionary: StringKeyed where Key == String {}

enum SnakeCase {
    /// A word begins with a capital after a small letter or digit, and with the last of several capitals before a small one.
    static func snake(_ name: String) -> String {
        let letters = Array(name.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(letters.count + 4)
        for (index, letter) in letters.enumerated() {
            guard isCapital(letter) else {
                output.append(letter)
                continue
            }
            let isAfterWord = index > 0 && !isCapital(letters[index - 1]) && letters[index - 1] != UInt8(ascii: "_")
            let isBeforeSmall = index + 1 < letters.count && isSmall(letters[index + 1])
            let isAfterCapital = index > 0 && isCapital(letters[index - 1])
            if isAfterWord || isAfterCapital && isBeforeSmall { output.append(UInt8(ascii: "_")) }
            output.append(letter | 0x20)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// `image_url` gives `imageUrl`; underscores at either end stay.
    static func camel(_ key: String) -> String {
        let letters = Array(key.utf8)
        let mark = UInt8(ascii: "_")
        let head = letters.prefix { $0 == mark }
        let tail = letters.dropFirst(head.count).reversed().prefix { $0 == mark }
        var output = Array(head)
        var isNewWord = false
        for letter in letters.dropFirst(head.count).dropLast(tail.count) {
            if letter == mark {
                isNewWord = true
            } else {
                output.append(isNewWord && isSmall(letter) ? letter & ~0x20 : letter)
                isNewWord = false
            }
        }
        return String(decoding: output + tail, as: UTF8.self)
    }

    private static func isCapital(_ letter: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) }
    private static func isSmall(_ letter: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) }
}
