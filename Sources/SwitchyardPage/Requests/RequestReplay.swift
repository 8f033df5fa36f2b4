import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardServerKit
import SwitchyardWire

/// Sends a recorded request once more, as it was.
struct RequestReplay: Sendable {
    private let local: any LocalSide

    init(_ local: any LocalSide) { self.local = local }

    /// The field by which the log finds the new request.
    static let field = "X-Switchyard-Replay"

    /// These belong to the connection.
    private static let left: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "expect", "accept-encoding", "upgrade",
    ]

    /// Why it cannot be sent again; `nil` if it can.
    static func refusal(_ entry: RequestLog.Entry, _ state: ExchangeRecord.State) -> String? {
        if state.requestBody.isTruncated { return "Its body is too large to have been kept." }
        let target = entry.record.head.target
        if entry.record.head.headers["Upgrade"] != nil || target.includes("/channel?") || target.hasSuffix("/channel") {
            return "It belongs to a connection that stays open."
        }
        return nil
    }

    /// - Returns: The number of the new request.
    func send(_ entry: RequestLog.Entry) async throws -> Int {
        let state = entry.record.state
        if let refusal = Self.refusal(entry, state) {
            throw PageFailure(409, "unsupported", "This request cannot be sent again. \(refusal)")
        }
        let mark = RandomID.make()
        var request = HTTPRequest(entry.record.head.method, local.address + entry.record.head.target)
        for field in entry.record.head.headers where !Self.left.contains(field.name.lowercased()) {
            request.headers.add(field.name, field.value)
        }
        request.headers[Self.field] = mark
        request.body = state.requestBody.bytes
        let transport = PlatformTransport.make()
        do throws(TransportError) { _ = try await transport.send(request) } catch {
            // What became of it is in the log, such as a cut connection.
        }
        await transport.shutDown()
        guard let number = local.log.number(replayedAs: mark) else {
            throw PageFailure(503, "unavailable", "The server was not reached.")
        }
        return number
    }
}
