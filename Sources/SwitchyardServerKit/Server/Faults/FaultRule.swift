package import SwitchyardBytes
import SwitchyardWire

/// A rule of `FaultSwitches`, read from JSON.
///
/// It matches requests by `method` and `path` (a `Router` pattern), both optional. It applies to `times` requests (1 by
/// default, `null` for all) after `after` others were let through, and of those to every `every`th. `fault` is one of:
///
/// * `answer`: skips the handler; `status` (503), `headers`, `body` are the answer.
/// * `replace`: runs the handler, and replaces its answer by these.
/// * `drop`: runs the handler, and ends the connection without an answer, optionally with a `reset`.
/// * `cut`: ends the connection after `bytes` of the answer, including the head, optionally with a `reset`.
/// * `pace`: sends the answer in pieces of `bytes` (1), one every `milliseconds` (10).
/// * `delay`: sends the answer `milliseconds` late.
/// * `holdRequest`, `holdAnswer`: waits until the rule is opened or removed.
package struct FaultRule {
    package struct Mistake: Error {
        package let text: String

        init(_ text: String) { self.text = text }
    }

    let fault: Fault
    /// The gate at which a holding rule waits.
    let gate: Gate?
    let times: Int?
    let skips: Int
    let period: Int
    let condition: FaultSwitches.Condition

    private static let names: Set = [
        "fault", "method", "path", "times", "after", "every", "status", "headers", "body", "reset", "bytes",
        "milliseconds",
    ]

    /// A day, in milliseconds.
    package static let longest = 86_400_000

    package init(_ object: JSONObject) throws(Mistake) {
        // A misspelled option without effect would make a test pass for the wrong reason.
        if let unknown = object.keys.first(where: { !Self.names.contains($0) }) {
            throw Mistake("\(unknown) is not part of a rule")
        }
        let reader = Reader(object: object)
        let gate = Gate()
        let reset = try reader.bool("reset")
        switch try reader.string("fault") {
        case "answer": fault = .answer(try reader.answer())
        case "replace": fault = .replaceAnswer(try reader.answer())
        case "drop": fault = .dropAnswer(reset: reset)
        case "cut": fault = .cutAnswer(after: try reader.int("bytes", or: 0), reset: reset)
        case "pace":
            fault = .paceAnswer(
                Pace(
                    bytes: try reader.int("bytes", or: 1),
                    every: .milliseconds(try reader.int("milliseconds", or: 10, upTo: Self.longest))))
        case "delay":
            fault = .delayAnswer(.milliseconds(try reader.int("milliseconds", or: 0, upTo: Self.longest)))
        case "holdRequest": fault = .holdRequest(gate)
        case "holdAnswer": fault = .holdAnswer(gate)
        case let name: throw Mistake("there is no fault \(name ?? "without a name")")
        }
        switch fault {
        case .holdRequest, .holdAnswer: self.gate = gate
        default: self.gate = nil
        }
        times = object["times"] == .null ? nil : try reader.int("times", or: 1)
        skips = try reader.int("after", or: 0)
        period = try reader.int("every", or: 1)
        let method = try reader.string("method").map { HTTPMethod(rawValue: $0) }
        let pattern = try reader.string("path").map { PathPattern($0) }
        condition = { request in
            (method == nil || method == request.method)
                && (pattern.map { $0.match(ServerPath(request.rawPath)) != nil } ?? true)
        }
    }

    /// Typed access to members: absent ones have a default, others must have the right type.
    private struct Reader {
        let object: JSONObject

        func string(_ name: String) throws(Mistake) -> String? {
            guard let value = object[name] else { return nil }
            guard let text = value.string else { throw Mistake("\(name) is a string") }
            return text
        }

        func int(_ name: String, or absent: Int, upTo most: Int = .max) throws(Mistake) -> Int {
            guard let value = object[name] else { return absent }
            guard let number = value.int, (0...most).contains(number) else {
                throw Mistake("\(name) is a number from 0 \(most == .max ? "on" : "to \(most)")")
            }
            return number
        }

        func bool(_ name: String) throws(Mistake) -> Bool {
            guard let value = object[name] else { return false }
            guard let flag = value.bool else { throw Mistake("\(name) is true or false") }
            return flag
        }

        func answer() throws(Mistake) -> ServerResponse {
            let status = try int("status", or: 503)
            guard (200...599).contains(status) else { throw Mistake("status is a number from 200 to 599") }
            var headers = HTTPHeaders()
            for member in object["headers"]?.object ?? JSONObject() {
                guard let value = member.value.string, !value.utf8.contains(where: { $0 < 0x20 && $0 != 9 }) else {
                    throw Mistake("headers are strings without line ends")
                }
                headers.add(member.key, value)
            }
            return ServerResponse(status: status, headers: headers, body: Array((try string("body") ?? "").utf8))
        }
    }
}
