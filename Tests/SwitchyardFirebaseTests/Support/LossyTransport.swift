import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

@testable import SwitchyardFirebase

/// A transport that loses the answers to commits that it is told to lose, and counts them.
final class LossyTransport: Transport {
    fileprivate struct Counts {
        var commits = 0
        var lost = 0
    }

    private let base: any Transport
    private let counts: SharedCounts
    private let losesEvery: Int?
    private let onCommit: @Sendable (_ isLost: Bool) -> Void

    /// What several transports count together.
    final class SharedCounts: Sendable {
        fileprivate let state = Mutex(Counts())

        var commits: Int { state.withLock { $0.commits } }
        var lost: Int { state.withLock { $0.lost } }
    }

    /// - Parameters:
    ///   - losesEvery: The answer to each commit whose number is a multiple of this is lost after the server gave it.
    ///   - onCommit: Called with each answer to a commit, before anybody else learns of it.
    init(
        _ base: any Transport = CurlTransport(), counts: SharedCounts = SharedCounts(), losesEvery: Int? = nil,
        onCommit: @escaping @Sendable (_ isLost: Bool) -> Void = { _ in }
    ) {
        self.onCommit = onCommit
        self.base = base
        self.counts = counts
        self.losesEvery = losesEvery
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let isCommit = request.url.hasSuffix(":commit")
        let response = try await base.send(request)
        let isLost = counts.state.withLock { counts in
            guard isCommit else { return false }
            counts.commits += 1
            guard let losesEvery, counts.commits.isMultiple(of: losesEvery) else { return false }
            counts.lost += 1
            return true
        }
        if isCommit { onCommit(isLost) }
        if isLost { throw TransportError(.connectionLost, "the answer was lost", mayHaveBeenSent: true) }
        return response
    }

    func stream(_ request: HTTPRequest) async throws(TransportError) -> HTTPStream { try await base.stream(request) }

    func upload(
        _ request: HTTPRequest, body: RequestBody, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.upload(request, body: body, progress: progress)
    }

    func download(
        _ request: HTTPRequest, to file: FileDestination, progress: TransferProgress?
    ) async throws(TransportError) -> HTTPResponse {
        try await base.download(request, to: file, progress: progress)
    }

    func webSocket(_ request: WebSocketRequest) async throws(TransportError) -> any WebSocketConnection {
        try await base.webSocket(request)
    }

    func shutDown() async { await base.shutDown() }
}
