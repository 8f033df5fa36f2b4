import SwitchyardBytes
import SwitchyardFirestoreFormat

/// One session of a bidirectional stream over short POSTs and one long GET: takes events and returns actions.
///
/// Messages to the server are numbered maps. The server identifies a map by its number, not by the request, so a POST whose
/// answer was lost is repeated with the same numbers and takes effect once. Messages from the server are numbered arrays; the
/// client acknowledges the last number seen and drops repeated arrays.
struct WebChannelMachine {
    private enum Phase: Equatable { case new, shakingHands, open, closed }
    private enum Back: Equatable { case none, waiting, opening, open(hasBrought: Bool) }

    /// The number of quick retries before the session is given up; the stream above retries more slowly.
    static let maximumRetries = 3
    static let maximumMaps = 1000
    /// How long the first back channel may take to its first byte. Servers send something at once; if it does not arrive, a
    /// proxy is buffering answers until they are complete.
    static let firstWordLimit = Duration.seconds(10)
    static let longestSilence = Duration.seconds(600)
    static let maximumForwardBytes = 3 << 20

    private let database: String
    /// Header lines that are sent in the handshake's body.
    private let headers: String
    private var phase = Phase.new
    private var requestID: Int
    private var sessionID = ""
    private var stickySession: String?
    /// The number of the last array received.
    private var acknowledged = 0
    private var silenceLimit = Duration.seconds(45)
    private var hasReceived = false
    /// Whether each GET ends after its first data, so that no proxy can hold it back.
    private var isPolling = false

    private var queue: [[UInt8]] = []
    /// The number of the first message not yet sent.
    private var nextMap = 0
    private var inFlight: (query: [Parameter], body: [UInt8], followsSettled: Bool)?
    private var forwardFailures = 0

    private var back = Back.none
    private var backFailures = 0
    private var isSettled = false
    private var decoder = WebChannelFrameDecoder()

    /// - Parameters:
    ///   - database: The resource name, for routing.
    ///   - headers: `Name:Value` lines with the credentials of the whole session.
    ///   - firstRequestID: A random number.
    init(database: String, headers: [(String, String)], firstRequestID: Int) {
        self.database = database
        self.headers = headers.map { "\($0):\($1)\r\n" }.joined()
        requestID = firstRequestID
    }

    var isClosed: Bool { phase == .closed }
    /// Whether the server has answered the handshake.
    var isOpen: Bool { phase == .open }

    mutating func handle(_ event: Event) -> [Action] {
        guard phase != .closed else { return [] }
        switch event {
        case .send(let message):
            queue.append(message)
            return phase == .new ? handshake() : forward()
        case .handshakeAnswered(let status, let stickySession, let body):
            return handshakeAnswered(status, stickySession, body)
        case .handshakeFailed(let reason): return close(.broken(reason), terminating: false)
        case .forwardAnswered(let status, let body): return forwardAnswered(status, body)
        case .forwardFailed(let reason): return forwardFailed(reason)
        // A server that cannot process one message answers none after it.
        case .forwardUnanswered: return close(.broken("the server did not answer"), terminating: true)
        case .backChannelOpened(let status):
            guard status == 200 else { return close(WebChannelMachine.reason(status), terminating: false) }
            back = .open(hasBrought: false)
            return []
        case .backChannelBytes(let bytes): return received(bytes)
        case .backChannelEnded: return backChannelEnded()
        case .backChannelFailed(let reason): return backChannelFailed(reason)
        case .timer(let timer): return fired(timer)
        case .terminate: return close(.byClient, terminating: true)
        }
    }

    // MARK: Handshake

    private mutating func handshake() -> [Action] {
        phase = .shakingHands
        var body = Array("headers=".utf8)
        body += Array(PercentCoding.encode(headers).utf8)
        body += [UInt8(ascii: "&")]
        body += takeMaps()
        var query = parameters()
        query += [
            Parameter("RID", "\(requestID)"), Parameter("CVER", "22"),
            Parameter("X-HTTP-Session-Id", "gsessionid"), Parameter("t", "1"),
        ]
        return [.handshake(query: query, body: body)]
    }

