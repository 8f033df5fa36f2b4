import Synchronization

/// Uploads in progress that are sent in parts.
///
/// `Object` describes the object that an upload will become.
package final class ServerUploads<Object: Sendable>: Sendable {
    /// One upload. Only one request at a time writes its contents.
    package final class Session: Sendable {
        package let id: String
        package let object: Object
        package let contents: ServerContents
        package let length: Int64?
        private let state = Mutex(ServerUploadStatus.active)

        package init(id: String, object: Object, length: Int64?, contents: ServerContents) {
            self.id = id
            self.object = object
            self.length = length
            self.contents = contents
        }

        package var status: ServerUploadStatus { state.withLock { $0 } }

        /// - Returns: Whether it was active until now.
        package func end(_ status: ServerUploadStatus) -> Bool {
            state.withLock { present in
                guard present == .active else { return false }
                present = status
                return true
            }
        }
    }

    private let sessions = Mutex<[String: Session]>([:])

    package init() {}

    package func add(_ session: Session) { sessions.withLock { $0[session.id] = session } }
    package func session(_ id: String) -> Session? { sessions.withLock { $0[id] } }

    /// For a service that forgets finished uploads.
    package func forget(_ id: String) { sessions.withLock { _ = $0.removeValue(forKey: id) } }

    /// Forgets all uploads, as a service does after a while.
    package func forgetAll() {
        let all = sessions.withLock { sessions in
            defer { sessions = [:] }
            return Array(sessions.values)
        }
        for session in all where session.end(.cancelled) { session.contents.discard() }
    }
}

package enum ServerUploadStatus: String, Sendable { case active, final, cancelled }
