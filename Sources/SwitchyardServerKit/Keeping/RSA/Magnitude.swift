/// A large natural number, as words with the lowest first. It has just the operations needed for keys and signatures.
struct Magnitude: Hashable, Sendable {
    var words: [UInt64]

    init(words: [UInt64]) { self.words = words }
    init(_ word: UInt64) { words = [word] }

    /// From bytes with the highest first.
    init(bytes: some BidirectionalCollection<UInt8>) {
        words = []
        var (word, shift): (UInt64, UInt64) = (0, 0)
        for byte in bytes.reversed() {
            word |= UInt64(byte) << shift
            shift += 8
            if shift == 64 {
                words.append(word)
                (word, shift) = (0, 0)
            }
        }
        if shift > 0 || words.isEmpty { words.append(word) }
    }

    /// `count` bytes with the highest first.
    func bytes(_ count: Int) -> [UInt8] {
        (0..<count).reversed().map { index in
            index / 8 < words.count ? UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(index % 8 * 8)) : 0
        }
    }

    var bitCount: Int {
        guard let last = words.lastIndex(where: { $0 != 0 }) else { return 0 }
        return last * 64 + 64 - words[last].leadingZeroBitCount
    }

    func bit(_ index: Int) -> Bool { words[index / 64] >> UInt64(index % 64) & 1 == 1 }

    /// The same value with this many words.
    func padded(_ count: Int) -> Magnitude {
        Magnitude(words: (0..<count).map { $0 < words.count ? words[$0] : 0 })
    }

    static func < (left: Magnitude, right: Magnitude) -> Bool {
        for index in (0..<max(left.words.count, right.words.count)).reversed() {
            let (a, b) = (left.word(index), right.word(index))
            if a != b { return a < b }
        }
        return false
    }

    private func word(_ index: Int) -> UInt64 { index < words.count ? words[index] : 0 }

    /// - Returns: Whether there was a carry.
    @discardableResult
    mutating func add(_ other: Magnitude) -> Bool {
        var carry: UInt64 = 0
        for index in words.indices {
            let (first, overflows) = words[index].addingReportingOverflow(other.word(index))
            let (second, overflowsAgain) = first.addingReportingOverflow(carry)
            words[index] = second
            carry = (overflows ? 1 : 0) + (overflowsAgain ? 1 : 0)
        }
        return carry > 0
    }

    mutating func subtract(_ other: Magnitude) {
        var borrow: UInt64 = 0
        for index in words.indices {
            let (first, overflows) = words[index].subtractingReportingOverflow(other.word(index))
            let (second, overflowsAgain) = first.subtractingReportingOverflow(borrow)
            words[index] = second
            borrow = (overflows ? 1 : 0) + (overflowsAgain ? 1 : 0)
        }
    }

    func multiplied(by other: Magnitude) -> Magnitude {
        var product = [UInt64](repeating: 0, count: words.count + other.words.count)
        for left in words.indices {
            var carry: UInt64 = 0
            for right in other.words.indices {
                var (high, low) = words[left].multipliedFullWidth(by: other.words[right])
                var overflows = false
                (low, overflows) = low.addingReportingOverflow(product[left + right])
                if overflows { high += 1 }
                (low, overflows) = low.addingReportingOverflow(carry)
                if overflows { high += 1 }
                product[left + right] = low
                carry = high
            }
            product[left + other.words.count] = carry
        }
        return Magnitude(words: product)
    }

    /// Divides by a small number, with remainder.
    func divided(by divisor: UInt64) -> (quotient: Magnitude, rest: UInt64) {
        var (quotient, rest) = (words, UInt64(0))
        for index in words.indices.reversed() {
            (quotient[index], rest) = divisor.dividingFullWidth((rest, words[index]))
        }
        return (Magnitude(words: quotient), rest)
    }
}