    private mutating func handshakeAnswered(_ status: Int, _ sticky: String?, _ body: [UInt8]) -> [Action] {
        guard status == 200 else {
            let failure = FirestoreFailure(body: body, httpStatus: status)
            return close(.failure(failure), terminating: false)
        }
        guard !body.isWebPage else {
            return close(.failure(FirestoreFailure(body: body, httpStatus: status)), terminating: false)
        }
        stickySession = sticky
        var frames = WebChannelFrameDecoder()
        guard let arrays = try? frames.append(body), let first = arrays.first, let json = try? JSON(parsing: first),
            let opening = json[0]?[1], opening[0]?.string == "c", let session = opening[1]?.string
        else { return close(.broken("the answer to the handshake is not one"), terminating: false) }
        sessionID = session
        if let keepAlive = opening[5]?.int, keepAlive > 0 {
            silenceLimit = min(.milliseconds(keepAlive) * 3 / 2, WebChannelMachine.longestSilence)
        }
        phase = .open
        return openBackChannel() + forward()
    }

    // MARK: Forward channel

    /// The queued messages as one form, up to the limit of a POST.
    private mutating func takeMaps() -> [UInt8] {
        var maps: [UInt8] = []
        var count = 0
        while count < queue.count, count < WebChannelMachine.maximumMaps,
            count == 0 || maps.count + queue[count].count < WebChannelMachine.maximumForwardBytes
        {
            maps += Array("&req\(count)___data__=".utf8)
            PercentCoding.append(queue[count], to: &maps, as: .strict)
            count += 1
        }
        defer {
            queue.removeFirst(count)
            nextMap += count
        }
        return Array("count=\(count)&ofs=\(nextMap)".utf8) + maps
    }

    /// Sends one POST at a time, so that maps arrive in order.
    private mutating func forward() -> [Action] {
        guard phase == .open, inFlight == nil, !queue.isEmpty else { return [] }
        requestID += 1
        var query = sessionParameters()
        query += [Parameter("RID", "\(requestID)"), Parameter("AID", "\(acknowledged)"), Parameter("t", "1")]
        let body = takeMaps()
        inFlight = (query, body, isSettled)
        forwardFailures = 0
        return [.forward(query: query, body: body)]
    }

    private mutating func forwardAnswered(_ status: Int, _ body: [UInt8]) -> [Action] {
        guard status == 200 else { return close(WebChannelMachine.reason(status), terminating: false) }
        let followsSettled = inFlight?.followsSettled ?? false
        inFlight = nil
        var actions: [Action] = []
        var frames = WebChannelFrameDecoder()
        if let frame = try? frames.append(body).first, let json = try? JSON(parsing: frame) {
            if json[0]?.int == 0 {
                // The server knows of no back channel. One that was new when the request was sent may not have reached it yet.
                if followsSettled { actions += renewBackChannel() }
            } else if let sent = json[1]?.int, sent > acknowledged {
                actions.append(.schedule(.overdue, after: .seconds(6)))
            }
        }
        return actions + forward()
    }

    private mutating func forwardFailed(_ reason: String) -> [Action] {
        guard inFlight != nil else { return [] }
        forwardFailures += 1
        guard forwardFailures <= WebChannelMachine.maximumRetries else {
            return close(.broken(reason), terminating: true)
        }
        return [.schedule(.retryForward, after: WebChannelMachine.pause(forwardFailures))]
    }

    // MARK: Back channel

    private mutating func openBackChannel() -> [Action] {
        back = .opening
        isSettled = false
        decoder = WebChannelFrameDecoder()
        var query = sessionParameters()
        query += [
            Parameter("RID", "rpc"), Parameter("AID", "\(acknowledged)"), Parameter("CI", isPolling ? "1" : "0"),
            Parameter("TYPE", "xmlhttp"), Parameter("t", "\(backFailures + 1)"),
        ]
        let limit = hasReceived || isPolling ? silenceLimit : WebChannelMachine.firstWordLimit
        return [
            .openBackChannel(query: query), .schedule(.silence, after: limit),
            .schedule(.settling, after: .seconds(3)),
        ]
    }

    private mutating func renewBackChannel() -> [Action] {
        switch back {
        case .none, .waiting: []
        case .opening, .open: [.cancelBackChannel] + openBackChannel()
        }
    }

