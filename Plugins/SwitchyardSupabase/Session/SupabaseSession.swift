import Switchyard
import SwitchyardWire
import Synchronization

/// What the clients of one project and auth client share: tokens, and one socket to the realtime service.
final class SupabaseSession: Sendable {
    /// A client's use of the socket. Topics of different uses always differ. Two clients with the same use may need the same
    /// topics, so they cannot share a socket.
    enum Use: Hashable, Sendable {
        case documents
        case messages
    }

    private struct Line {
        let socket: RealtimeSocket
        let transport: any Transport
        var uses: Set<Use>
    }

    let tokens: SupabaseTokens
    private let makeLine: @Sendable () -> (RealtimeSocket, any Transport)
    private let lines = Mutex<[Line]>([])

    init(tokens: SupabaseTokens, line: @escaping @Sendable () -> (RealtimeSocket, any Transport)) {
        self.tokens = tokens
        makeLine = line
    }

    /// The socket, for as long as the client holds the returned lease.
    func realtime(for use: Use) -> RealtimeLease {
        let socket = lines.withLock { lines in
            if let place = lines.firstIndex(where: { !$0.uses.contains(use) }) {
                lines[place].uses.insert(use)
                return lines[place].socket
            }
            let (socket, transport) = makeLine()
            lines.append(Line(socket: socket, transport: transport, uses: [use]))
            return socket
        }
        return RealtimeLease(socket, use, of: self)
    }

    /// - Returns: The transport of the closed socket, if this was its last use.
    fileprivate func release(_ socket: RealtimeSocket, _ use: Use) -> (any Transport)? {
        let line = lines.withLock { lines -> Line? in
            guard let place = lines.firstIndex(where: { $0.socket === socket }) else { return nil }
            lines[place].uses.remove(use)
            return lines[place].uses.isEmpty ? lines.remove(at: place) : nil
        }
        line?.socket.close()
        return line?.transport
    }
}

/// A client's lease of a socket, which closes with its last lease.
final class RealtimeLease: Sendable {
    let socket: RealtimeSocket
    private let use: SupabaseSession.Use
    private let session: SupabaseSession
    private let isReleased = Atomic(false)

    fileprivate init(_ socket: RealtimeSocket, _ use: SupabaseSession.Use, of session: SupabaseSession) {
        self.socket = socket
        self.use = use
        self.session = session
    }

    deinit { _ = releaseOnce() }

    /// Call after leaving the client's own channels; those of others stay.
    func release() async { await releaseOnce()?.shutDown() }

    private func releaseOnce() -> (any Transport)? {
        guard !isReleased.exchange(true, ordering: .relaxed) else { return nil }
        return session.release(socket, use)
    }
}

/// The sessions of a module's clients, by their auth client. They are referenced weakly.
final class SupabaseSessions: Sendable {
    private struct Entry {
        weak var session: SupabaseSession?
    }

    private let entries = Mutex<[ObjectIdentifier?: Entry]>([:])

    /// - Parameter make: Called unless a client exists that was created with the same auth client, or also without one.
    func session(of auth: (any AuthClient)?, _ make: () -> SupabaseSession) -> SupabaseSession {
        let identity = auth?.identity
        // An auth client without an identity never shares a session.
        guard auth == nil || identity != nil else { return make() }
        return entries.withLock { entries in
            if let session = entries[identity]?.session { return session }
            let session = make()
            entries = entries.filter { $0.value.session != nil }
            entries[identity] = Entry(session: session)
            return session
        }
    }
}
