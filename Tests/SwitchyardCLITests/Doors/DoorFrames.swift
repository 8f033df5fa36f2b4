import SwitchyardBytes
import SwitchyardTestSupport

/// What clients of the realtime service say on a web socket, and what of it may be wrong.
enum DoorFrames {
    /// A message as text, in one of the two formats.
    static let messages = [
        #"{"topic":"phoenix","event":"heartbeat","payload":{},"ref":"1"}"#,
        #"{"topic":"realtime:r1","event":"phx_join","payload":{"config":{"broadcast":{"ack":true,"self":true,"replication_ready":true},"presence":{"key":"k1","enabled":true},"private":false,"postgres_changes":[{"event":"*","schema":"public","table":"door","filter":"id=in.(1,2,3)"},{"event":"INSERT","schema":"public","table":"door","filter":"n=gte.1.5"}]}},"ref":"1","join_ref":"1"}"#,
        #"{"topic":"realtime:p1","event":"phx_join","payload":{"access_token":"{service}","config":{"broadcast":{"replay":{"since":1700000000000,"limit":10}},"private":true}},"ref":"2","join_ref":"2"}"#,
        #"{"topic":"realtime:r1","event":"broadcast","payload":{"type":"broadcast","event":"e1","payload":{"n":1}},"ref":"3","join_ref":"1"}"#,
        #"{"topic":"realtime:r1","event":"presence","payload":{"type":"presence","event":"track","payload":{"n":1}},"ref":"4","join_ref":"1"}"#,
        #"{"topic":"realtime:r1","event":"presence","payload":{"type":"presence","event":"untrack"},"ref":"5","join_ref":"1"}"#,
        #"{"topic":"realtime:r1","event":"access_token","payload":{"access_token":"{access}"},"ref":"6","join_ref":"1"}"#,
        #"{"topic":"realtime:r1","event":"phx_leave","payload":{},"ref":"7","join_ref":"1"}"#,
        #"["1","1","realtime:r1","phx_join",{"config":{"broadcast":{"self":true},"presence":{"enabled":true}}}]"#,
        #"["1","2","realtime:r1","broadcast",{"type":"broadcast","event":"e1","payload":{"n":1}}]"#,
        #"[null,"3","phoenix","heartbeat",{}]"#,
    ]

    /// One frame, or what looks like one, or nothing of the kind.
    static func frame(_ values: [String: String], _ random: inout SeededGenerator) -> [UInt8] {
        var text = random.pick(messages)
        for (name, value) in values where text.contains("{" + name + "}") {
            text = text.split(separator: "{" + name + "}", omittingEmptySubsequences: false).joined(separator: value)
        }
        var message = DoorRequest(text: "X /\n\n" + text)
        if random.chance(80) {
            let change = random.pick([DoorMutation.Change.number, .numbers, .value, .member, .bytes, .deep, .repeated])
            message = DoorMutation.change(message, by: change, &random)
        }
        let body = Array(message.text.utf8.drop { $0 != UInt8(ascii: "\n") }.dropFirst(2))
        switch random.int(0..<20) {
        case 0..<11: return encoded(body, opcode: 1, &random)
        case 11: return encoded(push(&random), opcode: 2, &random)
        case 12: return encoded(Damage.apply(to: push(&random), &random), opcode: 2, &random)
        case 13: return encoded(body, opcode: UInt8.random(in: 0...15, using: &random), &random)
        case 14: return Damage.apply(to: encoded(body, opcode: 1, &random), &random)
        case 15: return lengths(&random)
        case 16: return encoded(Array(body.prefix(200)), opcode: random.pick([8, 9, 10]), &random)
        case 17:
            return encoded(body, opcode: 1, isFinal: false, &random)
                + encoded(body, opcode: random.pick([0, 1]), &random)
        case 18: return [0x81, UInt8(min(body.count, 125))] + body.prefix(125)  // without a mask
        default: return (0..<random.int(1..<60)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        }
    }

    /// A frame that says that more will come than ever does.
    private static func lengths(_ random: inout SeededGenerator) -> [UInt8] {
        let length: UInt64 = random.pick([.max, 1 << 63, UInt64(Int64.max), 1 << 32, 5_000_001, 65_536, 126, 0])
        return [random.pick([0x81, 0x82, 0x89, 0x01, 0x00]), 0xFF] + withUnsafeBytes(of: length.bigEndian) { Array($0) }
            + [1, 2, 3, 4]
            + Array("abc".utf8)
    }

    /// A broadcast in the service's own binary format, with sizes that may not fit.
    private static func push(_ random: inout SeededGenerator) -> [UInt8] {
        let fields = ["1", "8", "realtime:r1", "e1", random.chance(50) ? "" : #"{"n":1}"#].map { Array($0.utf8) }
        let sizes = fields.map { random.chance(80) ? UInt8($0.count) : UInt8.random(in: .min ... .max, using: &random) }
        return [random.pick([3, 3, 3, 0, 4, 255])] + sizes + [random.pick([0, 1, 2])] + fields.joined()
            + Array(#"{"n":1}"#.utf8)
    }

    private static func encoded(
        _ body: [UInt8], opcode: UInt8, isFinal: Bool = true, _ random: inout SeededGenerator
    ) -> [UInt8] {
        var frame: [UInt8] = [(isFinal ? 0x80 : 0) | opcode | (random.chance(3) ? 0x40 : 0)]
        switch body.count {
        case ..<126: frame.append(0x80 | UInt8(body.count))
        case ..<65_536: frame += [0x80 | 126, UInt8(body.count >> 8), UInt8(body.count & 0xFF)]
        default:
            frame.append(0x80 | 127)
            frame += withUnsafeBytes(of: UInt64(body.count).bigEndian) { Array($0) }
        }
        let mask = (0..<4).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return frame + mask + body.enumerated().map { $1 ^ mask[$0 % 4] }
    }
}
