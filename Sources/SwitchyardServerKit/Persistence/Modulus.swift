/// Modular arithmetic with an odd modulus, using Montgomery multiplication, which needs no division.
struct Modulus: Sendable {
    let value: Magnitude
    private let count: Int
    /// The negated inverse of the lowest word.
    private let inverse: UInt64
    /// The square of the Montgomery factor.
    private let square: Magnitude

    /// - Parameter value: Odd, with a highest word other than zero.
    init(_ value: Magnitude) {
        self.value = value
        count = value.words.count
        var inverse: UInt64 = 1
        for _ in 0..<6 { inverse = inverse &* (2 &- value.words[0] &* inverse) }
        self.inverse = 0 &- inverse
        var square = Magnitude(1).padded(count)
        for _ in 0..<(128 * count) {
            let overflows = square.add(square)
            if overflows || !(square < value) { square.subtract(value) }
        }
        self.square = square
    }

    /// The remainder of a number of at most twice as many words.
    func rest(of number: Magnitude) -> Magnitude {
        let wide = number.padded(2 * count)
        var high = Magnitude(words: Array(wide.words[count...]))
        var low = Magnitude(words: Array(wide.words[..<count]))
        while !(high < value) { high.subtract(value) }
        while !(low < value) { low.subtract(value) }
        return sum(product(high, square), low)
    }

    func sum(_ left: Magnitude, _ right: Magnitude) -> Magnitude {
        var sum = left
        let overflows = sum.add(right)
        if overflows || !(sum < value) { sum.subtract(value) }
        return sum
    }

    func difference(_ left: Magnitude, _ right: Magnitude) -> Magnitude {
        var difference = left
        if left < right { difference.add(value) }
        difference.subtract(right)
        return difference
    }

    func power(_ base: Magnitude, _ exponent: Magnitude) -> Magnitude {
        let base = product(base.padded(count), square)
        var result = product(Magnitude(1).padded(count), square)
        for index in (0..<exponent.bitCount).reversed() {
            result = product(result, result)
            if exponent.bit(index) { result = product(result, base) }
        }
        return product(result, Magnitude(1).padded(count))
    }

    /// Multiplies two remainders.
    func multiply(_ left: Magnitude, _ right: Magnitude) -> Magnitude { product(product(left, square), right) }

    /// The product of two remainders divided by the word size to the power of `count`.
    private func product(_ left: Magnitude, _ right: Magnitude) -> Magnitude {
        let (count, inverse) = (count, inverse)
        let words = [UInt64](unsafeUninitializedCapacity: count + 2) { buffer, initialized in
            buffer.initialize(repeating: 0)
            guard let sum = buffer.baseAddress else { return }
            left.words.withUnsafeBufferPointer { left in
                right.words.withUnsafeBufferPointer { right in
                    value.words.withUnsafeBufferPointer { value in
                        guard let left = left.baseAddress, let right = right.baseAddress,
                            let value = value.baseAddress
                        else { return }
                        for index in 0..<count {
                            Self.addProduct(left[index], right, count, to: sum)
                            Self.addProduct(sum[0] &* inverse, value, count, to: sum)
                            for place in 0...count { sum[place] = sum[place + 1] }
                            sum[count + 1] = 0
                        }
                    }
                }
            }
            initialized = count + 2
        }
        var result = Magnitude(words: Array(words[..<count]))
        if words[count] > 0 || !(result < value) { result.subtract(value) }
        return result
    }

    /// Adds a number multiplied by a word.
    private static func addProduct(
        _ factor: UInt64, _ number: UnsafePointer<UInt64>, _ count: Int, to sum: UnsafeMutablePointer<UInt64>
    ) {
        var carry: UInt64 = 0
        for place in 0..<count {
            let (high, low) = factor.multipliedFullWidth(by: number[place])
            let (first, overflows) = low.addingReportingOverflow(sum[place])
            let (second, overflowsAgain) = first.addingReportingOverflow(carry)
            sum[place] = second
            carry = high &+ (overflows ? 1 : 0) &+ (overflowsAgain ? 1 : 0)
        }
        let (top, overflows) = sum[count].addingReportingOverflow(carry)
        sum[count] = top
        sum[count + 1] &+= overflows ? 1 : 0
    }
}

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
