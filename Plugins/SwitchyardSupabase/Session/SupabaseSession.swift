import Switchyard
import SwitchyardWire
import Synchronization

/// What the clients have in common that ask a project in the name of one auth client: its tokens, and one socket to the
/// realtime service.
final class SupabaseSession: Sendable {
    /// What a client wants the socket for. Topics of different uses are never the same; those of two clients of one use may
    /// be, and then one socket cannot serve both.
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

    /// The socket, for as long as the client holds what it is given here.
    func realtime(for use: Use) -> RealtimeShare {
        let socket = lines.withLock { lines in
            if let place = lines.firstIndex(where: { !$0.uses.contains(use) }) {
                lines[place].uses.insert(use)
                return lines[place].socket
            }
            let (socket, transport) = makeLine()
            lines.append(Line(socket: socket, transport: transport, uses: [use]))
            return socket
        }
        return RealtimeShare(socket, use, of: self)
    }

    /// - Returns: What the closed socket was connected by, if this was its last use.
    fileprivate func giveUp(_ socket: RealtimeSocket, _ use: Use) -> (any Transport)? {
        let line = lines.withLock { lines -> Line? in
            guard let place = lines.firstIndex(where: { $0.socket === socket }) else { return nil }
            lines[place].uses.remove(use)
            return lines[place].uses.isEmpty ? lines.remove(at: place) : nil
        }
        line?.socket.close()
        return line?.transport
    }
}

/// One client's part of a socket, which is closed when the last part is given up.
final class RealtimeShare: Sendable {
    let socket: RealtimeSocket
    private let use: SupabaseSession.Use
    private let session: SupabaseSession
    private let isGivenUp = Atomic(false)

    fileprivate init(_ socket: RealtimeSocket, _ use: SupabaseSession.Use, of session: SupabaseSession) {
        self.socket = socket
        self.use = use
        self.session = session
    }

    deinit { _ = giveUpOnce() }

    /// The client's own channels are to be left before; others' stay.
    func giveUp() async { await giveUpOnce()?.shutDown() }

    private func giveUpOnce() -> (any Transport)? {
        guard !isGivenUp.exchange(true, ordering: .relaxed) else { return nil }
        return session.giveUp(socket, use)
    }
}

/// The sessions of a module's clients, by the auth client that they were made with. None is kept alive here.
final class SupabaseSessions: Sendable {
    private struct Entry {
        weak var session: SupabaseSession?
    }

    private let entries = Mutex<[ObjectIdentifier?: Entry]>([:])

    /// - Parameter make: Called unless a client is there that was made with the same auth client, or also with none.
    func session(of auth: (any AuthClient)?, _ make: () -> SupabaseSession) -> SupabaseSession {
        let identity = auth?.identity
        // An auth client without an identity is like no other.
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
