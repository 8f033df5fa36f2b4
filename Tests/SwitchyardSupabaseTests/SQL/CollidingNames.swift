/// Names for which PostgreSQL computes the same hash, so that a set of them takes time with the square of its size.
enum CollidingNames {
    /// Twelve pairs of blocks at each of four places lead from one state of the hash to the next.
    static func make(_ count: Int) -> [String] {
        let (stages, choices) = (4, 12)
        var state = State(length: stages * 24)
        var blocks: [[[UInt8]]] = []
        var random = SeededLetters()
        for _ in 0..<stages {
            var found: [[UInt8]] = []
            var target: State?
            while found.count < choices {
                let first = random.block()
                let middle = state.adding(first).mixed
                guard let target else {
                    let second = [UInt8](repeating: 109, count: 12)
                    target = middle.adding(second)
                    found.append(first + second)
                    continue
                }
                let second = target.subtracting(middle)
                if second.allSatisfy({ (1..<128).contains($0) }) { found.append(first + second) }
            }
            state = target?.mixed ?? state
            blocks.append(found)
        }
        return (0..<count).map { number in
            var rest = number
            var name: [UInt8] = []
            for stage in blocks {
                name += stage[rest % choices]
                rest /= choices
            }
            return String(decoding: name, as: UTF8.self)
        }
    }

    private struct SeededLetters {
        var state: UInt64 = 1

        mutating func block() -> [UInt8] {
            (0..<12).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return 97 + UInt8((state >> 33) % 26)
            }
        }
    }

    /// The state of the hash that PostgreSQL uses for text, between blocks of twelve bytes.
    private struct State {
        var a, b, c: UInt32

        init(length: Int) {
            a = 0x9e37_79b9 &+ UInt32(length) &+ 3_923_095
            (b, c) = (a, a)
        }

        func adding(_ block: [UInt8]) -> State {
            var next = self
            let words = (0..<3).map { word in
                (0..<4).reduce(UInt32(0)) { $0 | UInt32(block[word * 4 + $1]) << UInt32($1 * 8) }
            }
            next.a &+= words[0]
            next.b &+= words[1]
            next.c &+= words[2]
            return next
        }

        func subtracting(_ other: State) -> [UInt8] {
            [a &- other.a, b &- other.b, c &- other.c].flatMap { word in
                (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
            }
        }

        var mixed: State {
            func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
            var next = self
            next.a = (next.a &- next.c) ^ rotated(next.c, 4)
            next.c &+= next.b
            next.b = (next.b &- next.a) ^ rotated(next.a, 6)
            next.a &+= next.c
            next.c = (next.c &- next.b) ^ rotated(next.b, 8)
            next.b &+= next.a
            next.a = (next.a &- next.c) ^ rotated(next.c, 16)
            next.c &+= next.b
            next.b = (next.b &- next.a) ^ rotated(next.a, 19)
            next.a &+= next.c
            next.c = (next.c &- next.b) ^ rotated(next.b, 4)
            next.b &+= next.a
            return next
        }
    }
}