    private mutating func received(_ bytes: [UInt8]) -> [Action] {
        guard case .open = back else { return [] }
        hasReceived = true
        let frames: [[UInt8]]
        do throws(WebChannelFrameDecoder.Malformed) {
            frames = try decoder.append(bytes)
        } catch {
            return [.cancelBackChannel] + backChannelFailed("a frame without a length")
        }
        guard !frames.isEmpty else { return [.schedule(.silence, after: silenceLimit)] }
        var actions: [Action] = [.schedule(.silence, after: silenceLimit), .cancel(.overdue)]
        for frame in frames {
            guard let json = try? JSON(parsing: frame, options: JSONParsingOptions(loneSurrogates: .replace)),
                let arrays = json.array
            else { return [.cancelBackChannel] + actions + backChannelFailed("a frame that is not JSON") }
            for array in arrays {
                guard let id = array[0]?.int, let payload = array[1], id > acknowledged else { continue }
                acknowledged = id
                backFailures = 0
                back = .open(hasBrought: true)
                actions += took(payload)
                if phase == .closed { return actions }
            }
        }
        return actions
    }

    private mutating func took(_ payload: JSON) -> [Action] {
        switch payload[0] {
        case .string("noop")?: return []
        case .string("close")?: return close(.byServer, terminating: true)
        case .string("stop")?: return close(.broken("the server stopped it"), terminating: false)
        case let message?:
            // Errors come in two formats.
            if let error = message["error"] ?? message[0]?["error"] {
                return close(.failure(FirestoreFailure(error: error, ifUnknown: .internal)), terminating: true)
            }
            return [.deliver(message)]
        case nil: return []
        }
    }

    private mutating func backChannelEnded() -> [Action] {
        guard case .open(let hasBrought) = back else { return [] }
        back = .none
        // A server may end a GET at any time; one without a new array, or cut off inside a frame, is a failure.
        guard hasBrought, !decoder.isInsideFrame else {
            return backChannelFailed("a back channel that brought nothing new")
        }
        return openBackChannel()
    }

    private mutating func backChannelFailed(_ reason: String) -> [Action] {
        back = .waiting
        backFailures += 1
        guard backFailures <= WebChannelMachine.maximumRetries else {
            return close(.broken(reason), terminating: true)
        }
        return [.cancel(.silence), .schedule(.retryBackChannel, after: WebChannelMachine.pause(backFailures))]
    }

    private mutating func fired(_ timer: Timer) -> [Action] {
        switch timer {
        case .silence: return silent()
        case .overdue: return renewBackChannel()
        case .settling:
            isSettled = true
            return []
        case .retryBackChannel: return back == .waiting ? openBackChannel() : []
        case .retryForward:
            guard let inFlight else { return [] }
            return [.forward(query: inFlight.query, body: inFlight.body)]
        }
    }

    /// Silence alone is not a failure: a new GET costs little and returns what was missed.
    private mutating func silent() -> [Action] {
        if !hasReceived, !isPolling {
            isPolling = true
            return renewBackChannel()
        }
        // A GET without even a response head is a failure, unless a proxy holds back answers until they have content.
        if back == .opening, !(isPolling && hasReceived) {
            return [.cancelBackChannel] + backChannelFailed("a back channel without an answer")
        }
        return renewBackChannel()
    }

    // MARK: The end

    private mutating func close(_ reason: WebChannelClose, terminating: Bool) -> [Action] {
        var actions: [Action] = []
        if terminating, !sessionID.isEmpty {
            requestID += 1
            let query = sessionParameters() + [Parameter("RID", "\(requestID)"), Parameter("TYPE", "terminate")]
            actions.append(.terminate(query: query))
        }
        phase = .closed
        actions += [Timer.silence, .settling, .overdue, .retryForward, .retryBackChannel].map { .cancel($0) }
        return actions + [.cancelBackChannel, .close(reason)]
    }

    /// A server that has forgotten the session answers with one of two statuses, with or without a text.
    private static func reason(_ status: Int) -> WebChannelClose {
        status == 400 || status == 404 ? .sessionGone : .broken("the server answered \(status)")
    }

    /// The first retry is immediate; each later one waits a second longer.
    private static func pause(_ failure: Int) -> Duration { .seconds(failure - 1) }

    private func parameters() -> [Parameter] { [Parameter("VER", "8"), Parameter("database", database)] }

    private func sessionParameters() -> [Parameter] {
        parameters() + [Parameter("SID", sessionID)] + (stickySession.map { [Parameter("gsessionid", $0)] } ?? [])
    }
}
