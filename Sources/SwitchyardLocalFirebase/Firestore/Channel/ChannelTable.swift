import Synchronization

/// The sessions of a server. A session without requests for a while is removed, as with the vendor.
final class ChannelTable: Sendable {
    static let patience = Duration.seconds(120)

    private let sessions = Mutex<[String: ChannelSession]>([:])

    func add(_ session: ChannelSession) {
        let forgotten = sessions.withLock { sessions in
            let forgotten = sessions.values.filter { $0.isClosed || $0.idleTime > ChannelTable.patience }
            for session in forgotten { sessions[session.id] = nil }
            sessions[session.id] = session
            return forgotten
        }
        for session in forgotten { session.close() }
    }

    subscript(id: String) -> ChannelSession? { sessions.withLock { $0[id] } }

    func remove(_ session: ChannelSession) {
        sessions.withLock { $0[session.id] = nil }
        session.close()
    }

    func closeAll() {
        let all = sessions.withLock { sessions in
            defer { sessions = [:] }
            return sessions.values
        }
        for session in all { session.close() }
    }

    var count: Int { sessions.withLock { $0.count } }
}
