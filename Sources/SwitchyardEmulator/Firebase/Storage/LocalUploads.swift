import SwitchyardBytes
import Synchronization

/// Uploads that have begun and are sent in parts.
final class LocalUploads: Sendable {
    enum Status: String, Sendable { case active, final, cancelled }

    /// One of them. Its contents are written by one request at a time.
    final class Session: Sendable {
        let id: String
        let bucket: String
        let name: String
        let description: JSONObject
        let contents: LocalContents
        let length: Int64?
        private let state = Mutex(Status.active)

        init(
            id: String, bucket: String, name: String, description: JSONObject, length: Int64?,
            contents: LocalContents
        ) {
            self.id = id
            self.bucket = bucket
            self.name = name
            self.description = description
            self.length = length
            self.contents = contents
        }

        var status: Status { state.withLock { $0 } }

        /// - Returns: Whether it was active until now.
        func end(_ status: Status) -> Bool {
            state.withLock { present in
                guard present == .active else { return false }
                present = status
                return true
            }
        }
    }

    private let sessions = Mutex<[String: Session]>([:])

    func add(_ session: Session) { sessions.withLock { $0[session.id] = session } }
    func session(_ id: String) -> Session? { sessions.withLock { $0[id] } }

    /// As the server does after a week.
    func forgetAll() {
        let all = sessions.withLock { sessions in
            defer { sessions = [:] }
            return Array(sessions.values)
        }
        for session in all where session.end(.cancelled) { session.contents.discard() }
    }
}
