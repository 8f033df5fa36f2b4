import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// Random frames, cut, mutated and mixed, with seeds that repeat exactly. Whatever comes in, the machine gives valid
/// messages or one typed failure, the same for every way of cutting the bytes, and takes nothing afterwards.
@Suite struct `The decoder under random bytes` {
    private static let limits = WebSocketLimits(frameSize: 4096, messageSize: 8192)

    private struct Outcome: Equatable {
        var events: [WebSocketDecoder.Event] = []
        var violation: WebSocketViolation?
    }

    private func decode(_ bytes: [UInt8], role: WebSocketRole, cuts: [Int] = []) -> Outcome {
        var decoder = WebSocketDecoder(role: role, limits: Self.limits)
        var outcome = Outcome()
        var start = 0
        for end in cuts + [bytes.count] where outcome.violation == nil {
            do throws(WebSocketViolation) {
                try bytes[start..<end].withUnsafeBufferPointer { piece throws(WebSocketViolation) in
                    try decoder.decode(UnsafeRawBufferPointer(piece), into: &outcome.events)
                }
            } catch {
                outcome.violation = error
            }
            start = end
        }
        return outcome
    }

    /// A stream of frames that are mostly right.
    private func stream(_ random: inout SeededGenerator, masked: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        var isInside = false
        for _ in 0..<random.below(12) {
            let control = random.below(4) == 0
            let isFinal = control || random.below(3) > 0
            let opcode: UInt8 =
                control ? [8, 9, 10, 9, 10][random.below(5)] : isInside ? 0 : UInt8(1 + random.below(2))
            if !control { isInside = !isFinal }
            var payload = random.payload(limit: control ? 125 : 300, isText: opcode < 2)
            if opcode == 8, !payload.isEmpty {
                let code = UInt16([1000, 1001, 3000, 4999, 1005, 2999][random.below(6)])
                payload = [UInt8(code >> 8), UInt8(code & 0xFF)] + payload.prefix(100)
            }
            var made = frame(opcode, payload, final: isFinal)
            if masked {
                // The key goes between the header and the payload.
                let header = made.count - payload.count
                let key = WebSocketMask(UInt32(truncatingIfNeeded: random.next()))
                payload.withUnsafeMutableBytes { key.apply(to: $0) }
                let keyBytes = (0..<4).map { UInt8(truncatingIfNeeded: key.value >> (8 * UInt32($0))) }
                made = Array(made[..<header]) + keyBytes + payload
                made[1] |= 0x80
            }
            bytes += made
        }
        return bytes
    }

    private func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<(1 + random.below(3)) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            switch random.below(5) {
            case 0: bytes[place] ^= 1 << UInt8(random.below(8))
            case 1: bytes[place] = UInt8(random.below(256))
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(UInt8(random.below(256)), at: place)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }

    private func isValid(_ outcome: Outcome) -> Bool {
        outcome.events.allSatisfy { event in
            switch event {
            case .message(.text(let text)): text.utf8.count <= Self.limits.messageSize
            case .message(.binary(let bytes)): bytes.count <= Self.limits.messageSize
            case .ping(let payload), .pong(let payload): payload.count <= 125
            case .close(let close): close.mayBeSent || close == .noCode
            }
        }
    }

    @Test(arguments: [WebSocketRole.client, .server])
    func `Every cut of a stream gives the same events`(role: WebSocketRole) {
        for seed in 0..<150 {
            var random = SeededGenerator(seed: UInt64(seed))
            let bytes = stream(&random, masked: role == .server)
            let whole = decode(bytes, role: role)
            #expect(isValid(whole), "seed \(seed)")
            for cut in bytes.indices where bytes.count < 400 || cut % 7 == 0 {
                #expect(decode(bytes, role: role, cuts: [cut]) == whole, "seed \(seed), cut at \(cut)")
            }
            #expect(decode(bytes, role: role, cuts: Array(bytes.indices)) == whole, "seed \(seed), octets")
        }
    }

    @Test(arguments: [WebSocketRole.client, .server])
    func `Mutated streams end in valid messages or a typed failure, however they are cut`(role: WebSocketRole) {
        var failures: Set<WebSocketViolation> = []
        for seed in 0..<RandomRun.rounds(6000) {
            var random = SeededGenerator(seed: UInt64(seed) &+ 1 << 32)
            let bytes = mutate(stream(&random, masked: role == .server), &random)
            let whole = decode(bytes, role: role)
            #expect(isValid(whole), "seed \(seed)")
            if let violation = whole.violation { failures.insert(violation) }
            let cuts = (0..<random.below(6)).map { _ in random.below(bytes.count + 1) }.sorted()
            let cut = decode(bytes, role: role, cuts: cuts)
            #expect(cut.violation == whole.violation, "seed \(seed)")
            #expect(cut.events == whole.events, "seed \(seed)")
        }
        #expect(failures.count > 8)  // The mutations reach most of the checks.
    }

    @Test func `Pure noise is survived`() {
        for seed in 0..<RandomRun.rounds(6000) {
            var random = SeededGenerator(seed: UInt64(seed) &+ 2 << 32)
            let bytes = (0..<random.below(200)).map { _ in UInt8(random.below(256)) }
            for role in [WebSocketRole.client, .server] { #expect(isValid(decode(bytes, role: role)), "seed \(seed)") }
        }
    }

    @Test func `A machine that has failed takes nothing more`() {
        for seed in 0..<500 {
            var random = SeededGenerator(seed: UInt64(seed) &+ 3_000_000)
            let client = MachineHolder(.client, limits: Self.limits)
            let events = client.feed(mutate(stream(&random, masked: false), &random))
            guard case .failed(.violation(let violation)) = events.last else { continue }
            #expect(ReplyReader().read(client.take()).last == .close(violation.close), "seed \(seed)")
            #expect(client.feed(frame(1, "more")).isEmpty)
            #expect(client.take().isEmpty && client.isDone && !client.send(.text("late")))
        }
    }

    @Test func `UTF-8 is judged as the standard library judges it, in any pieces`() {
        for seed in 0..<20_000 {
            var random = SeededGenerator(seed: UInt64(seed) &+ 4_000_000)
            var bytes = random.payload(limit: 40, isText: true)
            if random.below(2) == 0, !bytes.isEmpty { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            var validator = UTF8Validator()
            let cut = random.below(bytes.count + 1)
            let isValid = [bytes[..<cut], bytes[cut...]].allSatisfy { piece in
                piece.withUnsafeBytes { validator.accept($0) }
            }
            #expect(
                (isValid && validator.isComplete) == (String(validating: bytes, as: UTF8.self) != nil), "seed \(seed)")
        }
    }

    @Test func `Masking undoes itself at every length and offset`() {
        for length in 0..<70 {
            for offset in 0..<8 {
                let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) }
                let mask = WebSocketMask(0xA1B2_C3D4)
                var masked = bytes
                masked.withUnsafeMutableBytes { mask.apply(to: $0, offset: offset) }
                let expected = bytes.indices.map { index in
                    bytes[index] ^ UInt8(truncatingIfNeeded: mask.value >> (8 * UInt32((index + offset) % 4)))
                }
                #expect(masked == expected)
            }
        }
    }
}
