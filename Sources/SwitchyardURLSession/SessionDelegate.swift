import Foundation
import SwitchyardWire
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

#if canImport(Security)
    import Security
#endif

/// Passes a session's callbacks to the exchange they concern.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
        var exchanges: [Int: SessionExchange] = [:]
        var sockets: [Int: SessionWebSocket.Waits] = [:]
        var isShutDown = false
        var isInvalid = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let trust: URLSessionTransport.Trust
    private let invalid: @Sendable (SessionDelegate) -> Void
    private let state = Mutex(State())

    /// - Parameter invalid: Called when the session has ended.
    init(trust: URLSessionTransport.Trust, invalid: @escaping @Sendable (SessionDelegate) -> Void = { _ in }) {
        self.trust = trust
        self.invalid = invalid
    }

    func add(_ exchange: SessionExchange, for task: URLSessionTask) {
        state.withLock { $0.exchanges[task.taskIdentifier] = exchange }
    }

    func add(_ socket: SessionWebSocket.Waits, for task: URLSessionTask) {
        state.withLock { $0.sockets[task.taskIdentifier] = socket }
    }

    /// From here on, a cancelled task counts as ended by the shutdown.
    func markShutDown() {
        state.withLock { $0.isShutDown = true }
    }

    func waitUntilInvalid() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isOver = state.withLock { state in
                if state.isInvalid { return true }
                state.waiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    private func exchange(_ task: URLSessionTask) -> SessionExchange? {
        state.withLock { $0.exchanges[task.taskIdentifier] }
    }

    // MARK: URLSession

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let (waiters, left, sockets) = state.withLock { state in
            state.isInvalid = true
            defer {
                state.waiters = []
                state.exchanges = [:]
                state.sockets = [:]
            }
            return (state.waiters, state.exchanges, state.sockets)
        }
        for exchange in left.values { exchange.finish(Self.shutDown) }
        for socket in sockets.values { socket.end(Self.shutDown) }
        for waiter in waiters { waiter.resume() }
        invalid(self)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        // Return the redirect itself; the transport's own rules decide whether to follow it.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        guard let answer = response as? HTTPURLResponse, exchange(dataTask)?.receive(answer) == true else {
            return completionHandler(.cancel)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(task)?.sent(totalBytesSent)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (exchange, socket, isShutDown) = state.withLock { state in
            (
                state.exchanges.removeValue(forKey: task.taskIdentifier),
                state.sockets.removeValue(forKey: task.taskIdentifier), state.isShutDown
            )
        }
        socket?.end(isShutDown ? Self.shutDown : error)
        if isShutDown, error != nil {
            exchange?.finish(Self.shutDown)
        } else {
            exchange?.complete(error)
        }
    }

    #if canImport(Security)
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard case .anchors(let anchors) = trust, let peer = challenge.protectionSpace.serverTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
            let certificates = anchors.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
            SecTrustSetAnchorCertificates(peer, certificates as CFArray)
            SecTrustSetAnchorCertificatesOnly(peer, true)
            if SecTrustEvaluateWithError(peer, nil) {
                completionHandler(.useCredential, URLCredential(trust: peer))
            } else {
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }
    #endif

    private static let shutDown = TransportError(.shutDown, "the transport is shut down", mayHaveBeenSent: true)
}

/// Converts Foundation's errors; the only place that reads its codes.
enum SessionErrors {
    static func error(_ error: any Error, isIdempotent: Bool) -> TransportError {
        guard let known = error as? URLError else {
            return TransportError(.unknown, "the exchange failed", mayHaveBeenSent: true, underlying: error)
        }
        let row = row(known.code, known.failingURL?.absoluteString)
        return TransportError(
            row.code, row.message, isRetryable: row.isPassing && (isIdempotent || !row.wasSent),
            mayHaveBeenSent: row.wasSent, underlying: error)
    }

    static func ofSocket(_ error: any Error) -> TransportError {
        error as? TransportError ?? self.error(error, isIdempotent: false)
    }

    private static func row(
        _ code: URLError.Code, _ url: String?
    ) -> (code: TransportError.Code, message: String, isPassing: Bool, wasSent: Bool) {
        switch code {
        case .cancelled: (.cancelled, "the exchange was cancelled", false, true)
        case .cannotFindHost, .dnsLookupFailed: (.hostNotFound, UnreachableHost.notFound(url), true, false)
        case .cannotConnectToHost, .notConnectedToInternet:
            (.cannotConnect, UnreachableHost.notConnected(url), true, false)
        case .timedOut: (.stalled, "no data arrived for too long", true, true)
        case .networkConnectionLost: (.connectionLost, "the connection broke", true, true)
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            (
                .untrustedPeer,
                "the certificate is not trusted, or not valid at the time that this device's clock shows", false, false
            )
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired:
            (.tlsFailed, "the TLS handshake failed", false, false)
        case .cannotDecodeContentData, .cannotDecodeRawData:
            (.badContentCoding, "the body cannot be decompressed", false, true)
        case .badServerResponse, .zeroByteResource, .cannotParseResponse:
            (.badResponse, "the answer is not HTTP", false, true)
        case .badURL, .unsupportedURL: (.invalidRequest, "the address cannot be used", false, false)
        default: (.unknown, "Foundation reports error \(code.rawValue)", false, true)
        }
    }
}
