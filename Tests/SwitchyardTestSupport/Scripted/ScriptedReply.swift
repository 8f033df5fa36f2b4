package import SwitchyardBytes
package import SwitchyardWire

/// What a scripted server does about one request: steps, in order.
package struct ScriptedReply: Sendable {
    enum Step: Sendable {
        case wait(Gate)
        case head(HTTPResponseHead)
        case bytes([UInt8])
        case fail(TransportError)
    }

    var steps: [Step]

    package static func status(_ status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) -> ScriptedReply {
        .chunks([body], status: status, headers: headers)
    }

    package static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> ScriptedReply {
        .status(status, headers: headers, body: Array(text.utf8))
    }

    package static func json(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> ScriptedReply {
        var headers = headers
        if !headers.contains("Content-Type") { headers.add("Content-Type", "application/json") }
        return .text(text, status: status, headers: headers)
    }

    /// A body that arrives in exactly these pieces.
    package static func chunks(
        _ chunks: [[UInt8]], status: Int = 200, headers: HTTPHeaders = [:]
    ) -> ScriptedReply {
        let head = HTTPResponseHead(status: status, headers: headers, httpVersion: "1.1")
        return ScriptedReply(steps: [.head(head)] + chunks.filter { !$0.isEmpty }.map(Step.bytes))
    }

    /// No answer at all, but this error.
    package static func failure(_ error: TransportError) -> ScriptedReply {
        ScriptedReply(steps: [.fail(error)])
    }

    /// No answer, ever: the exchange ends by cancellation.
    package static var hang: ScriptedReply { ScriptedReply(steps: [.wait(Gate())]) }

    /// Nothing, not even the head, before the gate is open.
    package func delayed(until gate: Gate) -> ScriptedReply {
        ScriptedReply(steps: [.wait(gate)] + steps)
    }

    /// Holds back what follows the first `count` bytes of the body.
    package func pausing(after count: Int, until gate: Gate) -> ScriptedReply {
        let (first, rest) = split(after: count)
        return ScriptedReply(steps: first + [.wait(gate)] + rest)
    }

    /// Breaks the connection behind the first `count` bytes of the body.
    package func cut(after count: Int, with error: TransportError = .scriptedCut) -> ScriptedReply {
        ScriptedReply(steps: split(after: count).first + [.fail(error)])
    }

    /// Ends in order behind the first `count` bytes of the body, as a server does that forgets the rest.
    package func truncated(to count: Int) -> ScriptedReply {
        ScriptedReply(steps: split(after: count).first)
    }

    /// Flips `bits` of the body's byte at `offset`.
    package func corrupted(at offset: Int, bits: UInt8 = 0xFF) -> ScriptedReply {
        var position = 0
        var changed = self
        for (index, step) in steps.enumerated() {
            guard case .bytes(var bytes) = step else { continue }
            if bytes.indices.contains(offset - position) {
                bytes[offset - position] ^= bits
                changed.steps[index] = .bytes(bytes)
            }
            position += bytes.count
        }
        return changed
    }

    /// The same body, byte by byte: what a parser must survive.
    package func inSingleBytes() -> ScriptedReply {
        ScriptedReply(
            steps: steps.flatMap { step -> [Step] in
                guard case .bytes(let bytes) = step else { return [step] }
                return bytes.map { .bytes([$0]) }
            })
    }

    private func split(after count: Int) -> (first: [Step], rest: [Step]) {
        var first: [Step] = []
        var rest: [Step] = []
        var left = count
        for step in steps {
            guard case .bytes(let bytes) = step else {
                if rest.isEmpty { first.append(step) } else { rest.append(step) }
                continue
            }
            let taken = Swift.min(left, bytes.count)
            if taken > 0 { first.append(.bytes(Array(bytes[..<taken]))) }
            if taken < bytes.count { rest.append(.bytes(Array(bytes[taken...]))) }
            left -= taken
        }
        return (first, rest)
    }
}

extension TransportError {
    /// What a transport reports when the server hangs up in the middle of its answer.
    package static let scriptedCut = TransportError(.connectionLost, "the connection broke", mayHaveBeenSent: true)
}
