import Foundation
import Switchyard
import SwitchyardProviderKit
import SwitchyardTestSupport
import Synchronization

/// Sessions for tests: times are seconds since 1970, tokens are named by a number.
enum SessionSamples {
    static func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }

    static func tokens(_ name: String, at issued: Int64 = 0, lifetime: Int64 = 3600) -> SessionTokens {
        SessionTokens(
            refresh: Secret("refresh-\(name)"), access: Secret("access-\(name)"), issuedAt: time(issued),
            lifetime: .seconds(lifetime))
    }

    static func session(_ id: String, user: String = "alice", revision: Int = 1, at issued: Int64 = 0) -> AuthSession {
        AuthSession(
            id: id, user: AuthUser(id: user), tokens: tokens("\(user)-\(revision)", at: issued), revision: revision)
    }

    static let unavailable = AuthError(.unavailable, "The server cannot be reached.")
    static let refused = AuthError(.sessionExpired, "The server ended the session.")
}

/// A time of day that a test sets.
final class SettableTime: Sendable {
    private let seconds: Mutex<Int64>
    init(_ seconds: Int64 = 0) { self.seconds = Mutex(seconds) }
    var value: Int64 {
        get { seconds.withLock { $0 } }
        set { seconds.withLock { $0 = newValue } }
    }
    var now: @Sendable () -> Timestamp { { SessionSamples.time(self.value) } }
}

/// A folder that goes with the test.
final class SessionFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("session-\(UUID().uuidString)")
    deinit { try? FileManager.default.removeItem(at: url) }
    var file: URL { url.appendingPathComponent("session") }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
