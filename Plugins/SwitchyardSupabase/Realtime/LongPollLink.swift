import Switchyard
import SwitchyardBytes
import SwitchyardWire
import Synchronization

/// The connection for networks without web sockets: the server answers a request when it has a message, and each message to it
/// is another request. Messages that the server buffers meanwhile arrive in order.
final class LongPollLink: RealtimeLink {
    /// The status of an exchange, in the body; the HTTP status says nothing.
    private enum Status {
        static let fine = 200
        static let nothing = 204
        static let gone = 410
    }

    private struct State {
        var token: String
        var waiting: [RealtimeMessage] = []
        /// Whether the token is in the address, since older servers do not read it from the header.
        var namesTokenInAddress = false
        var hasPolled = false
    }

    private let address: String
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let state: Mutex<State>

    /// The server answers a poll within ten seconds.
    private static let deadline = Duration.seconds(25)
    /// The minimum time between polls with empty answers. The server takes ten seconds for these, but a proxy may answer at
    /// once.
    private static let pace = Duration.seconds(1)

    init(
        _ address: String, key: Secret, transport: any Transport, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(TransportError) {
        // The older message format, since the newer one fails on some broadcasts.
        self.address = "\(address)/longpoll?vsn=1.0.0&apikey=\(PercentCoding.encode(key.reveal()))"
        self.transport = transport
        self.clock = clock
        let (status, answer) = try await LongPollLink.exchange(HTTPRequest(.get, self.address), transport)
        guard status == Status.gone, let token = answer["token"]?.string else {
            throw TransportError(
                .webSocketRefused, "the server refused long polling",
                response: HTTPResponse(status: status == Status.fine ? 502 : status))
        }
        state = Mutex(State(token: token))
    }

    func send(_ message: RealtimeMessage) async throws(TransportError) {
        var request = request(.post)
        request.body = message.object.bytes()
        request.headers["Content-Type"] = "application/json"
        let (status, _) = try await LongPollLink.exchange(request, transport)
        guard status == Status.fine else {
            throw TransportError(.connectionLost, "the server has forgotten the session", mayHaveBeenSent: false)
        }
    }

    func next() async throws(TransportError) -> RealtimeLinkEvent? {
        while true {
            let message = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
            if let message { return .message(message) }
            let watch = Stopwatch(clock)
            let (status, answer) = try await LongPollLink.exchange(request(.get), transport)
            switch status {
            case Status.fine, Status.nothing:
                // Each element is a message as text; some servers return plain JSON.
                let messages = (answer["messages"]?.array ?? []).compactMap { element in
                    try? RealtimeMessage(text: (element.string ?? element.text()).utf8)
                }
                state.withLock { state in
                    state.hasPolled = true
                    if let token = answer["token"]?.string { state.token = token }
                    state.waiting = messages
                }
                let rest = Self.pace - watch.elapsed
                guard messages.isEmpty, rest > .zero else { continue }
                do { try await clock.sleep(for: rest) } catch {
                    throw TransportError(.cancelled, "the receiver has gone")
                }
            case Status.gone:
                guard let token = answer["token"]?.string else { return nil }
                state.withLock { state in
                    if !state.hasPolled { state.namesTokenInAddress = true }
                    state.token = token
                    state.hasPolled = true
                }
                return .renewed
            default: return nil
            }
        }
    }

    /// The session ends by itself soon after the last poll.
    func close() async {}

    private func request(_ method: HTTPMethod) -> HTTPRequest {
        let (token, isInAddress) = state.withLock { ($0.token, $0.namesTokenInAddress) }
        var request = HTTPRequest(method, address, isIdempotent: false)
        if isInAddress { request.url += "&token=\(PercentCoding.encode(token))" }
        request.headers["X-Phoenix-Longpoll-Token"] = token
        return request
    }

    private static func exchange(
        _ request: HTTPRequest, _ transport: any Transport
    ) async throws(TransportError) -> (status: Int, answer: JSON) {
        var request = request
        request.isShared = true
        let response = try await withDeadline(deadline) { [request] () throws(TransportError) in
            try await transport.send(request)
        }
        guard response.isSuccess, !response.body.isEmpty || response.status == Status.nothing else {
            return (response.status == 200 ? 502 : response.status, [:])
        }
        guard let answer = try? JSON(parsing: response.body) else { return (response.status == 204 ? 204 : 502, [:]) }
        return (answer["status"]?.int ?? 502, answer)
    }
}
