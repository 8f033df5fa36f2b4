import Switchyard
import SwitchyardBytes
import SwitchyardWire
import Synchronization

/// The way for networks that let no web socket through: a request that the server answers when it has something to say, and
/// another for each message to it. What the server buffers in between comes in order.
final class LongPollLink: RealtimeLink {
    /// What the server made of an exchange; the status of the HTTP answer says nothing.
    private enum Status {
        static let fine = 200
        static let nothing = 204
        static let gone = 410
    }

    private struct State {
        var token: String
        var waiting: [RealtimeMessage] = []
        /// Older servers do not look for the token in the header.
        var namesTokenInAddress = false
        var hasPolled = false
    }

    private let address: String
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let state: Mutex<State>

    /// The server answers a poll after ten seconds at the latest.
    private static let deadline = Duration.seconds(25)
    /// The least time between polls that are answered with nothing. The server takes its ten seconds for that; others on the
    /// way may answer at once.
    private static let pace = Duration.seconds(1)

    init(
        _ address: String, key: Secret, transport: any Transport, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(TransportError) {
        // The older form of messages: the newer one fails on some broadcasts.
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
                // Each is a message as text; some servers give the messages themselves.
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
                    throw TransportError(.cancelled, "nobody waits for messages any more")
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
        let response = try await withDeadline(deadline) { () throws(TransportError) in
            try await transport.send(request)
        }
        guard response.isSuccess, !response.body.isEmpty || response.status == Status.nothing else {
            return (response.status == 200 ? 502 : response.status, [:])
        }
        guard let answer = try? JSON(parsing: response.body) else { return (response.status == 204 ? 204 : 502, [:]) }
        return (answer["status"]?.int ?? 502, answer)
    }
}
