import Synchronization

/// Uploads that have begun and are sent in parts.
///
/// `Object` is what is known of the object that an upload will become.
final class LocalUploads<Object: Sendable>: Sendable {
    /// One of them. Its contents are written by one request at a time.
    final class Session: Sendable {
        let id: String
        let object: Object
        let contents: LocalContents
        let length: Int64?
        private let state = Mutex(LocalUploadStatus.active)

        init(id: String, object: Object, length: Int64?, contents: LocalContents) {
            self.id = id
            self.object = object
            self.length = length
            self.contents = contents
        }

        var status: LocalUploadStatus { state.withLock { $0 } }

        /// - Returns: Whether it was active until now.
        func end(_ status: LocalUploadStatus) -> Bool {
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

    /// Of a service that does not know finished uploads any more.
    func forget(_ id: String) { sessions.withLock { _ = $0.removeValue(forKey: id) } }

    /// As a service does after a while.
    func forgetAll() {
        let all = sessions.withLock { sessions in
            defer { sessions = [:] }
            return Array(sessions.values)
        }
        for session in all where session.end(.cancelled) { session.contents.discard() }
    }
}

enum LocalUploadStatus: String, Sendable { case active, final, cancelled }
